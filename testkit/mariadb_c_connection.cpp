#include <mysql.h>
#include <rowlock/interop/mariadb_c.hpp>

#include <array>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "testkit/connection.hpp"
#include "testkit/mysql_url.hpp"

namespace rowlock::test {

namespace {

using handle = std::unique_ptr<MYSQL, void (*)(MYSQL*)>;
using rows = std::unique_ptr<MYSQL_RES, void (*)(MYSQL_RES*)>;

[[noreturn]] void fail(const std::string& doing, const char* said) { throw std::runtime_error{doing + ": " + said}; }

template <class Value>
void set(MYSQL* on, mysql_option option, const Value& value) {
  ::mysql_options(on, option, &value);
}

handle connect(const mysql_address& to, bool counts_matches) {
  handle out{mysql_init(nullptr), mysql_close};
  set(out.get(), MYSQL_OPT_PROTOCOL, MYSQL_PROTOCOL_TCP);
  set(out.get(), MYSQL_OPT_SSL_ENFORCE, my_bool{to.encryption == ssl_mode::required});
  set(out.get(), MYSQL_OPT_SSL_VERIFY_SERVER_CERT, my_bool{0});
  ::mysql_options(out.get(), MYSQL_SET_CHARSET_NAME, "utf8mb4");
  const auto& server = to.server;
  const unsigned long flags = counts_matches ? CLIENT_FOUND_ROWS : 0;
  if (mysql_real_connect(out.get(), server.host.c_str(), server.user.c_str(), server.password.c_str(),
                         server.database.c_str(), server.port.value_or(3306), nullptr, flags) == nullptr)
    fail("MySQL", ::mysql_error(out.get()));
  if (to.encryption == ssl_mode::required && mysql_get_ssl_cipher(out.get()) == nullptr)
    fail("MySQL", "the connection is not encrypted, which ssl-mode asks for");
  return out;
}

class mariadb_c_statement final : public statement {
 public:
  mariadb_c_statement(MYSQL* on, const std::string& sql) : statement_{mysql_stmt_init(on), mysql_stmt_close} {
    check(mysql_stmt_prepare(raw(), sql.data(), sql.size()));
  }

  std::size_t run(std::span<const char* const> values) override {
    execute(values);
    if (mysql_stmt_field_count(raw()) == 0) return static_cast<std::size_t>(mysql_stmt_affected_rows(raw()));
    check(mysql_stmt_store_result(raw()));
    const auto count = mysql_stmt_num_rows(raw());
    mysql_stmt_free_result(raw());
    return static_cast<std::size_t>(count);
  }

  std::optional<std::string> read(std::span<const char* const> values) override {
    execute(values);
    std::array<char, 1024> text{};
    unsigned long length = 0;
    std::vector<MYSQL_BIND> columns(mysql_stmt_field_count(raw()));
    for (auto& each : columns) each.buffer_type = MYSQL_TYPE_NULL;
    columns.at(0) = {};
    columns[0].buffer_type = MYSQL_TYPE_STRING;
    columns[0].buffer = text.data();
    columns[0].buffer_length = text.size();
    columns[0].length = &length;
    check(mysql_stmt_bind_result(raw(), columns.data()));
    check(mysql_stmt_store_result(raw()));
    const bool is_there = mysql_stmt_fetch(raw()) != MYSQL_NO_DATA;
    mysql_stmt_free_result(raw());
    return is_there ? std::optional{std::string{text.data(), length}} : std::nullopt;
  }

 private:
  void execute(std::span<const char* const> values) {
    std::vector<MYSQL_BIND> bound(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      bound[i].buffer_type = values[i] == nullptr ? MYSQL_TYPE_NULL : MYSQL_TYPE_STRING;
      bound[i].buffer = const_cast<char*>(values[i]);  // NOLINT(cppcoreguidelines-pro-type-const-cast): it only reads
      bound[i].buffer_length = values[i] == nullptr ? 0 : std::strlen(values[i]);
    }
    if (!bound.empty()) check(mysql_stmt_bind_param(raw(), bound.data()));
    check(mysql_stmt_execute(raw()));
  }

  void check(int status) {
    if (status != 0) fail("a prepared statement", mysql_stmt_error(raw()));
  }
  MYSQL_STMT* raw() const noexcept { return statement_.get(); }

  std::unique_ptr<MYSQL_STMT, my_bool (*)(MYSQL_STMT*)> statement_;
};

class mariadb_c_connection final : public connection {
 public:
  mariadb_c_connection(const mysql_address& to, bool counts_matches) : connection_{connect(to, counts_matches)} {
    send("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
    send("SET autocommit = 1, time_zone = '+00:00'");
  }

  long long execute(const std::string& sql) override {
    leave_transaction();
    return send(sql);
  }

  std::size_t change(const std::string& sql) override {
    execute(sql);
    return static_cast<std::size_t>(mysql_affected_rows(raw()));
  }

  std::unique_ptr<statement> prepare(const std::string& sql) override {
    return std::make_unique<mariadb_c_statement>(raw(), sql);
  }

  void in_transaction(const body& what) override {
    const inside here{*this};
    set_autocommit(false);
    transaction_on<MYSQL*> open{raw()};
    try {
      what(open);
      send("COMMIT");
    } catch (...) {
      mysql_rollback(raw());
      throw;
    }
  }

  void optimistically(client& locks, const lock_name& name, const std::function<void()>& what,
                      const retry_options& options) override {
    leave_transaction();
    const inside here{*this};
    rowlock::optimistically(
        raw(), locks, name, [&](MYSQL* /*same*/) { what(); }, options);
  }

  long long statements() override { return send("SHOW SESSION STATUS LIKE 'Questions'"); }

 private:
  /// While it lives, statements belong to a transaction.
  struct inside {
    explicit inside(mariadb_c_connection& of) : connection{of} { connection.is_inside_ = true; }
    inside(const inside&) = delete;
    inside& operator=(const inside&) = delete;
    ~inside() { connection.is_inside_ = false; }
    mariadb_c_connection& connection;
  };

  long long send(const std::string& sql) {
    if (mysql_real_query(raw(), sql.data(), sql.size()) != 0) fail(sql, ::mysql_error(raw()));
    const rows found{mysql_store_result(raw()), mysql_free_result};
    if (!found && mysql_errno(raw()) != 0) fail(sql, ::mysql_error(raw()));
    const auto* const first = found ? mysql_fetch_row(found.get()) : nullptr;
    const char* const last = first != nullptr ? first[mysql_num_fields(found.get()) - 1] : nullptr;
    return last != nullptr ? std::stoll(last) : 0;
  }

  /// Where transactions follow each other, nothing is sent between them.
  void leave_transaction() {
    if (!is_inside_) set_autocommit(true);
  }

  void set_autocommit(bool to) {
    if (is_autocommit_ != to) send(to ? "SET autocommit = 1" : "SET autocommit = 0");
    is_autocommit_ = to;
  }

  MYSQL* raw() const noexcept { return connection_.get(); }

  handle connection_;
  bool is_autocommit_ = true;
  bool is_inside_ = false;
};

}  // namespace

std::unique_ptr<connection> connect_mysql(const std::string& url, const connection_options& options) {
  return std::make_unique<mariadb_c_connection>(read_mysql_url(url), options.counts_matches);
}

}  // namespace rowlock::test
