#include "postgresql_connection.hpp"

#include <fmt/format.h>
#include <pqxx/pqxx>

#include <unistd.h>

#include <rowlock/interop/pqxx.hpp>

#include <utility>

namespace bench {
namespace {

/// Where statements go: into the transaction that is open, or each into one of its own. Counts them.
class way_to_server {
 public:
  explicit way_to_server(const std::string& url) : connection_{url} {}

  template <class Call>
  pqxx::result run(const Call& call) {
    ++statements_;
    if (open_ != nullptr) return call(*open_);
    pqxx::nontransaction alone{connection_};
    return call(alone);
  }

  void in_transaction(const std::function<void(pqxx::work&)>& body) {
    statements_ += 2;  // BEGIN and COMMIT
    pqxx::work tx{connection_};
    open_ = &tx;
    body(tx);
    open_ = nullptr;
    tx.commit();
  }

  pqxx::connection& connection() noexcept { return connection_; }
  long long& statements() noexcept { return statements_; }

 private:
  pqxx::connection connection_;
  pqxx::transaction_base* open_ = nullptr;
  long long statements_ = 0;
};

namespace of_rowlock = rowlock::detail;

/// Counts what rowlock adds to a transaction.
class counted_transaction final : public of_rowlock::caller_transaction, public open_transaction {
 public:
  counted_transaction(pqxx::dbtransaction& tx, long long& statements) : tx_{tx}, statements_{statements} {}

  of_rowlock::backend kind() const noexcept override { return tx_.kind(); }
  std::vector<row> execute(const std::string& sql, std::span<const of_rowlock::value_in> arguments) override {
    ++statements_;
    return tx_.execute(sql, arguments);
  }

  void lock(rowlock::client& locks, const rowlock::lock_name& name) override {
    (void)of_rowlock::lock_in(*this, locks, name, std::nullopt, {});
  }
  void prove(const rowlock::held_lock& held) override { of_rowlock::confirm(*this, held); }

 private:
  of_rowlock::pqxx_transaction tx_;
  long long& statements_;
};

class prepared final : public statement {
 public:
  prepared(way_to_server& by, std::string name) : way_{by}, name_{std::move(name)} {}

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
    return way_.run([&](auto& tx) { return tx.exec_prepared(name_, parameters); });
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
    return way_.run([&](auto& tx) { return tx.exec(pqxx::prepped{name_}, parameters); });
  }
#endif

  way_to_server& way_;
  std::string name_;
};

class postgresql_connection final : public connection {
 public:
  explicit postgresql_connection(const std::string& url) : way_{url} {
    run(fmt::format("SET application_name = '{} by hand:{}'", application, ::getpid()));
  }

  long long execute(const std::string& sql) override {
    const auto answer = run(sql);
    return answer.empty() || answer[0].back().is_null() ? 0 : answer[0].back().as<long long>();
  }

  std::unique_ptr<statement> prepare(const std::string& sql) override {
    auto name = fmt::format("bench_{}", ++prepared_);
    way_.connection().prepare(name, sql);
    return std::make_unique<prepared>(way_, std::move(name));
  }

  void in_transaction(const std::function<void(open_transaction&)>& body) override {
    way_.in_transaction([&](pqxx::work& tx) {
      counted_transaction open{tx, way_.statements()};
      body(open);
    });
  }

  long long statements() override { return way_.statements(); }

 private:
  pqxx::result run(const std::string& sql) {
    return way_.run([&](auto& tx) { return tx.exec(sql); });
  }

  way_to_server way_;
  int prepared_ = 0;
};

}  // namespace

std::unique_ptr<connection> connect_postgresql(const std::string& url) {
  return std::make_unique<postgresql_connection>(url);
}

}  // namespace bench
