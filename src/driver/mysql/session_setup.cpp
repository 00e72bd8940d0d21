#include <rowlock/error.hpp>

#include <charconv>
#include <chrono>
#include <map>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "base/boot_clock.hpp"
#include "base/waits.hpp"
#include "core/error_detail.hpp"
#include "driver/failure_meaning.hpp"
#include "driver/mysql/errors.hpp"
#include "driver/mysql/session.hpp"
#include "driver/server_session.hpp"

// The statements with which a session asks and sets options at its beginning, and while tables are made.

namespace rowlock::inline v1::driver {

using namespace std::chrono_literals;

namespace {

constexpr const char* setting_up = "setting up the connection";
constexpr const char* waiting_to_migrate = "waiting for another client's migration";
// Names of locks have at most 64 characters.
constexpr const char* migration_lock = "SHA2(CONCAT('rowlock migration ', DATABASE()), 224)";
constexpr duration longest_lock_wait = 24h;

// Before any statement that answers more than one row.
constexpr const char* all_rows = "SET SESSION sql_select_limit = 18446744073709551615";
constexpr const char* isolation = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE";

// SYSDATE() has to advance while a statement waits, which a server option can prevent.
constexpr const char* clock_goes_on = "SELECT SLEEP(0.001) + (SYSDATE(6) > NOW(6)), DATABASE()";

// Seconds, with a point.
std::string seconds_text(duration d) {
  const auto all = std::chrono::duration_cast<std::chrono::milliseconds>(d).count();
  const auto thousandths = std::to_string(1000 + all % 1000);
  return std::to_string(all / 1000) + "." + thousandths.substr(1);
}

struct server_version {
  mysql_kind kind = mysql_kind::mysql;
  int major = 0;
  int minor = 0;

