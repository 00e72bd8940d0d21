#include <rowlock/interop/pqxx.hpp>

#include <libpq-fe.h>
#include <pqxx/pqxx>

#include <stdexcept>
#include <utility>

#include "testkit/connection.hpp"

namespace rowlock::test {

namespace {

/// libpq ends what it says with a line break, and may say it in several lines.
[[noreturn]] void fail(const std::string& doing, std::string_view said) {
  auto line = doing + ": ";
  for (const char each : said.substr(0, said.find_last_not_of("\n ") + 1))
    if (each != '\t') line += each == '\n' ? ' ' : each;
  throw std::runtime_error{line};
}

pqxx::connection connect(const std::string& url) try { return pqxx::connection{url}; } catch (const std::exception& e) {
  fail("PostgreSQL", e.what());
}

/// Where statements go: into the transaction that is open, or each into one of its own. Counts them.
class way_to_server {
 public:
  explicit way_to_server(const std::string& url) : connection_{connect(url)} {}

  template <class Call>
  pqxx::result run(const Call& call) {
    ++statements_;
    if (open_ != nullptr) return call(*open_);
    pqxx::nontransaction alone{connection_};
    return call(alone);
  }

  /// While it lives, statements belong to that transaction.
  class borrowed {
   public:
    borrowed(way_to_server& by, pqxx::work& tx) : by_{by} { by_.open_ = &tx; }
    borrowed(const borrowed&) = delete;
    borrowed& operator=(const borrowed&) = delete;
    ~borrowed() { by_.open_ = nullptr; }

   private:
    way_to_server& by_;
  };

  pqxx::connection& connection() noexcept { return connection_; }
  long long& statements() noexcept { return statements_; }

 private:
  pqxx::connection connection_;
  pqxx::work* open_ = nullptr;
  long long statements_ = 0;
};

/// Counts what rowlock adds to a transaction.
class counted_transaction final : public detail::caller_transaction, public open_transaction {
 public:
  counted_transaction(pqxx::dbtransaction& tx, long long& statements) : tx_{tx}, statements_{statements} {}

  detail::backend kind() const noexcept override { return tx_.kind(); }
  std::int64_t session() const override { return tx_.session(); }
  bool takes_several() const noexcept override { return tx_.takes_several(); }
  std::vector<row> execute(const std::string& sql, std::span<const detail::value_in> arguments) override {
    ++statements_;
    return tx_.execute(sql, arguments);
  }

  void lock(client& locks, const lock_name& name) override {
    (void)detail::lock_in(*this, locks, name, std::nullopt, {}, {});
  }
  void prove(const held_lock& held) override { detail::confirm(*this, held); }

 private:
  detail::pqxx_transaction tx_;
  long long& statements_;
};

class postgresql_statement final : public statement {
 public:
  postgresql_statement(way_to_server& by, std::string name) : way_{by}, name_{std::move(name)} {}

  std::size_t run(std::span<const char* const> values) override {
    return static_cast<std::size_t>(rows(values).size());
  }

  std::optional<std::string> read(std::span<const char* const> values) override {
    const auto found = rows(values);
    return found.empty() ? std::nullopt : std::optional<std::string>{found[0][0].c_str()};
  }

 private:
  pqxx::result rows(std::span<const char* const> values) {
    return way_.run([&](auto& tx) { return detail::execute_prepared(tx, name_, values); });
  }

  way_to_server& way_;
  std::string name_;
};

class postgresql_connection final : public connection {
 public:
  explicit postgresql_connection(const std::string& url) : way_{url} {}

  long long execute(const std::string& sql) override {
    const auto answer = run(sql);
    return answer.empty() || answer[0].back().is_null() ? 0 : answer[0].back().as<long long>();
  }

  std::size_t change(const std::string& sql) override { return static_cast<std::size_t>(run(sql).affected_rows()); }

  std::unique_ptr<statement> prepare(const std::string& sql) override {
    auto name = "testkit_" + std::to_string(++prepared_);
    way_.connection().prepare(name, sql);
    return std::make_unique<postgresql_statement>(way_, std::move(name));
  }

  void in_transaction(const body& what) override {
    way_.statements() += 2;  // BEGIN and COMMIT
    pqxx::work tx{way_.connection()};
    {
      const way_to_server::borrowed now{way_, tx};
      counted_transaction open{tx, way_.statements()};
      what(open);
    }
    tx.commit();
  }

  void optimistically(client& locks, const lock_name& name, const std::function<void()>& what,
                      const retry_options& options) override {
    const auto once = [&](pqxx::work& tx) {
      const way_to_server::borrowed now{way_, tx};
      what();
    };
    rowlock::optimistically(way_.connection(), locks, name, once, options);
  }

  long long statements() override { return way_.statements(); }

 private:
  pqxx::result run(const std::string& sql) try {
    return way_.run([&](auto& tx) { return tx.exec(sql); });
  } catch (const pqxx::transaction_rollback&) {
    throw;  // rowlock::optimistically knows what to do
  } catch (const std::exception& e) {
    fail(sql, e.what());
  }

  way_to_server way_;
  int prepared_ = 0;
};

/// A password that holds an unescaped '/', '@' or ':' would be read as part of the host or as the port, and what libpq
/// then says repeats it.
bool is_suspicious(const PQconninfoOption& option) {
  if (option.val == nullptr) return false;
  const std::string_view value{option.val};
  if (option.keyword == std::string_view{"port"})
    return value.find_first_not_of("0123456789,") != std::string_view::npos;
  return option.keyword == std::string_view{"host"} && value.find('@') != std::string_view::npos &&
         !value.starts_with('@');
}

bool is_sound(const PQconninfoOption* options) {
  for (; options->keyword != nullptr; ++options)
    if (is_suspicious(*options)) return false;
  return true;
}

}  // namespace

void check_postgresql_url(const std::string& url) {
  char* message = nullptr;
  const std::unique_ptr<PQconninfoOption, void (*)(PQconninfoOption*)> parsed{PQconninfoParse(url.c_str(), &message),
                                                                              PQconninfoFree};
  PQfreemem(message);  // it may repeat the URL, and so the password
  if (!parsed || !is_sound(parsed.get()))
    throw std::invalid_argument{
        "this URL cannot be read: write postgresql://user:password@host:port/database, with %XX for characters that "
        "mean something in a URL"};
}

std::unique_ptr<connection> connect_postgresql(const std::string& url, const connection_options& options) {
  auto made = std::make_unique<postgresql_connection>(url);
  if (!options.application.empty()) made->execute("SET application_name = '" + options.application + "'");
  return made;
}

}  // namespace rowlock::test
