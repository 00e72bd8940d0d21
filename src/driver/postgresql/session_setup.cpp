#include <rowlock/error.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "driver/failure_meaning.hpp"
#include "driver/postgresql/session.hpp"
#include "driver/postgresql/values.hpp"
#include "driver/server_session.hpp"

// The statements with which a session asks and sets options: at its beginning, in a transaction, and while tables are
// made.

namespace rowlock::inline v1::driver {

namespace {

using namespace std::chrono_literals;

constexpr int oldest_server = 130000;
constexpr const char* setting_up = "setting up the connection";
// Of the schema in which tables are made: a migration in another schema does not wait for this one. The seed is any
// number that no other program uses.
constexpr const char* migration_lock = "hashtextextended(coalesce(current_schema(), ''), 5705204214218813291)";

// A wait for another session's row lock ends before the server begins to look for deadlocks (deadlock_timeout, 1 s).
constexpr const char* row_lock_wait = "100";

// Not at a level that may wait for other transactions. This must be the first statement.
constexpr const char* at_once = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; ";

// For this transaction alone: a path that another client of a pooler has left in the session is no place for rowlock's
// tables.
constexpr const char* own_path = "SET LOCAL role TO DEFAULT; SET LOCAL search_path TO DEFAULT; ";
// A left-over setting must not decide who owns a table, or how it is stored.
constexpr const char* to_make_tables =
    "SET LOCAL role TO DEFAULT; SET LOCAL default_tablespace TO DEFAULT; SET LOCAL default_table_access_method = "
    "heap; ";

constexpr const char* state =
    "SELECT pg_is_in_recovery(), current_setting('fsync') = 'on', "
    "current_setting('default_transaction_isolation') = 'read committed' "
    "AND current_setting('default_transaction_read_only') = 'off', pg_backend_pid(), "
    "(SELECT (extract(epoch FROM backend_start) * 1000000)::bigint FROM pg_stat_get_activity(pg_backend_pid()))";

// Columns: the first schema of search_path that has the lock table, otherwise the first one; whether it has it.
constexpr std::string_view place = R"(p.schema, p.has_tables FROM (SELECT) one LEFT JOIN (
  SELECT quote_ident(s::text) AS schema, EXISTS (
    SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = s AND c.relname = '{prefix}lock') AS has_tables
  FROM unnest(current_schemas(false)) WITH ORDINALITY u (s, position) WHERE left(s::text, 8) <> 'pg_temp_'
  ORDER BY has_tables DESC, position LIMIT 1) p ON true)";

std::string milliseconds(duration d) { return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(d).count()); }

// Longer than the client's limit, so that the client's limit ends a call.
duration servers_limit(duration clients) { return clients + 500ms; }

// Does not depend on the defaults of the server, the database and the role. The planner's settings fit tables with
// thousands of rows, of which each statement reads a few. Costs that are high only because a plan is forbidden must not
// start the JIT compiler.
std::string settings_of_session(const postgresql_options& options, int version) {
  const std::string limit = milliseconds(servers_limit(options.call_timeout));
  std::string out =
      "SET default_transaction_isolation = 'read committed'; SET default_transaction_read_only = off; "
      "SET default_transaction_deferrable = off; SET standard_conforming_strings = on; SET TimeZone = 'UTC'; "
      "SET client_min_messages = warning; SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; "
      "SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off; ";
  out.append("SET lock_timeout = ").append(row_lock_wait).append("; SET statement_timeout = ").append(limit);
  out.append("; SET idle_in_transaction_session_timeout = ");
  out.append(options.transaction_limit ? milliseconds(*options.transaction_limit) : limit).append("; ");
  if (version >= 140000) out.append("SET idle_session_timeout = 0; ");
  if (version >= 170000) out.append("SET transaction_timeout = 0; ");
  if (options.transaction_limit && !options.durable_release) return out.append("SET synchronous_commit = off; ");
  // Only remote_apply is stronger than "on".
  return out.append(
      "SELECT set_config('synchronous_commit', "
      "CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false); ");
}

}  // namespace

// --- at its beginning ------------------------------------------------------------------------------------------------

void postgresql_session::set_up(const limits& until) {
  const int version = PQserverVersion(connection_.raw());
  if (version < oldest_server)
    throw error{errc::unsupported, guarded_.server() + " has version " + std::to_string(version / 10000) +
                                       "; rowlock needs PostgreSQL 13 or newer"};
  require_utf8(PQparameterStatus(connection_.raw(), "server_encoding"));
  std::string sql = at_once;
  if (!options_.transaction_pooling) sql.append(settings_of_session(options_, version));
  const bool looks = options_.tables != nullptr && !options_.tables->found();
  sql.append(looks ? looking_for_tables(state + std::string{", "}) : state);
  std::vector<row> rows;
  append_rows(rows, simple(sql, {setting_up}, until));
  check_server(rows.at(0));
  if (looks) note_place(rows.at(0).at(5), rows.at(0).at(6));
}