  const char* name() const { return kind == mysql_kind::mariadb ? "MariaDB" : "MySQL"; }
  bool is_new_enough() const {
    const auto least = kind == mysql_kind::mariadb ? std::pair{10, 6} : std::pair{8, 0};
    return std::pair{major, minor} >= least;
  }
};

server_version read_version(std::string_view text) {
  constexpr std::string_view for_old_replicas = "5.5.5-";  // a prefix that MariaDB may add
  server_version out;
  if (text.find("MariaDB") != std::string_view::npos) out.kind = mysql_kind::mariadb;
  if (out.kind == mysql_kind::mariadb && text.starts_with(for_old_replicas))
    text.remove_prefix(for_old_replicas.size());
  const auto* const end = text.data() + text.size();
  const auto [point, failure] = std::from_chars(text.data(), end, out.major);
  if (failure == std::errc{} && point != end) std::from_chars(point + 1, end, out.minor);
  return out;
}

std::string whole_seconds(duration d) { return std::to_string(std::chrono::ceil<std::chrono::seconds>(d).count()); }

// For lock_wait_timeout: longer than the client's limit.
std::string table_lock_wait(const mysql_options& options) { return whole_seconds(options.call_timeout + 1s); }

// For innodb_lock_wait_timeout.
std::string row_lock_wait(mysql_kind kind) { return kind == mysql_kind::mariadb ? "0" : "1"; }

// Does not depend on the server's defaults. On MariaDB a statement can refuse to wait for a row lock; on MySQL it waits
// for at least a second, so there the statements lock no row that is not free. The client ends waits for a table that
// another session changes or has locked.
std::string settings(mysql_kind kind, const mysql_options& options) {
  std::string out =
      "SET NAMES utf8mb4, SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', SESSION time_zone = "
      "'+00:00', SESSION autocommit = 1, SESSION completion_type = 0, SESSION sql_safe_updates = 0, SESSION "
      "sql_big_selects = 1, "
      "SESSION lock_wait_timeout = " +
      table_lock_wait(options) + ", SESSION innodb_lock_wait_timeout = " + row_lock_wait(kind);
  if (!options.transaction_limit) return out;
  // MariaDB distinguishes a session that is idle in a transaction from one that is idle.
  const auto limit = whole_seconds(*options.transaction_limit);
  if (kind == mysql_kind::mysql) return out.append(", SESSION wait_timeout = ").append(limit);
  out.append(", SESSION idle_transaction_timeout = ").append(limit);
  out.append(", SESSION idle_readonly_transaction_timeout = ").append(limit);
  out.append(", SESSION idle_write_transaction_timeout = ").append(limit);
  return out.append(", SESSION wait_timeout = 28800");
}
[[noreturn]] void refuse(errc code, const std::string& sentence) { throw error{code, sentence}; }

}  // namespace

// --- at its beginning ------------------------------------------------------------------------------------------------

void mysql_session::set_up(const std::string& database, const limits& until) {
  simple(all_rows, {setting_up}, until);
  check_server(until);
  if (must_be_encrypted_) require_encryption(until);
  simple(settings(kind_, options_), {setting_up}, until);
  simple(isolation, {setting_up}, until);
  const auto state = simple(clock_goes_on, {setting_up}, until);
  if (text(state.at(0).at(0)) != "1")
    refuse(errc::unsupported,
           guarded_.server() +
               " runs with sysdate_is_now, so its clock stands still while a statement waits, and fencing tokens would "
               "run backwards; start it without that option");
  // Each step names its database, but scripts do not, and the server's init_connect may choose another.
  if (text(state.at(0).at(1)) != database) simple("USE " + place_, {setting_up}, until);
  try {
    is_marked_ = text(simple("SELECT GET_LOCK('" + mark_ + "', 0)", {setting_up}, until).at(0).at(0)) == "1";
  } catch (const error& e) {
    if (e.connection_is_unusable()) throw;  // otherwise this server has no such locks, like some clusters
  }
}

void mysql_session::check_server(const limits& until) {
  std::map<std::string, std::string, std::less<>> found;
  for (const row& r : simple("SHOW VARIABLES WHERE Variable_name IN ('version', 'log_bin', 'binlog_format', "
                             "'innodb_flush_log_at_trx_commit', 'read_only', 'have_ssl', 'ssl_cert', 'wsrep_on', "
                             "'group_replication_group_name', 'group_replication_single_primary_mode')",
                             {setting_up}, until))
    found.emplace(text(r.at(0)), text(r.at(1)));
  const auto is = [&](const char* name, std::string_view value) { return found[name] == value; };

  const auto version = read_version(found["version"]);
  if (!version.is_new_enough())
    refuse(errc::unsupported, guarded_.server() + " has version " + found["version"] +
                                  "; rowlock needs MySQL 8.0 or MariaDB 10.6, or newer");
  kind_ = version.kind;
  guarded_.rename(version.name() + guarded_.server().substr(guarded_.server().find(" (")));
  if (is("log_bin", "ON") && is("binlog_format", "STATEMENT"))
    refuse(errc::unsupported,
           guarded_.server() +
               " writes its binary log by statement, and then refuses to write at READ COMMITTED, which rowlock needs; "
               "set binlog_format to ROW or MIXED");
  if (!is("read_only", "OFF") && !is("read_only", "0") && !found["read_only"].empty())
    throw detail::error_access::make(errc::connection_failed,
                                     guarded_.server() + " is read-only, as a replica is; connect to the primary",
                                     {.retryable = true, .connection_unusable = true});
  if (!is("innodb_flush_log_at_trx_commit", "1") && options_.warning)
    options_.warning(guarded_.server() +
                     " has innodb_flush_log_at_trx_commit = " + found["innodb_flush_log_at_trx_commit"] +
                     ", so a crash of its machine may lose granted locks; set it to 1");
  // The second is the name of a file, on servers that do not have the first.
  const bool offers_tls = is("have_ssl", "YES") || !found["ssl_cert"].empty();
  if (avoids_tls_ && offers_tls && options_.warning)
    options_.warning("connections to " + guarded_.server() +
                     " are not encrypted, because this process was forked while its parent had encrypted ones, after "
                     "which TLS may hang; connect after the fork, or call exec in the child, or set ssl-mode=REQUIRED "
                     "to insist on it");
  const bool writes_in_a_group =
      !found["group_replication_group_name"].empty() && is("group_replication_single_primary_mode", "OFF");
  if ((is("wsrep_on", "ON") || writes_in_a_group) && options_.warning)
    options_.warning(guarded_.server() +
                     " is a node of a cluster that is written to on each of its nodes, where locks by for_update and "
                     "lock_in exclude each other on the same node only; use leases, or connect all clients of the "
                     "locks to one node");
}

void mysql_session::require_encryption(const limits& until) {
  const auto rows = simple("SHOW SESSION STATUS LIKE 'Ssl_cipher'", {setting_up}, until);
  if (rows.empty() || text(rows[0].at(1)).empty())
    refuse(errc::connection_failed,
           failure_of(connecting_text, guarded_.server()) +
               "ssl-mode requires encryption, which the server or the connector does not support; enable TLS on the "
               "server");
}

// --- while tables are made -------------------------------------------------------------------------------------------

/// While it lives, it interrupts each statement of the session with that mark that waits for a table for longer than
/// `change_wait`, by asking the server on another session. If this is not possible, the server's own limits end the
/// wait.
class short_table_waits {
 public:
  short_table_waits(std::unique_ptr<session> by, std::string mark, const limits& until);

