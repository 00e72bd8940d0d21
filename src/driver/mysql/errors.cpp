#include "driver/mysql/errors.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "driver/failure_meaning.hpp"

namespace rowlock::inline v1::driver {

namespace {

using mysql_code::deadlock, mysql_code::interrupted, mysql_code::lock_wait_timeout, mysql_code::overtaken;

template <class... Codes>
bool is_one_of(int code, Codes... codes) {
  return ((code == codes) || ...);
}

meaning denied(const char* advice = "") { return {.code = errc::permission_denied, .advice = advice}; }

// Another connection may reach the server that took over.
meaning elsewhere(const char* advice = "") {
  return {.code = errc::connection_failed, .says = {.retryable = true, .connection_unusable = true}, .advice = advice};
}

// The client's library and the plugin of the account do not fit together.
meaning cannot_log_in(int code) {
  const char* advice =
      "; this client library has no plugin for the account: install the plugin's file (Oracle's library 9 has "
      "mysql_native_password in a file, MariaDB's has caching_sha2_password in one), use MariaDB's library with "
      "MariaDB, or change the account's plugin by ALTER USER";
  if (code == 1524) advice = "; change the account's plugin to one that the server has, by ALTER USER";
  if (code == 2061) advice = "; if a secure connection is missing, set ssl-mode=REQUIRED in the URL";
  return {.code = errc::permission_denied, .says = {.connection_unusable = true}, .advice = advice};
}

meaning meaning_of(int code, std::string_view doing, bool writing) {
  if (is_one_of(code, 1251, 1524, 2049, mysql_code::no_such_plugin, 2061, 5010, 5012)) return cannot_log_in(code);
  if (is_about_mysql_connection(code)) return lost(writing);
  // In a commit on Galera, or in a group: the other nodes may have the transaction, although this node has just lost
  // them.
  if (is_one_of(code, 1180, 3100)) return lost(writing);
  // In a commit in a group: mostly another node has changed the row, but a node that leaves the group says so, too.
  if (code == 3101)
    return {.code = errc::serialization_failure, .says = {.retryable = true, .outcome_unknown = writing}};
  if (code == deadlock) return retryable(errc::deadlock);
  if (code == overtaken) return retryable(errc::serialization_failure);
  // Lock waits that took too long, statements that took too long or that were stopped.
  if (is_one_of(code, lock_wait_timeout, interrupted, 1907, 1969, 3024)) {
    auto late = retryable(errc::call_timed_out);
    if (doing == migrating_text) late.advice = tables_are_in_use;
    return late;
  }
  if (code == 1054) return {.code = errc::schema_older, .advice = "; run client::migrate()"};
  if (is_one_of(code, 1044, 1142, 1143, 1227, 1370, 1410))
    return denied(doing == migrating_text
                      ? "; migrate as a user who may create tables there"
                      : "; grant it to this user (schema/mysql/grants.sql grants what locks need), or, if a role of "
                        "this user has it, SET DEFAULT ROLE");
  if (code == 1095)
    return denied(
        "; only the session's own user may do that, or one with the privilege CONNECTION ADMIN (on MySQL "
        "CONNECTION_ADMIN)");
  if (is_one_of(code, 1045, 1698))
    return {.code = errc::permission_denied,
            .says = {.connection_unusable = true},
            .advice = "; check the user and the password in the URL"};
  if (is_one_of(code, 1130, 1862, 1820, 3118, 4151))
    return {.code = errc::permission_denied, .says = {.connection_unusable = true}};
  if (code == 1049 && doing == connecting_text)
    return {.code = errc::connection_failed,
            .says = {.connection_unusable = true},
            .advice = "; create it, or correct its name in the URL"};
  if (is_one_of(code, 1146, 1049))
    return {.code = errc::schema_missing, .advice = "; run client::migrate(), or the files in schema/mysql by hand"};
  if (is_one_of(code, 1290, 1792, 1836))
    return elsewhere("; this server is read-only, as a replica is; connect to the primary");
  if (is_one_of(code, 1040, 1203))
    return elsewhere("; raise max_connections of the server, or lower client_options::connections");
  // Other limits on connections, no memory or thread for this one, or a node of a cluster that is not ready. Statements
  // that the server has forgotten, or whose tables were changed since, are not executed, and a new session prepares
  // anew.
  if (is_one_of(code, 1037, 1038, 1041, 1047, 1135, 1226, 1243, 1615)) return elsewhere();
  if (code == mysql_code::too_many_statements) return retryable(errc::connection_failed);
  if (is_one_of(code, 1021, 1114)) return {.advice = "; free some space on the disk of the server"};
  if (code == 1665)
    return {.advice = "; rowlock needs READ COMMITTED, and with it this server needs binlog_format ROW or MIXED"};
  return {};
}

}  // namespace

bool was_in_conflict(int code) { return is_one_of(code, lock_wait_timeout, deadlock, overtaken); }

// The table, the column, the key.
bool was_made_meanwhile(int code) { return is_one_of(code, 1050, 1060, 1061); }

bool is_about_mysql_connection(int code) {
  // The connectors' own codes (all are about the connection, or make it unusable), and the server's codes for networks,
  // packets that make no sense, shutdown and killed sessions.
  return (code >= 2000 && code < 3000) || (code >= 5000 && code < 6000) || (code >= 1152 && code <= 1161) ||
         is_one_of(code, 1053, 1077, 1079, 1835, 1927, 4031);
}

error mysql_error(const mysql_failure& what, const std::string& server, const std::string& doing) {
  meaning m = meaning_of(what.code, doing, what.writing);
  if (what.connection_lost) m = with_lost_connection(std::move(m), what.writing);
  if (doing == connecting_text && m.code == errc::connection_failed && is_about_mysql_connection(what.code))
    m.advice = check_address;
  m.says.native_code = what.code;
  m.says.sqlstate = what.sqlstate;
  return detail::error_access::make(m.code, failure_of(doing, server) + what.message + m.advice, std::move(m.says));
}

}  // namespace rowlock::inline v1::driver
