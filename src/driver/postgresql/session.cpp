#include "driver/postgresql/session.hpp"

#include <rowlock/error.hpp>

#include <array>
#include <memory>
#include <new>
#include <utility>

#include "driver/failure_meaning.hpp"
#include "driver/postgresql/connect.hpp"
#include "driver/postgresql/errors.hpp"
#include "driver/postgresql/values.hpp"
#include "driver/server_session.hpp"

namespace rowlock::inline v1::driver {

namespace {

constexpr const char* begin_transaction = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE NOT DEFERRABLE";
constexpr const char* waiting_to_migrate = "waiting for another client's migration";

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

// --- one round trip --------------------------------------------------------------------------------------------------

template <class Send>
pqxx::result postgresql_session::call(const call_description& why, const limits& until, Send send) {
  standby_was_lost_ = false;
  const call_description what{.doing = why.doing, .writing = in_doubt(why)};
  auto out = guarded_.call(what, until, send, [&](const std::exception& e) { fail(e, what); });
  if (standby_was_lost_ && what.writing)
    throw error{errc::outcome_unknown, failure_of(why.doing, guarded_.server()) +
                                           "the wait for the synchronous standby was cancelled, so a failover may "
                                           "lose this commit"};
  return out;
}

pqxx::result postgresql_session::simple(const std::string& sql, const call_description& why, const limits& until) {
  return call(why, until, [&] { return connection_.execute_script(sql); });
}

void postgresql_session::execute(const std::string& sql, std::span<const request> batch, shape s,
                                 const call_description& why, const limits& until, std::vector<row>& to) {
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

void postgresql_session::fail(const std::exception& e, const call_description& why) {
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

// A pooler gives its clients a number of its own for their session.
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
    simple(sql, {doing(chore::rolling_back)}, until);
    return true;
  } catch (...) {
    guarded_.close_later();  // which also rolls back
    return false;
  }
}

template <class Body>
void postgresql_session::in_transaction(const limits& until, Body body) {
  if (is_in_transaction_) return body();
  simple(begin_transaction, {doing(chore::beginning)}, until);
  {
    const scoped_value inside{is_in_transaction_, true};
    or_else("ROLLBACK", until, body);
  }
  simple("COMMIT", {.doing = doing(chore::committing), .writing = true}, until);
}

// A statement that fails ends the whole transaction, unless it is in a savepoint.
template <class Body>
void postgresql_session::in_savepoint(const limits& until, Body body) {
  if (!is_in_transaction_) return body();
  simple("SAVEPOINT rowlock", {doing(chore::beginning)}, until);
  or_else("ROLLBACK TO SAVEPOINT rowlock; RELEASE SAVEPOINT rowlock", until, body);
  simple("RELEASE SAVEPOINT rowlock", {doing(chore::committing)}, until);
}

// --- the session -----------------------------------------------------------------------------------------------------

// Waits for another client's migration within the deadline, and gives up by itself before it is cut. For the tables it
// waits a moment at a time: the locks that it has by then are released with the savepoint.
void postgresql_session::exclusively(const std::function<void()>& body, const limits& until) {
  in_transaction(until, [&] {
    look_for_tables(until);
    simple(locking_migrations(time_left(until)), {waiting_to_migrate}, until);
    const scoped_value around{around_, std::optional{until}};
    insist_on_change(
        until, [&] { in_savepoint(until, body); }, [](const error& e) { return e.code() == errc::call_timed_out; });
  });
}

// A notification is sent by the commit of its statement, which is undone if the server does not accept it. Then the
// work is done without a notification.
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

// Its queue is full, or cannot be written; or a transaction that has notified others holds its lock, and waits for a
// standby. A failed wait for a row lock looks like the last case: then the second try distinguishes them.
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
  const call_description why{.doing = sheets::doing(what.verb), .writing = writing};
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

void postgresql_session::do_begin(const limits& until) {
  simple(begin_transaction + settings_of_transaction(), {doing(chore::beginning)}, until);
  is_in_transaction_ = is_kept_open_ = true;
}

void postgresql_session::do_commit(const limits& until) { commit_with("", until); }

// In one round trip, and in a transaction of its own after the commit, which has sent no notification: so an error
// about notifications did not come from it.
void postgresql_session::do_commit_and_tell(const sheets::step& next, const request& of, const limits& until) try {
  commit_with(next.read ? "; " + with_literals(known(*next.read).sql, of) : std::string{}, until);
} catch (const error& e) {
  if (!is_about_notices(e)) throw;
}

void postgresql_session::commit_with(const std::string& after, const limits& until) {
  is_in_transaction_ = is_kept_open_ = false;
  simple("COMMIT" + after, {.doing = doing(chore::committing), .writing = true}, until);
}

// For the simple protocol, which has no parameters.
std::string postgresql_session::with_literals(std::string_view sql, const request& of) const {
  return sheets::with_literals(sql, '$', '"', [&](std::size_t place) {
    const auto words = std::get<std::string_view>(of.at(place));
    const std::unique_ptr<char, decltype(&PQfreemem)> quoted{
        PQescapeLiteral(connection_.raw(), words.data(), words.size()), PQfreemem};
    if (!quoted) throw std::bad_alloc{};
    return std::string{quoted.get()};
  });
}

void postgresql_session::do_rollback(const limits& until) {
  is_in_transaction_ = is_kept_open_ = false;
  simple("ROLLBACK", {doing(chore::rolling_back)}, until);
}

void postgresql_session::do_script(const std::string& sql) {
  const limits until = limits_of_script(around_, options_.call_timeout);
  in_savepoint(until, [&] { simple(sql, {.doing = doing(chore::scripting), .writing = true}, until); });
}

}  // namespace rowlock::inline v1::driver
