#include "driver/postgresql/session.hpp"

#include <rowlock/error.hpp>

#include <array>
#include <memory>
#include <new>
#include <utility>

#include "base/boot_clock.hpp"
#include "driver/failure_meaning.hpp"
#include "driver/postgresql/connect.hpp"
#include "driver/postgresql/errors.hpp"
#include "driver/postgresql/values.hpp"
#include "driver/scoped_value.hpp"
#include "driver/server_session.hpp"

namespace rowlock::inline v1::driver {

namespace {

using namespace std::chrono_literals;

// --- constants -------------------------------------------------------------------------------------------------------

constexpr int oldest_server = 130000;
constexpr const char* setting_up = "setting up the connection";
constexpr const char* migrating = "migrating";
constexpr const char* beginning = "beginning a transaction";
constexpr const char* committing = "committing";
constexpr const char* rolling_back = "rolling back";
constexpr const char* waiting_to_migrate = "waiting for another client's migration";
constexpr const char* begin_transaction = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE NOT DEFERRABLE";
// Of the schema in which tables are made: a migration in another schema does not wait for this one. The seed is any
// number that nobody else uses.
constexpr const char* migration_lock = "hashtextextended(coalesce(current_schema(), ''), 5705204214218813291)";

// A wait for another session's row lock ends before the server begins to look for deadlocks (deadlock_timeout, 1 s).
constexpr const char* row_lock_wait = "100";

// Not at a level that may wait for other transactions. This must be the first statement.
constexpr const char* at_once = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; ";

// For this transaction alone: what another client of a pooler has left in the session is no place for our tables.
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

// Columns: the first schema of search_path that has the lock table, else the first one; whether it has it.
constexpr std::string_view place = R"(p.schema, p.has_tables FROM (SELECT) one LEFT JOIN (
  SELECT quote_ident(s::text) AS schema, EXISTS (
    SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = s AND c.relname = '{prefix}lock') AS has_tables
  FROM unnest(current_schemas(false)) WITH ORDINALITY u (s, position) WHERE left(s::text, 8) <> 'pg_temp_'
  ORDER BY has_tables DESC, position LIMIT 1) p ON true)";

// --- settings --------------------------------------------------------------------------------------------------------

std::string milliseconds(duration d) { return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(d).count()); }

// Later than the client's limit, so that the client's is the one that ends a call.
duration servers_limit(duration clients) { return clients + 500ms; }

// Independent of the defaults of the server, the database and the role. The planner's settings fit tables with
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
  // Stronger than "on" is only remote_apply.
  return out.append(
      "SELECT set_config('synchronous_commit', "
      "CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false); ");
}

}  // namespace

// --- set-up ----------------------------------------------------------------------------------------------------------

postgresql_session::postgresql_session(const postgresql_address& to, postgresql_options options,
                                       call_watchdog& watchdog, const limits& until)
    : options_{std::move(options)},
      connection_{
          connect(to, until),
          [this](const char* notice) { standby_was_lost_ = standby_was_lost_ || tells_of_lost_standby(notice); }},
      guarded_{name_of_server(connection_.raw()), watchdog, PQsocket(connection_.raw()), [this] { report_lost(); }},
      statement_names_{"rowlock_" + std::to_string(random_number()) + "_"} {
  set_up(until);
}

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

// Tables that are made later are found then. In a migration they are where it makes them; it may be rolled back.
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

// Names are compared by their bytes, and those of another encoding are in another order. SQL_ASCII keeps what it is
// given.
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

// --- one round trip --------------------------------------------------------------------------------------------------

template <class Send>
pqxx::result postgresql_session::call(const purpose& why, const limits& until, Send send) {
  standby_was_lost_ = false;
  const purpose what{.doing = why.doing, .writing = in_doubt(why)};
  auto out = guarded_.call(what, until, send, [&](const std::exception& e) { fail(e, what); });
  if (standby_was_lost_ && what.writing)
    throw error{errc::outcome_unknown, failure_of(why.doing, guarded_.server()) +
                                           "the wait for the synchronous standby was cancelled, so a failover may "
                                           "lose this commit"};
  return out;
}

pqxx::result postgresql_session::simple(const std::string& sql, const purpose& why, const limits& until) {
  return call(why, until, [&] { return connection_.execute_script(sql); });
}

void postgresql_session::execute(const std::string& sql, std::span<const request> batch, shape s, const purpose& why,
                                 const limits& until, std::vector<row>& to) {
  look_for_tables(until);
  statement& of = known(sql);
  const auto values = fill(of.parameters, batch, s);
  append_rows(to, call(why, until, [&] {
                if (options_.transaction_pooling) return connection_.execute(of.sql, values);
                if (!of.is_prepared) connection_.prepare(of.name, of.sql);
                of.is_prepared = true;
                return connection_.execute_prepared(of.name, values);
              }));
}

postgresql_session::statement& postgresql_session::known(const std::string& sql) {
  return statements_.find_or_make(sql, [&] { return make_statement(sql); });
}

