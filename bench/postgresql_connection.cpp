#include "postgresql_connection.hpp"

#include <fmt/format.h>
#include <pqxx/pqxx>

#include <unistd.h>

#include <utility>

namespace bench {
namespace {

class prepared final : public statement {
 public:
  prepared(pqxx::connection& on, std::string name) : connection_{on}, name_{std::move(name)} {}

  std::size_t run(std::span<const char* const> values) override {
    return static_cast<std::size_t>(rows(values).size());
  }

  std::optional<std::string> read(std::span<const char* const> values) override {
    const auto found = rows(values);
    return found.empty() ? std::nullopt : std::optional<std::string>{found[0][0].c_str()};
  }

 private:
  // What one libpqxx does differently from another is here.
#if PQXX_VERSION_MAJOR < 7
  pqxx::result rows(std::span<const char* const> values) {
    const auto parameters = pqxx::prepare::make_dynamic_params(values.begin(), values.end());
    return pqxx::nontransaction{connection_}.exec_prepared(name_, parameters);
  }
#else
  pqxx::result rows(std::span<const char* const> values) {
    pqxx::params parameters;
    for (const char* each : values) {
      if (each == nullptr) {
        parameters.append();
      } else {
        parameters.append(pqxx::zview{each});
      }
    }
    return pqxx::nontransaction{connection_}.exec(pqxx::prepped{name_}, parameters);
  }
#endif

  pqxx::connection& connection_;
  std::string name_;
};

class postgresql_connection final : public connection {
 public:
  explicit postgresql_connection(const std::string& url) : connection_{url} {
    run(fmt::format("SET application_name = '{} by hand:{}'", application, ::getpid()));
  }

  long long execute(const std::string& sql) override {
    const auto answer = run(sql);
    return answer.empty() || answer[0].back().is_null() ? 0 : answer[0].back().as<long long>();
  }

  std::unique_ptr<statement> prepare(const std::string& sql) override {
    auto name = fmt::format("bench_{}", ++prepared_);
    connection_.prepare(name, sql);
    return std::make_unique<prepared>(connection_, std::move(name));
  }

 private:
  pqxx::result run(const std::string& sql) { return pqxx::nontransaction{connection_}.exec(sql); }

  pqxx::connection connection_;
  int prepared_ = 0;
};

}  // namespace

std::unique_ptr<connection> connect_postgresql(const std::string& url) {
  return std::make_unique<postgresql_connection>(url);
}

}  // namespace bench
