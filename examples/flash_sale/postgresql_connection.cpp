#include "postgresql_connection.hpp"

#include <fmt/format.h>
#include <libpq-fe.h>
#include <pqxx/pqxx>
#include <rowlock/interop/pqxx.hpp>

#include <stdexcept>
#include <string_view>

namespace flash_sale {
namespace {

struct free_options {
  void operator()(PQconninfoOption* options) const noexcept { PQconninfoFree(options); }
};

/// libpq ends what it says with a line break, and may say it in several lines.
[[noreturn]] void fail(std::string_view what, std::string_view said) {
  std::string line;
  for (const char each : said.substr(0, said.find_last_not_of("\n ") + 1))
    if (each != '\t') line += each == '\n' ? ' ' : each;
  throw std::runtime_error{fmt::format("{}: {}", what, line)};
}

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

pqxx::connection connect(const std::string& url) try { return pqxx::connection{url}; } catch (const std::exception& e) {
  fail("PostgreSQL", e.what());
}

class postgresql_connection final : public server_connection {
 public:
  explicit postgresql_connection(const std::string& url) : connection_{connect(url)} {}

  void execute(const std::string& sql) override { run(sql); }

  std::int64_t number(const std::string& sql) override {
    const auto rows = run(sql);
    if (rows.empty()) throw std::runtime_error{fmt::format("{}: no row", sql)};
    return rows[0][0].as<std::int64_t>();
  }

  std::size_t change(const std::string& sql) override { return static_cast<std::size_t>(run(sql).affected_rows()); }

  void in_transaction(const in_transaction_body& body) override {
    pqxx::work tx{connection_};
    const current here{*this, tx};
    transaction_on<pqxx::dbtransaction&> open{tx};
    body(open);
    tx.commit();
  }

  void optimistically(rowlock::client& locks, const rowlock::lock_name& name,
                      const std::function<void()>& body) override {
    const auto once = [&](pqxx::work& tx) {
      const current here{*this, tx};
      body();
    };
    rowlock::optimistically(connection_, locks, name, once, patient);
  }

 private:
  /// While it lives, statements belong to that transaction.
  class current {
   public:
    current(postgresql_connection& of, pqxx::work& tx) : of_{of} { of_.current_ = &tx; }
    current(const current&) = delete;
    current& operator=(const current&) = delete;
    ~current() { of_.current_ = nullptr; }

   private:
    postgresql_connection& of_;
  };

  pqxx::result run(const std::string& sql) try {
    return current_ != nullptr ? current_->exec(sql) : pqxx::nontransaction{connection_}.exec(sql);
  } catch (const pqxx::transaction_rollback&) {
    throw;  // rowlock::optimistically knows what to do
  } catch (const std::exception& e) {
    fail(sql, e.what());
  }

  pqxx::connection connection_;
  pqxx::work* current_ = nullptr;
};

}  // namespace

void check_postgresql_url(const std::string& url) {
  char* message = nullptr;
  const std::unique_ptr<PQconninfoOption, free_options> parsed{PQconninfoParse(url.c_str(), &message)};
  PQfreemem(message);  // it may repeat the URL, and so the password
  if (!parsed || !is_sound(parsed.get()))
    throw std::invalid_argument{
        "this URL cannot be read: write postgresql://user:password@host:port/database, with %XX for characters that "
        "mean something in a URL"};
}

std::unique_ptr<server_connection> connect_postgresql(const std::string& url) {
  return std::make_unique<postgresql_connection>(url);
}

}  // namespace flash_sale