postgresql_session::statement postgresql_session::make_statement(const std::string& sql) {
  const auto parameters = parameters_in(sql);
  if (parameters > values_.size())
    throw error{errc::database_error,
                "a statement has more parameters than a request has arguments; this is a bug in rowlock"};
  return {.name = statement_names_ + std::to_string(++statements_made_),
          .sql = sheets::replaced(sql, sheets::place_mark, place_.empty() ? "" : place_ + "."),
          .parameters = parameters};
}

postgresql_values postgresql_session::fill(std::size_t parameters, std::span<const request> batch, shape s) {
  for (std::size_t i = 0; i < parameters; ++i) {
    bool is_null = false;
    if (s == shape::arrays) {
      write_array(texts_[i], batch, i);
    } else {
      is_null = !write_scalar(texts_[i], batch[0][i]);
    }
    values_[i] = is_null ? nullptr : texts_[i].c_str();
  }
  return {values_.data(), parameters};
}

void postgresql_session::fail(const std::exception& e, const purpose& why) {
  const bool is_lost = is_about_connection(e) || is_in_doubt(e) || PQstatus(connection_.raw()) != CONNECTION_OK;
  if (is_lost) guarded_.die();
  // About a broken connection libpqxx 6.4 only says that it could not obtain the client encoding.
  const char* heard = PQerrorMessage(connection_.raw());
  const std::string message = is_lost && *heard != '\0' ? heard : e.what();
  const std::string sqlstate = detail::sqlstate_of(e);
  throw postgresql_error({.message = message,
                          .sqlstate = sqlstate,
                          .connection_lost = is_lost,
                          .writing = why.writing,
                          .behind_pooler = is_behind_unnamed_pooler()},
                         guarded_.server(), why.doing);
}

// A pooler tells its clients a number of its own as that of their session.
bool postgresql_session::is_behind_unnamed_pooler() const noexcept {
  return !options_.transaction_pooling && id_.pid != 0 && id_.pid != PQbackendPID(connection_.raw());
}

void postgresql_session::report_lost() {
  if (!options_.transaction_pooling && id_.pid != 0 && options_.lost) options_.lost(id_);
}

// --- transactions ----------------------------------------------------------------------------------------------------

template <class Body>
void postgresql_session::or_else(const char* undo, const limits& until, Body body) {
  try {
    body();
  } catch (const error& e) {
    if (!undone(undo, until)) throw on_lost_connection(e);
    throw;
  } catch (...) {
    undone(undo, until);
    throw;
  }
}

bool postgresql_session::undone(const char* sql, const limits& until) noexcept {
  if (guarded_.is_dead()) return false;
  try {
    simple(sql, {rolling_back}, until);
    return true;
  } catch (...) {
    guarded_.close_later();  // which also rolls back
    return false;
  }
}

template <class Body>
void postgresql_session::in_transaction(const limits& until, Body body) {
  if (is_in_transaction_) return body();
  simple(begin_transaction, {beginning}, until);
  {
    const scoped_value inside{is_in_transaction_, true};
    or_else("ROLLBACK", until, body);
  }
  simple("COMMIT", {.doing = committing, .writing = true}, until);
}

// A statement that fails ends the whole transaction, unless it is in a savepoint.
template <class Body>
void postgresql_session::in_savepoint(const limits& until, Body body) {
  if (!is_in_transaction_) return body();
  simple("SAVEPOINT rowlock", {beginning}, until);
  or_else("ROLLBACK TO SAVEPOINT rowlock; RELEASE SAVEPOINT rowlock", until, body);
  simple("RELEASE SAVEPOINT rowlock", {committing}, until);
}

// --- the session -----------------------------------------------------------------------------------------------------

std::string postgresql_session::making_tables() const {
  if (options_.tables == nullptr) return {};
  if (place_.empty())
    throw error{errc::schema_missing,
                failure_of(migrating, guarded_.server()) +
                    "there is no place for the tables, since no schema that search_path names exists; create one, or "
                    "name another"};
  return to_make_tables + ("SET LOCAL search_path = " + place_) + ", pg_temp; ";
}

// Waits for another client's migration as long as there is time, and gives up by itself before it is cut. For the
// tables it waits a moment at a time: what it has locked until then is unlocked with the savepoint.
void postgresql_session::exclusively(const std::function<void()>& body, const limits& until) {
  in_transaction(until, [&] {
    look_for_tables(until);
    const auto left = time_left(until);
    simple(making_tables() + "SET LOCAL lock_timeout = " + milliseconds(servers_wait(left.value_or(duration{0}))) +
               "; SET LOCAL statement_timeout = " + milliseconds(left ? servers_limit(*left) : duration{0}) +
               "; SELECT pg_advisory_xact_lock(" + migration_lock +
               "); SET LOCAL lock_timeout = " + milliseconds(change_wait),
           {waiting_to_migrate}, until);
    const scoped_value around{around_, std::optional{until}};
    insist_on_change(
        until, [&] { in_savepoint(until, body); }, [](const error& e) { return e.code() == errc::call_timed_out; });
  });
}

