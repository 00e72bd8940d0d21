#include "support/my_connection.hpp"

#include <errmsg.h>

#include <stdexcept>

namespace rowlock::test {

namespace {

/// In seconds; less than the time limit of a test, so that it can say what the server was doing.
constexpr unsigned longest_statement = 60;

void check(MYSQL* connection, int status, const std::string& sql) {
  if (status > 0 || mysql_errno(connection) != 0) throw std::runtime_error{sql + ": " + mysql_error(connection)};
}

std::string sessions_of(const my_connection& look) {
  const auto found = look.run(
      "SELECT CONCAT_WS(' ', ID, DB, COMMAND, TIME, STATE, INFO) FROM information_schema.PROCESSLIST "
      "WHERE COMMAND <> 'Sleep'");
  std::string out;
  for (std::uint64_t row = 0; row < found.rows(); ++row) out += "\n  " + found.text(row, 0).value();
  return out;
}

}  // namespace

std::optional<std::string> my_result::text(std::uint64_t row, unsigned column) const {
  if (row >= rows()) throw std::out_of_range{"the server has not answered that many rows"};
  mysql_data_seek(result_.get(), row);
  auto* const values = mysql_fetch_row(result_.get());
  if (values[column] == nullptr) return std::nullopt;
  return std::string{values[column], mysql_fetch_lengths(result_.get())[column]};
}

std::optional<std::int64_t> my_result::number(std::uint64_t row, unsigned column) const {
  const auto found = text(row, column);
  if (!found) return std::nullopt;
  return std::stoll(*found);
}

my_connection::my_connection(const server_address& to) : to_{to}, connection_{mysql_init(nullptr), mysql_close} {
  mysql_options(raw(), MYSQL_OPT_READ_TIMEOUT, &longest_statement);
  const auto protocol = MYSQL_PROTOCOL_TCP;  // otherwise "localhost" means a Unix socket
  mysql_options(raw(), MYSQL_OPT_PROTOCOL, &protocol);
  mysql_options(raw(), MYSQL_SET_CHARSET_NAME, "utf8mb4");
  const auto* const database = to.database.empty() ? nullptr : to.database.c_str();
  if (mysql_real_connect(raw(), to.host.c_str(), to.user.c_str(), to.password.c_str(), database,
                         to.port.value_or(MYSQL_PORT), nullptr, CLIENT_MULTI_STATEMENTS) == nullptr)
    throw std::runtime_error{std::string{"MySQL: "} + mysql_error(raw())};
}

my_result my_connection::run(const std::string& sql) const {
  const auto status = mysql_real_query(raw(), sql.data(), sql.size());
  if (status != 0 && mysql_errno(raw()) == CR_SERVER_LOST)
    throw std::runtime_error{sql + ": " + mysql_error(raw()) + "; sessions:" + sessions_of(my_connection{to_})};
  check(raw(), status, sql);
  my_result out{mysql_store_result(raw())};
  check(raw(), 0, sql);
  return out;
}

void my_connection::run_script(const std::string& sql) const {
  run(sql);
  for (int status = mysql_next_result(raw()); status != -1; status = mysql_next_result(raw())) {
    check(raw(), status, sql);
    const my_result rest{mysql_store_result(raw())};
    check(raw(), 0, sql);
  }
}

std::string my_connection::quoted(std::string_view text) const {
  std::string out(2 * text.size() + 1, '\0');
  out.resize(mysql_real_escape_string(raw(), out.data(), text.data(), text.size()));
  return "'" + out + "'";
}

}  // namespace rowlock::test
