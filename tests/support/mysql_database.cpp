#include "support/mysql_database.hpp"

#include <exception>
#include <iostream>
#include <utility>

#include "support/tcp_proxy.hpp"

namespace rowlock::test {

namespace {

constexpr const char* server_variable = "ROWLOCK_TEST_MYSQL_URL";

}  // namespace

mysql_database::mysql_database() : mysql_database{address_in(server_variable)} {}

mysql_database::mysql_database(server_address server)
    : server_database{std::move(server), 3306}, connection_{[this] { return connect(); }} {
  name_database();
  my_connection in{administrator()};
  is_mariadb_ = in.run("SELECT VERSION()").text(0, 0).value().find("MariaDB") != std::string::npos;
  in.run_script("CREATE DATABASE " + name() + "; CREATE USER " + name() + " IDENTIFIED BY '" + name() +
                "'; GRANT ALL ON " + name() + ".* TO " + name() + "; " + right_to_see_locks(name()));
}

mysql_database::~mysql_database() {
  if (!connection_.is_of_this_process()) return;
  try {
    terminate_sessions();
    mysql_database::execute("DROP DATABASE " + name() + "; DROP USER IF EXISTS " + guest() + "; DROP ROLE IF EXISTS " +
                            group() + "; DROP USER " + name());
  } catch (const std::exception& e) {
    std::cerr << "a database was left behind: " << e.what() << '\n';
  }
}

std::string mysql_database::shell() const { return shell_as(address()); }

std::string mysql_database::administrators_shell() const { return shell_as(administrator()); }

std::string mysql_database::shell_as(const server_address& role) const {
  return "MYSQL_PWD='" + role.password + "' mariadb --no-defaults --protocol=tcp --host='" + host() +
         "' --port=" + std::to_string(port()) + " --user=" + role.user + " " + name();
}

std::string mysql_database::url_of_guest(std::string_view privileges) {
  make_guest();
  const auto tables = connection_.with([&](my_connection& c) { return c.run("SHOW TABLES"); });
  for (std::uint64_t i = 0; i < tables.rows(); ++i)
    execute("GRANT " + std::string{privileges} + " ON " + tables.text(i, 0).value() + " TO " + guest());
  return address_as(guest()).url();
}

std::string mysql_database::url_of_member() {
  make_guest();
  execute("GRANT " + group() + " TO " + guest() + "; SET DEFAULT ROLE " + group() + (is_mariadb() ? " FOR " : " TO ") +
          guest());
  return address_as(guest()).url();
}

void mysql_database::make_guest() { execute("CREATE USER " + guest() + " IDENTIFIED BY '" + guest() + "'"); }

void mysql_database::let_see_locks(const std::string& role) { execute(right_to_see_locks(role)); }

std::string mysql_database::right_to_see_locks(const std::string& role) const {
  return is_mariadb() ? "GRANT PROCESS ON *.* TO " + role
                      : "GRANT SELECT ON performance_schema.data_locks TO " + role +
                            "; GRANT SELECT ON performance_schema.threads TO " + role;
}

void mysql_database::forbid_seeing_locks() {
  execute(is_mariadb() ? "REVOKE PROCESS ON *.* FROM " + name()
                       : "REVOKE SELECT ON performance_schema.data_locks FROM " + name());
}

void mysql_database::let_end_sessions(const std::string& role) {
  let_see_locks(role);
  execute(std::string{"GRANT "} + (is_mariadb() ? "CONNECTION ADMIN" : "CONNECTION_ADMIN") + " ON *.* TO " + role);
}

void mysql_database::set_password(const std::string& word) {
  execute("ALTER USER " + name() + " IDENTIFIED BY " + quoted(word));
}

void mysql_database::forbid_making_tables() { execute("REVOKE CREATE ON " + name() + ".* FROM " + name()); }

bool mysql_database::has_table(std::string_view table) {
  return number("SELECT count(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = '" + name() +
                "' AND TABLE_NAME = " + quoted(table)) == 1;
}

// Reads still succeed, as with a writer of SQLite.
std::unique_ptr<obstacle> mysql_database::stall() {
  return meanwhile("LOCK TABLES rowlock_lock READ", "UNLOCK TABLES");
}

std::unique_ptr<obstacle> mysql_database::meanwhile(const std::string& begin, const std::string& end) {
  return test::meanwhile(connect(), begin, end);
}

void mysql_database::execute(const std::string& sql) {
  connection_.with([&](my_connection& c) { c.run_script(sql); });
}

sql_rows mysql_database::ask(const std::string& sql) {
  return connection_.with([&](my_connection& c) { return rows_of(c.run(sql)); });
}

std::string mysql_database::quoted(std::string_view text) {
  return connection_.with([&](my_connection& c) { return c.quoted(text); });
}

std::unique_ptr<obstacle> mysql_database::row_pinned(std::string_view name) {
  return transaction("SELECT 1 FROM rowlock_lock WHERE name = " + quoted(name) + " LOCK IN SHARE MODE");
}

std::unique_ptr<obstacle> mysql_database::sealed() {
  return meanwhile("LOCK TABLES rowlock_lock WRITE", "UNLOCK TABLES");
}

// The triggers remain, and block no statement after the obstacle is removed.
std::unique_ptr<obstacle> mysql_database::gate_before(const std::string& table, const update& only) {
  const auto word = "'gate " + name() + "'";
  const bool is_any = only.condition.empty();
  for (const std::string verb : {"INSERT", "UPDATE", "DELETE"}) {
    if (!is_any && verb != "UPDATE") continue;
    auto trigger = "gate_" + table;
    trigger.append("_").append(verb);
    execute("DROP TRIGGER IF EXISTS " + trigger);
    std::string sql = "CREATE TRIGGER " + trigger;
    sql.append(" BEFORE ").append(verb).append(" ON ").append(table);
    sql.append(" FOR EACH ROW ").append(is_any ? "BEGIN " : "IF " + only.condition + " THEN ").append(only.and_does);
    sql.append("DO GET_LOCK(").append(word).append(", 60); DO RELEASE_LOCK(").append(word);
    execute(sql.append(is_any ? "); END" : "); END IF"));
  }
  return meanwhile("SELECT GET_LOCK(" + word + ", 60)", "SELECT RELEASE_LOCK(" + word + ")");
}

// MySQL cannot compare four-byte characters in information_schema.
std::string mysql_database::process_list() const {
  return is_mariadb() ? "information_schema.PROCESSLIST" : "performance_schema.processlist";
}

// A trigger runs as the administrator, and the process list may show that name.
std::string mysql_database::stopped_at_gate() const {
  return "(STATE = 'User lock' AND INFO LIKE '%gate " + name() + "%')";
}

std::int64_t mysql_database::at_gate() {
  return number("SELECT count(*) FROM " + process_list() + " WHERE " + stopped_at_gate());
}

// Deletes by names that are already locked: another condition would wait for locked rows.
std::int64_t mysql_database::sweep() {
  return connection_.with([&](my_connection& c) {
    c.run("START TRANSACTION");
    const auto old = c.run(
        "SELECT name FROM rowlock_lock WHERE owner IS NULL AND expires_at < SYSDATE(6) - INTERVAL 1 SECOND "
        "FOR UPDATE SKIP LOCKED");
    for (std::uint64_t i = 0; i < old.rows(); ++i)
      c.run("DELETE FROM rowlock_lock WHERE name = " + c.quoted(old.text(i, 0).value()));
    c.run("COMMIT");
    return static_cast<std::int64_t>(old.rows());
  });
}

std::unique_ptr<obstacle> mysql_database::set_default(const std::string& variable, const std::string& value) {
  const auto connection = connect();
  const auto is_known = [&](const std::string& one) {
    return connection->run("SHOW GLOBAL VARIABLES LIKE '" + one + "'").rows() == 1;
  };
  // Before MariaDB 11.1 some variables have other names.
  constexpr std::string_view newer = "transaction_";
  const auto name = is_known(variable) ? variable : "tx_" + variable.substr(newer.size());
  const auto before = text("SELECT @@GLOBAL." + name);
  const auto set = "SET GLOBAL " + name + " = ";
  const bool is_number = !before.empty() && before.find_first_not_of("0123456789") == std::string::npos;
  return meanwhile(set + value, set + (is_number ? before : quoted(before)));
}

std::string mysql_database::sessions_query() const {
  return "SELECT ID FROM " + process_list() + " WHERE USER IN ('" + name() + "', '" + guest() + "') OR " +
         stopped_at_gate();
}

// MariaDB caches its list of transactions for a tenth of a second after the last query. MySQL's list fails if a
// session's statement has four-byte characters.
std::vector<std::int64_t> mysql_database::in_transaction(bool that_wait) {
  execute("DO SLEEP(0.15)");
  if (is_mariadb())
    return numbers(
        "SELECT p.ID FROM information_schema.INNODB_TRX t JOIN information_schema.PROCESSLIST p "
        "ON p.ID = t.trx_mysql_thread_id WHERE " +
        std::string{that_wait ? "t.trx_state = 'LOCK WAIT'" : "t.trx_rows_modified > 0"} +
        " AND p.USER = " + quoted(name()));
  return numbers(
      "SELECT DISTINCT t.processlist_id FROM performance_schema.data_locks l "
      "JOIN performance_schema.threads t ON t.thread_id = l.thread_id WHERE l.lock_type = 'RECORD' "
      "AND l.lock_status = " +
      std::string{that_wait ? "'WAITING'" : "'GRANTED'"} + " AND t.processlist_user = " + quoted(name()));
}

std::vector<std::int64_t> mysql_database::open_transactions() { return in_transaction(false); }

bool mysql_database::is_kept_waiting() { return !in_transaction(true).empty(); }

void mysql_database::terminate(std::int64_t session) {
  try {
    execute("KILL " + std::to_string(session));
  } catch (const std::exception& e) {
    if (std::string_view{e.what()}.find("Unknown thread id") == std::string_view::npos) throw;
  }
}

bool mysql_database::is_complete(std::string_view answer) const { return tcp_proxy::ends_as_mysql_answers(answer); }

std::string mysql_database::clock() const { return "SYSDATE(6)"; }

std::string mysql_database::microseconds(const std::string& time) const {
  return "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', " + time + ")";
}

std::string mysql_database::random_id() const { return "REPLACE(UUID(), '-', '')"; }

// READ COMMITTED, so that no gaps are locked, as in PostgreSQL.
std::shared_ptr<my_connection> mysql_database::connect() const {
  auto to = administrator();
  to.database = name();
  auto out = std::make_unique<my_connection>(to);
  out->run_script(
      "SET time_zone = '+00:00', sql_mode = 'TRADITIONAL', autocommit = 1, innodb_lock_wait_timeout = 30, "
      "lock_wait_timeout = 30; SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
  return out;
}

}  // namespace rowlock::test