// By the path that the session began with, unless the URL names one: a pooler may set that later.
std::string postgresql_session::looking_for_tables(const std::string& columns) const {
  const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> all{PQconninfo(connection_.raw()), PQconninfoFree};
  bool is_named = false;
  for (const auto* o = all.get(); o != nullptr && o->keyword != nullptr; ++o)
    is_named = is_named || (o->val != nullptr && std::string_view{o->keyword} == "options" &&
                            std::string_view{o->val}.find("search_path") != std::string_view::npos);
  return (is_named ? "" : own_path) + columns + sheets::replaced(place, "{prefix}", options_.tables->prefix());
}

// Tables that are made later are found then. During a migration the tables may be rolled back, so nothing is decided.
void postgresql_session::look_for_tables(const limits& until) {
  if (is_placed_ || options_.tables == nullptr || around_) return;
  if (const auto found = options_.tables->found()) return note_place(*found, std::int64_t{1});
  std::vector<row> rows;
  append_rows(rows, simple(looking_for_tables("SELECT "), {setting_up}, until));
  note_place(rows.at(0).at(0), rows.at(0).at(1));
}

void postgresql_session::note_place(const cell& schema, const cell& has_tables) {
  is_placed_ = maybe_integer(has_tables).value_or(0) != 0;
  auto found = is_placed_ ? options_.tables->decide(text(schema)) : text(schema);
  if (found != std::exchange(place_, found)) statements_.clear();
}

// Names are compared by their bytes, and names in another encoding are in another order. SQL_ASCII accepts any bytes.
void postgresql_session::require_utf8(const char* encoding) const {
  const std::string_view found = encoding == nullptr ? "" : encoding;
  if (found.empty() || found == "UTF8" || found == "SQL_ASCII") return;
  throw error{errc::unsupported, guarded_.server() + " keeps the text of this database as " + std::string{found} +
                                     ", and names of locks are UTF-8; use a database that was made with ENCODING "
                                     "'UTF8'"};
}

void postgresql_session::check_server(const row& found) {
  const auto says = [&](std::size_t column) { return integer(found.at(column)) != 0; };
  if (says(0))
    throw error{errc::connection_failed,
                guarded_.server() + " is a standby, which cannot grant locks; connect to the primary"};
  if (!says(1) && options_.warning)
    options_.warning(
        guarded_.server() +
        " has fsync = off, so a crash of its machine may lose granted locks and damage the database; set it to on");
  must_say_isolation_ = !says(2);
  id_ = {.pid = integer(found.at(3)), .started_at = maybe_integer(found.at(4)).value_or(0)};
}

// --- in a transaction ------------------------------------------------------------------------------------------------

// Behind PgBouncer a transaction has one of the server's sessions for itself, with the settings of other clients.
std::string postgresql_session::settings_of_transaction() const {
  if (!options_.transaction_pooling) return {};
  std::string out = "; SET LOCAL idle_in_transaction_session_timeout = " + milliseconds(*options_.transaction_limit);
  out.append("; SET LOCAL lock_timeout = ").append(row_lock_wait);
  out.append("; SET LOCAL synchronous_commit = ").append(options_.durable_release ? "on" : "off");
  if (PQserverVersion(connection_.raw()) >= 170000) out.append("; SET LOCAL transaction_timeout = 0");
  return out;
}

std::string postgresql_session::making_tables() const {
  if (options_.tables == nullptr) return {};
  if (place_.empty())
    throw error{errc::schema_missing,
                failure_of(doing(chore::scripting), guarded_.server()) +
                    "there is no place for the tables, since no schema that search_path names exists; create one, or "
                    "name another"};
  return to_make_tables + ("SET LOCAL search_path = " + place_) + ", pg_temp; ";
}

std::string postgresql_session::locking_migrations(const std::optional<duration>& left) const {
  return making_tables() + "SET LOCAL lock_timeout = " + milliseconds(servers_wait(left.value_or(duration{0}))) +
         "; SET LOCAL statement_timeout = " + milliseconds(left ? servers_limit(*left) : duration{0}) +
         "; SELECT pg_advisory_xact_lock(" + migration_lock +
         "); SET LOCAL lock_timeout = " + milliseconds(change_wait);
}

}  // namespace rowlock::inline v1::driver