 private:
  std::jthread thread_;
};

namespace {

constexpr duration between_looks = change_wait / 2;

// MySQL's old process list fails as soon as the statement of any session has characters of four bytes.
bool waits_for_table(mysql_session& asking, const std::string& mark, const limits& until) {
  const std::string sql =
      "SELECT 1 FROM information_schema.processlist /*!80022 p WHERE FALSE UNION ALL "
      "SELECT 1 FROM performance_schema.processlist */ "
      "WHERE id = IS_USED_LOCK('" +
      mark + "') AND state LIKE 'Waiting for table %'";
  return !asking.ask(sql, "looking for a wait for a table", until).empty();
}

// A statement that two looks saw waiting has waited for the time between them.
void interrupt_long_waits(mysql_session& by, const std::string& mark, const limits& until) {
  for (int seen = 0; !until.stop.stop_requested(); base::rest(base::later(base::now(), between_looks), until.stop)) {
    seen = waits_for_table(by, mark, until) ? seen + 1 : 0;
    if (seen > change_wait / between_looks) by.interrupt_keeper_of(mark, until);
  }
}

}  // namespace

short_table_waits::short_table_waits(std::unique_ptr<session> by, std::string mark, const limits& until) try
    : thread_{[by = std::move(by), mark = std::move(mark), deadline = until.deadline](std::stop_token stop) {
        try {
          interrupt_long_waits(static_cast<mysql_session&>(*by), mark, {.deadline = deadline, .stop = std::move(stop)});
}
catch (const error&) {
}
}
}
{}
catch (const std::system_error&) {
}

void mysql_session::lock_migrations(const limits& until) {
  auto wait = servers_wait(time_left(until).value_or(longest_lock_wait));
  if (kind_ == mysql_kind::mysql) wait = std::chrono::floor<std::chrono::seconds>(wait);  // which rounds it
  const auto got = simple(std::string{"SELECT GET_LOCK("} + migration_lock + ", " + seconds_text(wait) + ")",
                          {waiting_to_migrate}, until);
  if (text(got.at(0).at(0)) != "1")
    throw detail::error_access::make(
        errc::call_timed_out, failure_of(waiting_to_migrate, guarded_.server()) + "no answer within the time limit",
        {.retryable = true});
}

// By the server's own limits a wait for a table takes at least a second. To change a table, MariaDB also locks rows of
// its own tables, which other sessions lock for a moment when they change their tables.
std::unique_ptr<short_table_waits> mysql_session::wait_for_tables_shortly(const limits& until) try {
  simple("SET SESSION innodb_lock_wait_timeout = 1, SESSION lock_wait_timeout = 1", {doing(chore::scripting)}, until);
  if (!is_marked_ || !options_.another) return nullptr;
  return std::make_unique<short_table_waits>(options_.another(until), mark_, until);
} catch (const error&) {
  if (guarded_.is_dead()) throw;
  return nullptr;  // the server permits no other session
}

void mysql_session::unlock_migrations(const limits& until) {
  if (guarded_.is_dead()) return;
  try {
    simple("SET SESSION innodb_lock_wait_timeout = " + row_lock_wait(kind_) +
               ", SESSION lock_wait_timeout = " + table_lock_wait(options_),
           {doing(chore::scripting)}, until);
    if (is_marked_) simple(std::string{"DO RELEASE_LOCK("} + migration_lock + ")", {doing(chore::scripting)}, until);
  } catch (const error&) {
    guarded_.close_later();  // which also releases the lock
  }
}

// Statements that change tables commit by themselves, so this is not all or nothing: a file of the schema can be run
// again, and marks itself as applied at its end. Without user-level locks, as on Percona XtraDB Cluster, or on two
// nodes of one cluster, two clients may run one file at the same time: one of them finds a part of it done, and begins
// anew with the missing part.
void mysql_session::exclusively(const std::function<void()>& body, const limits& until) {
  if (is_marked_) lock_migrations(until);
  try {
    const scoped_value around{around_, std::optional{until}};
    const auto short_waits = wait_for_tables_shortly(until);
    insist_on_change(until, body, [](const error& e) {
      return e.code() == errc::call_timed_out || was_in_conflict(e.native_code()) ||
             was_made_meanwhile(e.native_code());
    });
  } catch (...) {
    unlock_migrations(until);
    throw;
  }
  unlock_migrations(until);
}

}  // namespace rowlock::inline v1::driver
