#include "engine/lease/held_locks.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/boot_clock.hpp"
#include "base/text.hpp"
#include "core/checks.hpp"
#include "core/lease.hpp"
#include "store/leases.hpp"

namespace rowlock::inline v1::engine {

namespace {

duration left_of(const lease_state& a) noexcept { return std::max(a.deadline() - base::now(), duration::zero()); }

}  // namespace

held_locks::held_locks(gateway& db, local_wait_queue& queue, release_notices& notices, maintenance& on)
    : db_{db},
      notices_{notices},
      maintenance_{on},
      handover_{db, queue, registry_},
      watchdog_{registry_, *this},
      renewer_{db, registry_, *this},
      reconciler_{db, notices, on},
      turns_{db, registry_, on},
      heartbeat_{db, *this} {}

void held_locks::start() {
  maintenance_.add(renewer_);
  maintenance_.add(reconciler_);
  maintenance_.add(turns_);
  watchdog_.start();
}

void held_locks::admit(const lease_ptr& a, const std::function<void()>& first) {
  if (!registry_.add(a, first)) {  // closed since: no holder has worked under it
    a->stays_until = base::instant::min();
    thread_flow here;
    end(here, *a, db_.call_limits()).get();
    db_.check_usable();
  }
  keep(*a);
  if (a->transaction) heartbeat_.attend(a);
}

void held_locks::keep(const lease_state& a) {
  watchdog_.arm(a.deadline());
  if (a.renews) maintenance_.wake_at(a.renewal_due());
}

// --- releasing -------------------------------------------------------------------------------------------------------

// It is marked as released before its row is: no renewal is sent for it from then on, and a renewal that is under way
// finds no owner. If the release fails, or its outcome is unknown, the reconciler repeats it: a second release does
// nothing.
task<void> held_locks::release(flow& on, const lease_ptr& a) {
  if (db_.is_foreign()) throw lock_lost(*a, loss_reason::forked);
  const auto under_way = db_.enter_to_release();
  if (begin_release(a)) co_await end_release(on, a);
}

bool held_locks::begin_release(const lease_ptr& a) {
  const bool was_last = registry_.drop(*a);
  // The thread with the last handle may have released it since.
  const bool was_held =
      was_last ? a->release(base::now()) : a->is_held_at(base::now()) || a->why_lost() == loss_reason::none;
  if (!was_held) {
    if (was_last && a->take_unfired()) watchdog_.fire({a});  // it is not registered any more
    throw lock_lost(*a, a->why_lost());
  }
  if (!was_last) return false;
  // Before the next holder can acquire it, and be reported.
  db_.events().tell([&] { return events::released{.name = a->name, .token = a->token, .held = a->was_held_for()}; });
  return true;
}

task<void> held_locks::end_release(flow& on, const lease_ptr& a) {
  const auto until = db_.call_limits();
  if (const auto next = handover_.pass_on(*a, until)) {
    keep(*next);
  } else {
    co_await end(on, *a, until);
  }
}

void held_locks::release_soon(const lease_ptr& a) noexcept {
  if (db_.is_foreign() || !registry_.drop(*a)) return;
  if (a->release(base::now())) return release_later(*a);
  if (a->take_unfired()) watchdog_.fire({a});
}

void held_locks::leave_to_transaction(const lease_ptr& a, duration after) noexcept try {
  if (!registry_.drop(*a)) return;
  a->release(base::now());
  auto e = reconciler_.entry_for(*a);
  e.next = base::later(e.next, after);
  e.notifies_if_gone = true;
  reconciler_.add(std::move(e));
  handover_.not_here(a->name);
} catch (const std::exception&) {  // out of memory: its lease ends
}

void held_locks::release_later(const lease_state& a) {
  reconciler_.add(reconciler_.entry_for(a));
  handover_.not_here(a.name);
}

// Its release has failed for this reason. If it was left in a batch, its outcome is known when that ends.
void held_locks::release_later(const lease_state& a, const error& why, const combined_call_ptr& left) {
  auto e = reconciler_.entry_for(a);
  e.may_have_granted = reconciler_.may_have_granted(why);
  e.notifies_if_gone = left != nullptr;
  reconciler_.add_when_ended(left, std::move(e));
  handover_.not_here(a.name);
}

task<void> held_locks::end(flow& on, lease_state& a, const driver::limits& until) {
  if (!a.transaction) {
    co_await end_lease(on, a, until);
  } else {
    end_transaction(a, until);
  }
}

// A commit that has notified no client says so, if the row said that one waits.
void held_locks::end_transaction(lease_state& a, const driver::limits& until) {
  const bool is_waited_for = a.transaction->is_waited_for();
  heartbeat_.commit(a, until);
  notices_.released(a.name, is_waited_for && db_.database().news() == driver::foreign_news::woken);
}

task<void> held_locks::end_lease(flow& on, const lease_state& a, const driver::limits& until) {
  const bool may_be_prolonged = a.may_be_prolonged();
  store::release_outcome outcome{};
  combined_call_ptr left;
  notices_.releasing(a.name);
  try {
    outcome = co_await try_release(on, a, until, left);
  } catch (const error& e) {
    release_later(a, e, left);
    throw;
  }
  if (outcome == store::release_outcome::pinned) {
    release_later(a);
    co_return;
  }
  if (outcome == store::release_outcome::gone) {
    handover_.not_here(a.name);
    throw lock_lost(a,
                    "was freed or taken over by another client before this release; the work may not have been "
                    "protected to its end");
  }
  if (may_be_prolonged) reconciler_.add(once_more(reconciler_.entry_for(a)));
  const bool is_unnotified = outcome == store::release_outcome::released_unnotified;
  if (!notices_.released(a.name, is_unnotified)) waited_for.remove(a.name.view());
}

// If that fails the client finds the lock by itself.
void held_locks::granted_to(const store::access& db, std::string_view owner) noexcept try {
  db_.database().wake(db.session, owner, db.until);
} catch (const std::exception&) {
}

// The row may be locked by a renewal of this client that is just ending; it does not outlast `until`.
task<store::release_outcome> held_locks::try_release(flow& on, const lease_state& a, const driver::limits& until,
                                                     combined_call_ptr& left) {
  const auto one = a.ref(a.at_least);
  auto outcome = store::release_outcome::gone;
  const combined_limits both{.until = until, .last = until.deadline};
  if (one.is_share) {
    auto sent = db_.run_combined_skipping(on, end_shares_skipping_, one, both, left);
    const auto got = co_await sent;
    if (got && got->what != store::release_outcome::pinned) co_return got->what;
  }
  const auto once = [&]() -> task<bool> {
    if (outcome == store::release_outcome::pinned) a.wait_for_claimant();
    if (!one.is_share && a.stays_until > base::now()) {
      const auto defer = [&](const store::access& db) { return store::defer_release(db, {&one, 1}).at(0); };
      outcome = db_.run(until, defer, purpose::releasing);
    } else {
      auto sent = one.is_share ? db_.run_combined_by_name(on, release_, one, both, left)
                               : db_.run_combined(on, release_, one, both, left);
      const auto got = co_await sent;
      outcome = got.what;
    }
    co_return outcome != store::release_outcome::pinned;
  };
  co_await retry_inconclusive(db_, on, until.stop, once, core::inconclusive_tries);
  co_return outcome;
}

void held_locks::release_all() noexcept {
  const auto until = db_.call_limits();
  reconciler_.release_all(give_up(registry_.all(), loss_reason::forced, until), until);
}

// First no holder relies on them any more, then their rows are released: never the other way round. A callback that
// does not return may not take all the time, because the rows of other locks are among them.
std::vector<unresolved> held_locks::give_up(const std::vector<lease_ptr>& all, loss_reason why,
                                            const driver::limits& until) {
  std::vector<lease_ptr> given_up;
  for (const auto& a : all)
    if (a->lose(why)) given_up.push_back(a);
  watchdog_.fire_and_wait(given_up, gateway::leaving_a_tenth(until).deadline);
  std::vector<unresolved> rows;
  rows.reserve(given_up.size());
  for (const auto& a : given_up) {
    if (a->transaction) {
      end_given_up_transaction(*a, until);
    } else {
      rows.push_back(reconciler_.entry_for(*a));
    }
  }
  return rows;
}

void held_locks::end_given_up_transaction(lease_state& a, const driver::limits& until) noexcept {
  try {
    end_transaction(a, until);
  } catch (const std::exception&) {  // its end releases the lock as well
    notices_.released(a.name, false);
  }
}

std::vector<unresolved> held_locks::give_up_all(const driver::limits& until) {
  auto out = give_up(registry_.close(), loss_reason::client_closed, until);
  heartbeat_.stop();
  return out;
}

void held_locks::release_given_up(std::vector<unresolved> given_up, const driver::limits& until) {
  reconciler_.release_at_the_end(std::move(given_up), until);
}

// --- extending -------------------------------------------------------------------------------------------------------

gateway::call held_locks::begin_call(lease_state& a) {
  if (db_.is_foreign()) throw lock_lost(a, loss_reason::forked);
  if (!a.is_held_at(base::now())) throw lock_lost(a, a.why_lost());
  return gateway::call{db_};
}

void held_locks::extend(const lease_ptr& a, duration ttl) {
  core::check_lease(ttl);
  if (!a->has_lease)
    throw error{errc::unsupported, "a lock by for_update has no lease to extend; it is held until it is released"};
  const auto under_way = begin_call(*a);
  const auto until = db_.call_limits();
  db_.require_short(ttl, "a lease", until);
  const claimed_lease scope{*a};
  ask_of_held(db_, until.stop, a->name, [&] { return try_extend(a, ttl, until); });
}

// false: inconclusive.
bool held_locks::try_extend(const lease_ptr& a, duration ttl, const driver::limits& until) {
  if (!a->is_held_at(base::now())) throw lock_lost(*a, a->why_lost());
  db_.check_usable();
  const base::instant sent = base::now();
  a->was_extended = true;
  // A shorter lease may take effect even if there is no answer.
  a->shorten_deadline(core::local_deadline(sent, ttl, ttl));
  a->set_renewal_due(std::min(a->renewal_due(), core::renewal_due(sent, ttl)));  // if there is no answer
  keep(*a);
  const auto one = a->ref(ttl);
  const auto extend_share = [&](const store::access& db) { return store::extend(db, {&one, 1}).at(0); };
  const auto answer = one.is_share ? db_.run(until, extend_share, purpose::renewing) : extend_alone(a, one, until);
  if (answer.what == store::standing::inconclusive) return false;
  if (answer.what == store::standing::lost) {
    gone(a, answer.why);
    throw lock_lost(*a, answer.why);
  }
  a->set_time_to_live(ttl);
  a->term = db_.guard().term();
  if (!a->set_left(sent, answer.left, base::now())) throw lock_lost(*a, a->why_lost());
  watchdog_.arm(a->deadline());
  a->set_renewal_due(core::renewal_due(sent, ttl));
  if (a->renews) maintenance_.wake_at(a->renewal_due());
  return true;
}

// If no holder relies on the lock any more when the answer arrives to a request that was left behind, the lock was
// prolonged without need.
store::renewal held_locks::extend_alone(const lease_ptr& a, const store::lease_ref& one, const driver::limits& until) {
  combined_call_ptr left;
  try {
    thread_flow here;
    return db_.run_combined(here, extend_, one, {.until = until, .last = until.deadline}, left).get().what;
  } catch (const error&) {
    if (left) left->give_up([this, a](combined_call::fate now) { was_extended_late(*a, now); });
    throw;
  }
}

void held_locks::was_extended_late(const lease_state& a, combined_call::fate now) noexcept try {
  if (now != combined_call::fate::done || a.is_held()) return;
  auto e = reconciler_.entry_for(a);
  if (a.why_lost() != loss_reason::none) e.from = e.next = std::max(e.from, a.over());  // its holder stops until then
  reconciler_.add(std::move(e));
} catch (const std::exception&) {  // out of memory: the lease ends
}

// --- losing ----------------------------------------------------------------------------------------------------------

void held_locks::gone(const lease_ptr& a, loss_reason why) {
  if (a->lose(a->why_gone(why, base::now(), db_.guard().term()))) watchdog_.fire({a});
}

void held_locks::was_freed(std::string_view acquisition, const driver::limits& until) {
  const auto own = registry_.find(acquisition);
  if (own && own->lose(loss_reason::forced)) watchdog_.fire_and_wait({own}, until.deadline);
}

void held_locks::require_held(lease_state& a) const {
  if (db_.is_foreign()) throw lock_lost(a, loss_reason::forked);
  if (a.transaction)
    throw error{
        errc::unsupported,
        "confirm is for leases: a lock by for_update is held by a transaction of its own, for which the caller's "
        "would wait without end; take the lock in the caller's transaction with lock_in"};
  if (!a.is_alone())
    throw error{
        errc::unsupported,
        "confirm is for exclusive locks: a holder that shares the name cannot keep others from changing the data; "
        "acquire it exclusively for the change"};
  if (a.is_held_at(base::now())) return;
  if (a.why_lost() == loss_reason::none)
    throw error{errc::not_held, "the lock " + base::quoted(a.name.view()) + " was released before; acquire it again"};
  throw lock_lost(a, a.why_lost());
}

std::function<void()> held_locks::report_of(const lease_state& a) {
  if (a.counts == nullptr) return {};
  return [this, e = events::lost{.name = a.name, .token = a.token, .reason = a.why_lost(), .held = a.was_held_for()}] {
    db_.events().report({e});
  };
}

// On the watchdog's thread; a slow callback does not delay it.
void held_locks::lost(const lease_ptr& a) {
  registry_.remove(*a);
  const auto why = a->why_lost();
  const bool is_overdue =
      why == loss_reason::expired || why == loss_reason::unreachable || why == loss_reason::hold_limit;
  // A late renewal may have prolonged it in the database. It is not released before its previous lease is over there:
  // until then its holder has time to stop.
  if (is_overdue && a->has_lease) {
    auto e = reconciler_.entry_for(a->name, a->id, a->time_to_live(), a->over());
    e.is_share = !a->is_alone();
    e.confirmed_by = a->confirmed_by();
    reconciler_.add(std::move(e));
  }
  handover_.not_here(a->name);
  if (a->transaction) heartbeat_.look();
  maintenance_.wake_at(base::instant::min());
}

void held_locks::renewed(const lease_state& a) noexcept {
  if (a.counts == nullptr) return;
  counters::count(a.counts->renewals);
  db_.events().tell([&] { return events::renewed{.name = a.name, .token = a.token, .left = left_of(a)}; });
}

void held_locks::renewal_failed(const lease_state& a, const error& why) noexcept {
  if (a.counts == nullptr) return;
  counters::count(a.counts->renewal_failures);
  db_.events().tell(
      [&] { return events::renewal_failed{.name = a.name, .token = a.token, .cause = why, .left = left_of(a)}; });
}

}  // namespace rowlock::inline v1::engine
