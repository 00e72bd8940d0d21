#include "driver/mysql/session.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "core/error_detail.hpp"
#include "driver/failure_meaning.hpp"
#include "driver/mysql/connector.hpp"
#include "driver/mysql/errors.hpp"
#include "driver/server_session.hpp"

namespace rowlock::inline v1::driver {

// --- set-up ----------------------------------------------------------------------------------------------------------

mysql_session::mysql_session(const mysql_address& to, mysql_options options, call_watchdog& watchdog,
                             const limits& until)
    : options_{std::move(options)},
      must_be_encrypted_{to.must_be_encrypted()},
      avoids_tls_{must_avoid_tls(to)},
      place_{to.place()},
      connection_{connect(to, options_.call_timeout, until, options_.warning)},
      guarded_{to.server_name("MySQL"), watchdog, connection_->socket(),
               [this] {
                 if (is_marked_ && options_.lost) options_.lost(mark_);
               }},
      mark_{"rowlock." + std::to_string(random_number())} {
  set_up(to.database, until);
}

// --- one round trip --------------------------------------------------------------------------------------------------

template <class Send>
auto mysql_session::call(const call_description& why, const limits& until, Send send) {
  // A transaction that is not committed leaves nothing behind.
  const call_description what{.doing = why.doing, .writing = in_doubt(why)};
  return guarded_.call(what, until, send, [&](const std::exception& e) { fail(e, what); });
}

std::vector<row> mysql_session::simple(const std::string& sql, const call_description& why, const limits& until) {
  return call(why, until, [&] {
    std::vector<row> out;
    connection_->execute(sql, out);
    return out;
  });
}

mysql_session::statement& mysql_session::known(const std::string& text) {
  return statements_.find_or_make(
      text, [&] { return statement{.of = for_server(text, kind_, place_ + "."), .prepared = {}}; });
}

std::uint64_t mysql_session::execute(const std::string& text, const request& values, const call_description& why,
                                     const limits& until, std::vector<row>& to) {
  statement& s = known(text);
  std::vector<const argument*> in_order;
  in_order.reserve(s.of.arguments.size());
  for (const std::size_t place : s.of.arguments) in_order.push_back(&values.at(place));
  return call(why, until, [&] {
    if (!s.prepared) s.prepared = prepare_if_there_is_room(s.of.sql);
    if (!s.prepared) return connection_->execute_with_types(with_literals(s.of.numbered, values), to);
    return s.prepared->execute(in_order, to);
  });
}

// nullptr: the server has reached its limit of prepared statements, counted over all its clients.
std::unique_ptr<connector_connection::statement> mysql_session::prepare_if_there_is_room(const std::string& sql) try {
  return connection_->prepare(sql);
} catch (const std::exception& e) {
  const auto what = sql_failure_of(e);
  if (!what || what->code != mysql_code::too_many_statements) throw;
  return nullptr;
}

// nullopt: the server has undone it because of a conflict.
std::optional<std::uint64_t> mysql_session::execute_unless_in_conflict(const std::string& text, const request& values,
                                                                       const call_description& why, const limits& until,
                                                                       std::vector<row>& to) try {
  return execute(text, values, why, until, to);
} catch (const error& e) {
  if (!was_in_conflict(e.native_code()) || !why.writing) throw;
  return std::nullopt;
}

// Most rows exist. After one that was new the next may be new, too, so the next requests begin with `making`: the more
// in a row were new, the more requests, since the answer of `making` does not say whether the row existed. If it saw a
// row that is deleted before it runs, the next look does not find that.
std::optional<std::uint64_t> mysql_session::execute_or_make(const std::string& text, const std::string& making,
                                                            const request& values, const call_description& why,
                                                            const limits& until, std::vector<row>& to) {
  constexpr std::size_t longest = 64;
  std::optional<std::uint64_t> changed;
  const auto is_enough = [&, before = to.size()](const std::string& which) {
    try {
      changed = execute_unless_in_conflict(which, values, why, until, to);
      return true;
    } catch (const error& e) {
      if (e.native_code() != mysql_code::out_of_range) throw;
      to.resize(before);
      return false;
    }
  };
  if (making_next_ > 0) {
    --making_next_;
  } else if (is_enough(text)) {
    made_lately_ = 0;
    return changed;
  } else {
    made_lately_ = std::clamp<std::size_t>(2 * made_lately_, 1, longest);
    making_next_ = made_lately_;
  }
  return is_enough(making) ? changed : execute_unless_in_conflict(making, values, why, until, to);
}

void mysql_session::fail(const std::exception& e, const call_description& why) {
  const auto what = sql_failure_of(e);
  // An exception that is no error of the server leaves the connection in an unknown state.
  const bool is_lost = !what || what->code == 0 || is_about_mysql_connection(what->code);
  if (is_lost) guarded_.die();
  if (!what) std::rethrow_exception(std::current_exception());
  throw mysql_error({.code = what->code,
                     .sqlstate = what->sqlstate,
                     .message = what->message,
                     .connection_lost = is_lost,
                     .writing = why.writing},
                    guarded_.server(), why.doing);
}

// --- transactions ----------------------------------------------------------------------------------------------------

// --- the session -----------------------------------------------------------------------------------------------------

// Most steps write in one statement and read the outcome in another. If only the second fails, for example because no
// time was left for it (max_execution_time is for SELECT alone), the work that the first has committed remains.
std::vector<row> mysql_session::do_run(const sheets::step& what, std::span<const request> batch,
                                       const limits& until) try {
  has_committed_ = false;
  std::vector<row> rows;
  if (batch.empty()) return rows;
  if (batch.size() == 1 || what.batch) {
    carry_out(what, batch, until, rows);
  } else {
    carry_out_each(what, batch, until, rows);
  }
  return rows;
} catch (const error& e) {
  if (!has_committed_ || e.outcome_is_unknown()) throw;
  throw detail::error_access::changed(e, [](auto& says) { says.outcome_unknown = true; });
}

std::vector<row> mysql_session::do_run_dirty(const sheets::step& what, const request& one, const limits& until) {
  // For the next transaction only.
  simple("SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED", {sheets::doing(what.verb)}, until);
  try {
    return do_run(what, {&one, 1}, until);
  } catch (...) {  // perhaps before it was sent
    guarded_.close_later();
    throw;
  }
}

void mysql_session::carry_out(const sheets::step& what, std::span<const request> batch, const limits& until,
                              std::vector<row>& to) {
  const bool is_one = batch.size() == 1 && (what.read || what.write);
  const auto& many = what.batch_waits && !is_about_one_row(batch) ? what.batch_skipping : what.batch;
  const auto& write = is_one ? what.write : many;
  const auto& read_back = is_one ? what.read_back : what.batch_read_back;
  const std::string json = is_one ? std::string{} : json_of(batch);
  const request values = is_one ? batch[0] : request{std::string_view{json}};
  const call_description why{.doing = sheets::doing(what.verb), .writing = what.write || !what.read};

  const auto answered = [&, before = to.size()] { return to.size() - before; };
  if (is_one && what.read) execute(*what.read, values, why, until, to);
  if (!write || answered() == batch.size()) return;
  if (const auto& then = is_one ? what.then : what.batch_then)
    return write_in_transaction({*write, *then, *read_back}, values, why, until, to);
  const auto& making = is_one ? what.making : what.batch_making;
  auto result = making && kind_ == mysql_kind::mariadb ? execute_or_make(*write, *making, values, why, until, to)
                                                       : execute_unless_in_conflict(*write, values, why, until, to);
  if (!result && !is_one && what.batch_skipping)
    result = execute_unless_in_conflict(*what.batch_skipping, values, why, until, to);
  if (!result && batch.size() > 1 && !what.takes_one && !what.takes_all) return carry_out_each(what, batch, until, to);
  if (!is_one && what.batch_skipping) drop_answers_of_others(what, batch, to);
  const auto changed = result.value_or(0);  // a conflict counts as if the row had been skipped
  has_committed_ = has_committed_ || (changed + answered() > 0 && why.writing && !is_in_transaction_);
  if (what.answered_by && changed == batch.size()) {
    for (const request& r : batch)
      to.push_back(
          {std::string{std::get<std::string_view>(r.at(what.key))}, std::get<std::int64_t>(r.at(*what.answered_by))});
    return;
  }
  // Both times as a write: without `read_back` the outcome of `write` is not known.
  if (what.counts) return answer_counted(what, batch, changed, read_back, values, why, until, to);
  if (what.always_changes && changed == 0) return;
  if (read_back && answered() < batch.size()) execute(*read_back, values, why, until, to);
}

// All or nothing, and in one message: a client that is paused or cut off meanwhile keeps no row locked, and other
// clients do not wait for its network. After a conflict nothing has happened, and nothing is answered.
void mysql_session::write_in_transaction(const texts_of_transaction& of, const request& values,
                                         const call_description& why, const limits& until, std::vector<row>& to) {
  const auto with_values = [&](const std::string& text) { return with_literals(known(text).of.numbered, values); };
  const auto change = "START TRANSACTION;\n" + with_values(of.write) + ";\n" + with_values(of.then) + ";\nCOMMIT";
  std::size_t carried_out = 0;
  try {
    call({.doing = why.doing, .writing = true}, until, [&] {
      connection_->execute_together(change + ";\n" + with_values(of.read_back), to, carried_out);
      return carried_out;
    });
  } catch (const error& e) {
    has_committed_ = carried_out >= count_of_statements(change);
    if (has_committed_ || e.connection_is_unusable()) throw;
    do_rollback(until);
    if (!was_in_conflict(e.native_code()) || e.code() == errc::call_timed_out) throw;
  }
}

// MariaDB answers each row that a batch met, including rows of other holders.
void mysql_session::drop_answers_of_others(const sheets::step& what, std::span<const request> batch,
                                           std::vector<row>& from) {
  if (from.empty()) return;
  std::unordered_set<std::string_view> own;
  for (const request& r : batch) own.insert(std::get<std::string_view>(r.at(what.key)));
  std::erase_if(from, [&](const row& r) { return !own.contains(text(r.at(0))); });
}

// Also if one request of a batch was in a conflict: then it is no obstacle to the others.
void mysql_session::carry_out_each(const sheets::step& what, std::span<const request> batch, const limits& until,
                                   std::vector<row>& to) {
  for (std::size_t i = 0; i < batch.size(); ++i) carry_out(what, batch.subspan(i, 1), until, to);
}

// For a batch that was not carried out as a whole, `read_back` answers, for each request that is still in its row,
// whether it could still be carried out. If these are as many as were not carried out, all others were carried out,
// whatever their rows contain by now.
void mysql_session::answer_counted(const sheets::step& what, std::span<const request> batch, std::uint64_t changed,
                                   const std::optional<std::string>& read_back, const request& values,
                                   const call_description& why, const limits& until, std::vector<row>& to) {
  const auto key_of = [&](const request& r) { return std::string{std::get<std::string_view>(r.at(what.key))}; };
  std::vector<row> rows;
  if (changed < batch.size() && read_back) execute(*read_back, values, why, until, rows);
  std::set<std::string> open;
  for (const row& r : rows)
    if (integer(r.at(1)) != 0) open.insert(text(r.at(0)));
  if (changed + open.size() >= batch.size()) {
    for (const request& r : batch)
      if (!open.contains(key_of(r))) to.push_back({key_of(r)});
  } else {
    for (const row& r : rows)
      if (!open.contains(text(r.at(0)))) to.push_back({text(r.at(0))});
  }
}

void mysql_session::do_begin(const limits& until) {
  simple("START TRANSACTION", {doing(chore::beginning)}, until);
  is_in_transaction_ = true;
}

void mysql_session::do_commit(const limits& until) {
  is_in_transaction_ = false;
  simple("COMMIT", {.doing = doing(chore::committing), .writing = true}, until);
}

void mysql_session::do_rollback(const limits& until) {
  is_in_transaction_ = false;
  simple("ROLLBACK", {doing(chore::rolling_back)}, until);
}

void mysql_session::do_script(const std::string& sql) {
  const limits until = limits_of_script(around_, options_.call_timeout);
  for (const auto& each : statements_of(sql)) simple(each, {.doing = doing(chore::scripting), .writing = true}, until);
}

// --- other sessions --------------------------------------------------------------------------------------------------

void mysql_session::end_session(const std::string& mark, const limits& until) {
  const timed scope{times(), chore::ending_sessions};
  const auto found = simple("SELECT IS_USED_LOCK('" + mark + "')", {doing(chore::ending_sessions)}, until);
  const auto id = text(found.at(0).at(0));
  if (!id.empty()) simple("KILL " + id, {doing(chore::ending_sessions)}, until);
}

void mysql_session::end_session(std::int64_t number, const limits& until) try {
  simple("KILL " + std::to_string(number), {.doing = "ending another session", .writing = true}, until);
} catch (const error& e) {
  if (e.native_code() != mysql_code::no_such_session) throw;
}

// In one statement, so that the number is never that of an earlier session. If no session holds the lock, the number is
// 0.
void mysql_session::interrupt_keeper_of(const std::string& lock, const limits& until) try {
  const timed scope{times(), chore::waking};
  simple("KILL QUERY IS_USED_LOCK('" + lock + "')", {doing(chore::waking)}, until);
} catch (const error& e) {
  const auto code = e.native_code();
  const bool is_in_vain =
      code == mysql_code::no_such_session || code == mysql_code::not_own_session || code == mysql_code::denied;
  if (!is_in_vain) throw;
}

}  // namespace rowlock::inline v1::driver
