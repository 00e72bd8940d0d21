#include <algorithm>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "core/checks.hpp"
#include "core/lease.hpp"
#include "core/wait.hpp"
#include "driver/boot_clock.hpp"
#include "runtime/client_impl.hpp"
#include "runtime/wish.hpp"
#include "strategy/inspection.hpp"

namespace rowlock::inline v1::detail {

struct client_impl::tried {
  std::optional<held_lock> held{};
  runtime::patience::refusal why{};
};

/// What a try got that was sent then.
struct client_impl::got {
  core::instant sent{};
  strategies::answer answer{};
  std::unique_ptr<runtime::held_transaction> transaction{};
};

std::optional<held_lock> client_impl::acquire(const lock_name& name, const lock_options& options,
                                              const std::optional<holder>& by, duration wait,
                                              const std::stop_token& stop) {
  if (is_foreign()) check_usable();
  runtime::asking call{counters_, options.strategy};
  const wish what{.name = name,
                  .options = options,
                  .by = by ? *by : holder::unique(),
                  .is_reentrant = by.has_value(),
                  .call = &call};
  auto held = get(what, wait, stop);
  using enum runtime::counters::outcome;
  call.ends(held ? acquired : stop.stop_requested() ? cancelled : busy);
  if (!held && !stop.stop_requested() && reporter_.wants_all())
    reporter_.add({events::busy{.name = name, .strategy = options.strategy, .waited = call.elapsed()}});
  return held;
}

std::optional<held_lock> client_impl::try_acquire_for_itself(const lock_name& name, const lock_options& options,
                                                             const std::stop_token& stop) {
  return get({.name = name, .options = options, .by = holder::unique(), .is_reentrant = false}, duration::zero(), stop);
}

std::optional<held_lock> client_impl::get(const wish& what, duration wait, const std::stop_token& stop) {
  core::check(what.options);
  const entered under_way{*this};
  if (stop.stop_requested()) return std::nullopt;
  if (auto held = again(what)) return held;
  if (what.is_fair()) leave_behind_no_ticket(what.name, wait, stop);
  if (wait <= duration::zero()) return try_only_once(what, stop);
  return wait_for(what, core::later(driver::now(), wait), stop);
}

std::optional<held_lock> client_impl::again(const wish& what) {
  if (!what.is_reentrant) return std::nullopt;
  auto a = holdings_.again(what.name, what.by, driver::now());
  if (a && what.call != nullptr) what.call->ends_at_once();
  return a ? std::optional{held_lock{std::move(a)}} : std::nullopt;
}

std::optional<held_lock> client_impl::try_only_once(const wish& what, const std::stop_token& stop) try {
  return try_once(what, call_limits(stop)).held;
} catch (const error& e) {
  if (e.code() == errc::cancelled && stop.stop_requested()) return std::nullopt;
  throw;
}

// Only a try that finds nobody waiting may go before the line.
std::optional<held_lock> client_impl::wait_for(wish what, core::instant deadline, const std::stop_token& stop) {
  runtime::patience so_far{deadline};
  if (line_.is_empty(what.name))
    if (auto held = try_while_waiting(what, so_far, stop)) return held;
  auto held = so_far.is_over() ? std::nullopt : wait_in_line(std::move(what), so_far, stop);
  if (!held && !stop.stop_requested() && !was_hurried(so_far)) so_far.throw_if_never_answered();
  return held;
}

// Whoever gives less time than a call may take hears that it was not enough by getting nothing. Not where a call was
// given more than that, and the server said nothing all the same.
bool client_impl::was_hurried(const runtime::patience& so_far) const noexcept {
  const auto& failure = so_far.failure();
  if (!failure || so_far.given() >= options_.call_timeout) return false;
  if (failure->code() == errc::pool_exhausted) return true;
  return failure->code() == errc::call_timed_out && database_->least_call() == duration::zero();
}

// Listen, commit a ticket, try, sleep: whoever lets go after the ticket was committed knows of it, and whoever did
// before the try is seen by it. A release that began before the one and ends after the other is neither: for that the
// first pauses are short. One whose ticket is gone, because it was stopped for long, has lost its place and takes
// another.
std::optional<held_lock> client_impl::wait_in_line(wish what, runtime::patience& so_far, const std::stop_token& stop) {
  const runtime::subscription foreign_hints{sources_};
  queued in{*this, what.name};
  what.place = &in.place;
  if (auto held = again(what)) return held;  // since the first look, before anybody could tell this place
  for (bool is_first = false;;) {
    if (so_far.is_over()) return std::nullopt;  // what was begun now could come back late
    if (what.ticket() == 0) take_ticket(what, so_far, stop);
    const bool has_to_do = what.place->is_first() || what.ticket() == 0;
    const auto outcome = what.place->wait(has_to_do ? so_far.next_try() : so_far.deadline(), stop);
    check_usable();
    if (outcome == runtime::waiting_line::outcome::stopped) return std::nullopt;
    if (outcome == runtime::waiting_line::outcome::out_of_time && so_far.is_over()) return std::nullopt;
    what.place->listen();
    if (auto held = again(what)) return held;
    const bool was_behind = !std::exchange(is_first, what.place->is_first());
    if (!is_first || what.ticket() == 0) continue;
    if (was_behind) so_far.begin_again();
    if (auto held = try_while_waiting(what, so_far, stop)) return held;
    for (const auto& each : sources_) each->look_sooner();
  }
}

driver::limits client_impl::limits_while_waiting(const runtime::patience& so_far, const std::stop_token& stop) const {
  driver::limits until = call_limits(stop);
  const auto least = core::later(driver::now(), database_->least_call());
  until.deadline = std::min(until.deadline, std::max(so_far.deadline(), least));
  return until;
}

std::optional<held_lock> client_impl::try_while_waiting(const wish& what, runtime::patience& so_far,
                                                        const std::stop_token& stop) try {
  auto result = try_once(what, limits_while_waiting(so_far, stop));
  if (!result.held) so_far.was_refused(result.why);
  return std::move(result.held);
} catch (const error& e) {
  ride_out(e, holds_by_transaction(what.options.strategy), so_far, stop);
  return std::nullopt;
}

void client_impl::ride_out(const error& e, bool has_transactions, runtime::patience& so_far,
                           const std::stop_token& stop) {
  const bool stopped = e.code() == errc::cancelled && stop.stop_requested();
  // Who has all the transactions may be waiting for this very one to give up.
  const bool is_pool_full = e.code() == errc::pool_exhausted && has_transactions;
  if (!stopped && (is_pool_full || (!e.is_retryable() && !e.outcome_is_unknown()))) throw error{e};
  so_far.failed(e);
}

client_impl::tried client_impl::try_once(const wish& what, const driver::limits& until) {
  for (int tries = 1;; ++tries) {
    const std::string id = ids_.next();
    auto result = get(what, id, until);
    if (!result.answer.has_place) line_.displace(what.place->ticket());
    const bool is_free = result.answer.what == strategies::verdict::behind;
    if (is_free || result.answer.what == strategies::verdict::busy)
      return {.why = {.left = result.answer.left,
                      .is_free = is_free,
                      .is_behind = result.answer.is_behind,
                      .is_told = is_told()}};
    if (result.answer.what == strategies::verdict::granted)
      if (auto held = keep(what, id, std::move(result))) return {.held = std::move(held)};
    if (tries == core::inconclusive_tries) return {};
    std::this_thread::sleep_for(core::inconclusive_pause(tries));
  }
}

// To find out what became of a call that was cut, and to end its session before it comes true after all.
driver::limits client_impl::leaving_a_tenth(driver::limits until) {
  until.deadline -= std::max<duration>(until.deadline - driver::now(), duration::zero()) / 10;
  return until;
}

strategies::attempt client_impl::attempt_of(const wish& what, const std::string& id) const {
  return {.name = what.name.view(),
          .owner = owner_,
          .thread = what.by.text(),
          .acquisition = id,
          .note = what.options.note,
          .lease = what.options.lease};
}

bool client_impl::holds_by_transaction(rowlock::strategy s) const noexcept {
  return s == strategy::for_update && database_->has_row_locks();
}

// Those that write who has the name into the row; all of them keep it and let it go alike.
const strategies::algorithm& client_impl::algorithm_of(rowlock::strategy s) const noexcept {
  if (s == strategy::version_cas) return version_cas_;
  if (s == strategy::for_update) return liveness_rows_;
  return unique_index_;
}

client_impl::got client_impl::get(const wish& what, const std::string& id, const driver::limits& until) {
  check_usable();
  if (holds_by_transaction(what.options.strategy)) return hold(what, id, until);
  const core::instant sent = driver::now();
  return {.sent = sent, .answer = ask(what, id, until)};
}

std::unique_ptr<runtime::pool::loan> client_impl::lend_transaction(const driver::limits& until) try {
  return transactions_.lend(until);
} catch (const error& e) {
  failed(e);
  throw;
}

// A session is wanted for a try, and is all there is to keep or to close: nothing was committed, and so nothing is left
// to undo. Where its end did not reach the server, the server is told by another.
client_impl::got client_impl::hold(const wish& what, const std::string& id, const driver::limits& until) {
  if (holdings_.has(what.name)) return {.answer = {.what = strategies::verdict::busy}};
  attendant_.start();
  const auto first = leaving_a_tenth(until);
  auto session = lend_transaction(first);
  try {
    require_fit_schema(**session, first);
    if (const auto refused = refused_by_queue(what, **session, first)) return {.answer = *refused};
    got out{.sent = driver::now()};
    out.answer = for_update_.acquire(**session, attempt_of(what, id), first);
    if (out.answer.what == strategies::verdict::granted)
      out.transaction = std::make_unique<runtime::held_transaction>(std::move(session));
    if (out.transaction && what.ticket() != 0) leave_queue_on_another(what, until);
    return out;
  } catch (const error& e) {
    failed(e);
    e.connection_is_unusable() ? session->lose() : session->discard();
    session.reset();
    if (e.code() == errc::schema_missing) schema_fits_ = false;
    if (e.connection_is_unusable()) end_lost_sessions(until);
    throw;
  } catch (...) {
    if (session) session->discard();
    throw;
  }
}

strategies::answer client_impl::ask(const wish& what, const std::string& id, const driver::limits& until) try {
  auto one = attempt_of(what, id);
  const std::string liveness = what.options.strategy == strategy::for_update ? database_->liveness() : std::string{};
  one.liveness = liveness;
  const auto first = leaving_a_tenth(until);
  const auto& by = algorithm_of(what.options.strategy);
  const bool database_asks = what.options.strategy == strategy::unique_index &&
                             !sql_[dialect::verb::acquire_in_turn].act.empty() &&
                             (what.is_fair() || what.ticket() != 0);
  if (database_asks) one.queued = {.ticket = what.ticket(), .turn = what.is_fair() ? what.turn() : 0};
  return on_session(first, [&](driver::session& on) {
    if (!database_asks)
      if (const auto refused = refused_by_queue(what, on, first)) return *refused;
    const auto answer = by.acquire(on, {&one, 1}, first).at(0);
    if (answer.has_left) what.place->give_up_ticket();
    if (answer.what == strategies::verdict::granted) leave_queue(what, on, first);
    return answer;
  });
} catch (const error& e) {
  if (!e.outcome_is_unknown()) throw;
  if (auto granted = adopt(what, id, until)) return *granted;
  const bool has_lease = what.options.strategy != strategy::for_update;
  auto entry = to_undo(what.name, id, has_lease ? what.options.lease : duration::max(), driver::now());
  entry.may_appear = has_lease;  // what has none is in a file, where nothing comes late
  undo_later(std::move(entry));
  throw;
}

// The reply was lost; was the lock? A row that carries the id is ours. Where there is none, the statement may be under
// way yet: then it is undone, not believed in. Whatever is adopted here is not on the undo list.
std::optional<strategies::answer> client_impl::adopt(const wish& what, const std::string& id,
                                                     const driver::limits& until) noexcept try {
  if (driver::now() >= until.deadline || until.stop.stop_requested()) return std::nullopt;
  return on_session(
      until,
      [&](driver::session& on) -> std::optional<strategies::answer> {
        database_->end_lost_sessions(on, until);
        const auto row = strategies::look_at(sql_, on, what.name.view(), until);
        if (!row || !row->is_held_by(id)) return std::nullopt;
        return strategies::answer{.what = strategies::verdict::granted, .token = row->token, .left = row->left};
      },
      runtime::purpose::letting_go);
} catch (const std::exception&) {
  return std::nullopt;
}

std::shared_ptr<acquisition> client_impl::acquisition_of(const wish& what, const std::string& id, got granted) {
  const bool has_lease = what.options.strategy != strategy::for_update;
  auto a = has_lease ? std::make_shared<acquisition>(shared_from_this(), what.name, what.by, id, what.options)
                     : std::make_shared<acquisition>(shared_from_this(), what.name, what.by, id, what.options,
                                                     options_.transaction_limit, std::move(granted.transaction));
  a->counts = what.call == nullptr ? nullptr : &counters_;
  a->asked_at = granted.sent;
  a->token = granted.answer.token;
  if (what.options.hold_limit) a->hold_limit = core::later(granted.sent, *what.options.hold_limit);
  a->set_first_left(granted.sent, granted.answer.left.value_or(a->lease()), driver::now());
  a->set_renewal_due(core::renewal_due(granted.sent, a->lease()));
  return a;
}

// nullopt: the answer took so long that the lease is not to be believed in.
std::optional<held_lock> client_impl::keep(const wish& what, const std::string& id, got granted) {
  const auto a = acquisition_of(what, id, std::move(granted));
  if (a->deadline() <= driver::now()) {
    if (!a->transaction) undo_later(to_undo(*a));
    return std::nullopt;
  }
  // Since the grant at least as much time has passed at the database as since its answer came here.
  a->stays_until = core::later(driver::now(), a->at_least);
  const auto tell = [&] {
    reporter_.add({events::acquired{
        .name = a->name, .token = a->token, .strategy = a->strategy, .waited = what.call->elapsed()}});
  };
  const bool is_told_of = what.call != nullptr && reporter_.wants_all();
  if (!holdings_.add(a, what.is_reentrant,
                     is_told_of ? std::function<void()>{tell} : nullptr)) {  // closed since: nobody has worked under it
    a->stays_until = core::instant::min();
    let_go(*a);
    check_usable();
  }
  watchdog_.arm(a->deadline());
  if (a->renews) keeper_.arm(a->renewal_due());
  if (a->transaction) attendant_.attend(a);
  if (what.options.as) line_.hint_everybody(what.name);  // the same holder may wait there more than once
  return held_lock{a};
}

}  // namespace rowlock::inline v1::detail