// A notification is sent by the commit of its statement, which is undone if the server does not take it. Then the work
// is done without.
std::vector<row> postgresql_session::do_run(const sheets::step& what, std::span<const request> batch,
                                            const limits& until) {
  std::optional<sheets::step> silent;
  try {
    return run_once(what, batch, until);
  } catch (const error& e) {
    if (is_about_notices(e)) silent = sheets::postgresql_without_notices(what);
    if (!silent) throw;
  }
  return run_once(*silent, batch, until);
}

// Its queue is full, or cannot be written; or a transaction that has notified others has its lock, and waits for a
// standby. A row lock that was waited for in vain reads like the last one: then the second try tells.
bool postgresql_session::is_about_notices(const error& e) const {
  const auto state = e.sqlstate();
  const bool out = (state == "54000" || state == "55P03" || state == "53100" || state == "58030") &&
                   !e.connection_is_unusable() && !is_in_transaction_;
  if (out && state == "54000" && options_.warning)
    options_.warning(guarded_.server() +
                     " takes no more notifications, so waiters hear of releases late; end the session that listens and "
                     "stays in a transaction (the server's log names it)");
  return out;
}

std::vector<row> postgresql_session::run_once(const sheets::step& what, std::span<const request> batch,
                                              const limits& until) {
  std::vector<row> rows;
  if (batch.empty()) return rows;
  const auto all = [&] { carry_out(what, batch, until, rows); };
  if (is_kept_open_) {
    all();
  } else if (must_say_isolation_ && !is_in_transaction_) {
    in_transaction(until, all);
  } else {
    in_savepoint(until, all);
  }
  return rows;
}

void postgresql_session::carry_out(const sheets::step& what, std::span<const request> batch, const limits& until,
                                   std::vector<row>& to) {
  const bool writing = what.write || !what.read;
  const purpose why{.doing = sheets::doing(what.verb), .writing = writing};
  const auto& one = what.write ? what.write : what.read;
  if (batch.size() == 1 && one) return execute(*one, batch, shape::scalars, why, until, to);
  const auto& many = what.batch_waits && !is_about_one_row(batch) ? what.batch_skipping : what.batch;
  if (many) return execute(*many, batch, shape::arrays, why, until, to);
  const auto each = [&] {
    for (std::size_t i = 0; i < batch.size(); ++i)
      execute(one.value(), batch.subspan(i, 1), shape::scalars, why, until, to);
  };
  if (writing) return in_transaction(until, each);
  each();
}

// Behind PgBouncer a transaction has one of the server's sessions for itself, with the settings of other clients.
void postgresql_session::do_begin(const limits& until) {
  std::string sql = begin_transaction;
  if (options_.transaction_pooling) {
    sql.append("; SET LOCAL idle_in_transaction_session_timeout = ").append(milliseconds(*options_.transaction_limit));
    sql.append("; SET LOCAL lock_timeout = ").append(row_lock_wait);
    sql.append("; SET LOCAL synchronous_commit = ").append(options_.durable_release ? "on" : "off");
    if (PQserverVersion(connection_.raw()) >= 170000) sql.append("; SET LOCAL transaction_timeout = 0");
  }
  simple(sql, {beginning}, until);
  is_in_transaction_ = is_kept_open_ = true;
}

void postgresql_session::do_commit(const limits& until) { commit_with("", until); }

// In one round trip, and in a transaction of its own after the commit, which has notified nobody: so what is about
// notices did not come from it.
void postgresql_session::do_commit_and_tell(const sheets::step& next, const request& of, const limits& until) try {
  commit_with(next.read ? "; " + with_literals(known(*next.read).sql, of) : std::string{}, until);
} catch (const error& e) {
  if (!is_about_notices(e)) throw;
}

void postgresql_session::commit_with(const std::string& after, const limits& until) {
  is_in_transaction_ = is_kept_open_ = false;
  simple("COMMIT" + after, {.doing = committing, .writing = true}, until);
}

// For the simple protocol, which has no parameters.
std::string postgresql_session::with_literals(std::string_view sql, const request& of) const {
  std::string out;
  for (auto at = next_parameter(sql); at != std::string_view::npos; at = next_parameter(sql)) {
    out.append(sql.substr(0, at));
    const auto words = std::get<std::string_view>(of.at(static_cast<std::size_t>(sql.at(at + 1) - '1')));
    const std::unique_ptr<char, decltype(&PQfreemem)> quoted{
        PQescapeLiteral(connection_.raw(), words.data(), words.size()), PQfreemem};
    if (!quoted) throw std::bad_alloc{};
    out.append(quoted.get());
    sql.remove_prefix(at + 2);
  }
  return out.append(sql);
}

void postgresql_session::do_rollback(const limits& until) {
  is_in_transaction_ = is_kept_open_ = false;
  simple("ROLLBACK", {rolling_back}, until);
}

void postgresql_session::do_script(const std::string& sql) {
  const limits until = limits_of_script(around_, options_.call_timeout);
  in_savepoint(until, [&] { simple(sql, {.doing = migrating, .writing = true}, until); });
}

std::int64_t postgresql_session::do_change_count(const limits& /*until*/) {
  throw error{errc::unsupported, "PostgreSQL does not count the commits of other sessions"};
}

}  // namespace rowlock::inline v1::driver
