#include "postgresql_connection.hpp"

#include <fmt/format.h>
#include <pqxx/pqxx>

#include <unistd.h>

namespace bench {

/// What one libpqxx does differently from another is here.
class postgresql_connection::implementation {
 public:
  explicit implementation(const std::string& url) : connection_{url} {}

  pqxx::result execute(const std::string& sql) { return pqxx::nontransaction{connection_}.exec(sql); }
  void prepare(const std::string& name, const std::string& sql) { connection_.prepare(name, sql); }

#if PQXX_VERSION_MAJOR < 7
  pqxx::result run(const std::string& name, std::span<const char* const> values) {
    const auto parameters = pqxx::prepare::make_dynamic_params(values.begin(), values.end());
    return pqxx::nontransaction{connection_}.exec_prepared(name, parameters);
  }
#else
  pqxx::result run(const std::string& name, std::span<const char* const> values) {
    pqxx::params parameters;
    for (const char* each : values) {
      if (each == nullptr) {
        parameters.append();
      } else {
        parameters.append(pqxx::zview{each});
      }
    }
    return pqxx::nontransaction{connection_}.exec(pqxx::prepped{name}, parameters);
  }
#endif

 private:
  pqxx::connection connection_;
};

postgresql_connection::postgresql_connection(const std::string& url)
    : implementation_{std::make_unique<implementation>(url)} {
  execute(fmt::format("SET application_name = '{} by hand:{}'", application, ::getpid()));
}

postgresql_connection::~postgresql_connection() = default;

long long postgresql_connection::execute(const std::string& sql) {
  const auto answer = implementation_->execute(sql);
  return answer.empty() || answer[0][0].is_null() ? 0 : answer[0][0].as<long long>();
}

void postgresql_connection::prepare(const std::string& name, const std::string& sql) {
  implementation_->prepare(name, sql);
}

std::size_t postgresql_connection::run(const std::string& name, std::span<const char* const> values) {
  return static_cast<std::size_t>(implementation_->run(name, values).size());
}

}  // namespace bench
