#include <algorithm>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "core/checks.hpp"
#include "core/lease.hpp"
#include "core/wait.hpp"
#include "driver/boot_clock.hpp"
#include "runtime/client_impl.hpp"

namespace rowlock::inline v1::detail {

namespace {

error lock_lost(const acquisition& a, std::string_view how) {
  std::string sentence(1, '"');
  sentence.append(a.name.view()).append("\" ").append(how);
  return {errc::lock_lost, sentence};
}

error lock_lost(const acquisition& a, loss_reason why) {
  return lock_lost(a, "was lost (" + std::string{to_string(why)} + ")");
}

// A renewal that was under way when it was let go of may have made it stay for a whole lease. It is over when the
// maintenance thread comes to this, or its session is ended first.
runtime::undo_list::entry once_more(runtime::undo_list::entry e) {
  e.may_be_prolonged = false;
  return e;
}

/// Keeps renewals away while an extend is under way.
class claimed {
 public:
  explicit claimed(acquisition& a) : a_{a} { a_.claim_or_wait(); }
  claimed(const claimed&) = delete;
  claimed& operator=(const claimed&) = delete;
  ~claimed() { a_.unclaim(); }

 private:
  acquisition& a_;
};

}  // namespace

// It is marked as let go before the row is released: no renewal is sent for it from then on, and one that is under way
// finds no owner. If the release fails, or its outcome is unknown, the undo list repeats it: a second time does
// nothing.
void client_impl::release(const std::shared_ptr<acquisition>& a) {
  if (is_foreign()) throw lock_lost(*a, loss_reason::forked);
  const runtime::traffic::call under_way{calls_};
  const bool was_last = holdings_.drop(*a);
  const bool was_held = was_last ? a->let_go(driver::now()) : a->is_held_at(driver::now());
  if (!was_held) {
    if (was_last && a->take_unfired()) watchdog_.fire({a});  // it is not listed any more
    throw lock_lost(*a, a->why_lost());
  }
  if (!was_last) return;
  // Before the next one can have it, and be told of.
  if (reporter_.wants_all())
    reporter_.add({events::released{.name = a->name, .token = a->token, .held = a->was_held_for()}});
  let_go(*a);
}

void client_impl::let_go(acquisition& a) { a.transaction ? release_transaction(a) : release_row(a); }

void client_impl::release_soon(const std::shared_ptr<acquisition>& a) noexcept {
  if (is_foreign() || !holdings_.drop(*a)) return;
  if (a->let_go(driver::now())) return undo_later(to_undo(*a));
  if (a->take_unfired()) watchdog_.fire({a});
}

// If the commit fails, the end of the connection lets go as well.
void client_impl::release_transaction(acquisition& a) {
  a.transaction->hurry();
  const claimed scope{a};
  attendant_.forget(a);
  const auto until = call_limits();
  const auto leaves_before = leaves_.load();
  if (a.transaction->was_cut_short()) return was_released(a.name, leaves_before);
  if (a.transaction->is_over() || !a.transaction->session().looks_alive()) {
    a.transaction->end();
    throw lock_lost(a, loss_reason::session_ended);
  }
  commit_transaction(a, until);
  was_released(a.name, leaves_before);
}

// That another transaction may rely on it.
void client_impl::require_held(acquisition& a) const {
  if (is_foreign()) throw lock_lost(a, loss_reason::forked);
  if (a.transaction)
    throw error{errc::unsupported,
                "a lock by for_update is held by a transaction of its own, for which this one would wait "
                "in vain; do the work in the same transaction: lock_in"};
  if (a.is_held_at(driver::now())) return;
  if (a.why_lost() == loss_reason::none)
    throw error{errc::not_held, "\"" + std::string{a.name.view()} + "\" was released"};
  throw lock_lost(a, a.why_lost());
}

// Of a lock that was given up.
void client_impl::end_transaction(acquisition& a, const driver::limits& until) noexcept {
  a.transaction->hurry();
  const claimed scope{a};
  attendant_.forget(a);
  if (a.transaction->is_over()) return;
  const auto leaves_before = leaves_.load();
  try {
    commit_transaction(a, until);
  } catch (const std::exception&) {  // its end lets go as well
  }
  was_released(a.name, leaves_before);
}

void client_impl::commit_transaction(acquisition& a, const driver::limits& until) try {
  for_update_.release(a.transaction->session(), a.name.view(), a.id, leaving_a_tenth(until));
  a.transaction->give_back();
} catch (const std::exception& e) {
  if (const auto* const why = dynamic_cast<const error*>(&e)) failed(*why);
  a.transaction->end();
  end_lost_sessions(until);
  throw;
}

void client_impl::release_row(const acquisition& a) {
  const auto until = call_limits();
  const bool may_be_prolonged = a.may_be_prolonged();
  const auto leaves_before = leaves_.load();
  strategies::letting_go outcome{};
  try {
    outcome = try_release(a, until);
  } catch (const error&) {
    undo_later(to_undo(a));
    throw;
  }
  if (outcome == strategies::letting_go::pinned) return undo_later(to_undo(a));
  if (outcome == strategies::letting_go::gone) throw lock_lost(a, "had been freed or taken over by somebody else");
  if (may_be_prolonged) undo_later(once_more(to_undo(a)));
  was_released(a.name, leaves_before);
}

// What keeps the row locked may be a renewal of our own that is just ending; it does not outlast `until`.
strategies::letting_go client_impl::try_release(const acquisition& a, const driver::limits& until) {
  const strategies::held one{.name = a.name.view(), .acquisition = a.id, .lease = a.at_least};
  for (int tries = 1;; ++tries) {
    const bool stays = a.stays_until > driver::now();
    const auto outcome =
        on_session(
            until,
            [&](driver::session& on) {
              return stays ? unique_index_.linger(on, {&one, 1}, until) : unique_index_.release(on, {&one, 1}, until);
            },
            runtime::purpose::letting_go)
            .at(0);
    if (outcome != strategies::letting_go::pinned || tries == core::inconclusive_tries) return outcome;
    a.wait_for_claimant();
    std::this_thread::sleep_for(core::inconclusive_pause(tries));
  }
}

void client_impl::extend(const std::shared_ptr<acquisition>& a, duration lease) {
  if (is_foreign()) throw lock_lost(*a, loss_reason::forked);
  core::check_lease(lease);
  if (!a->has_lease)
    throw error{errc::unsupported, "a lock by for_update has no lease that could be extended; it lasts until released"};
  const claimed scope{*a};
  const auto until = call_limits();
  for (int tries = 1; !try_extend(a, lease, until); ++tries) {
    if (tries == core::inconclusive_tries)
      throw error{errc::call_timed_out, "somebody kept the row of \"" + std::string{a->name.view()} + "\" locked"};
    std::this_thread::sleep_for(core::inconclusive_pause(tries));
  }
}

// false: inconclusive.
bool client_impl::try_extend(const std::shared_ptr<acquisition>& a, duration lease, const driver::limits& until) {
  if (!a->is_held_at(driver::now())) throw lock_lost(*a, a->why_lost());
  check_usable();
  const core::instant sent = driver::now();
  // A shorter lease may take effect even if no answer comes.
  a->shorten_deadline(core::local_deadline(sent, lease, lease));
  watchdog_.arm(a->deadline());
  const strategies::held one{.name = a->name.view(), .acquisition = a->id, .lease = lease};
  const auto answer = on_session(
                          until,
                          [&](driver::session& on) {
                            return unique_index_.extend(on, {&one, 1}, until);
                          },
                          runtime::purpose::keeping)
                          .at(0);
  if (answer.what == strategies::standing::inconclusive) return false;
  if (answer.what == strategies::standing::lost) {
    lost(a, answer.why);
    throw lock_lost(*a, answer.why);
  }
  a->set_lease(lease);
  if (!a->set_left(sent, answer.left, driver::now())) throw lock_lost(*a, a->why_lost());
  watchdog_.arm(a->deadline());
  a->set_renewal_due(core::renewal_due(sent, lease));
  if (a->renews) keeper_.arm(a->renewal_due());
  return true;
}

void client_impl::lost(const std::shared_ptr<acquisition>& a, loss_reason why) {
  if (a->lose(a->why_gone(why, driver::now()))) watchdog_.fire({a});
}

std::function<void()> client_impl::telling_of_loss(const acquisition& a) {
  if (a.counts == nullptr) return {};
  return [this, e = events::lost{.name = a.name, .token = a.token, .reason = a.why_lost(), .held = a.was_held_for()}] {
    reporter_.add({e});
  };
}

// On the watchdog's thread. A callback that lasts holds none of this up.
void client_impl::after_loss(acquisition& a) {
  holdings_.remove(a);
  const auto why = a.why_lost();
  const bool is_overdue =
      why == loss_reason::expired || why == loss_reason::unreachable || why == loss_reason::hold_limit;
  // A late renewal may have prolonged it in the database. Not before the lease it had is over there: until then its
  // holder has time to stop.
  if (is_overdue && a.has_lease) {
    auto e = to_undo(a.name, a.id, a.lease(), a.over());
    e.confirmed_by = a.confirmed_by();
    undo_later(std::move(e));
  }
  if (a.transaction) attendant_.look();
  keeper_.arm(core::instant::min());
}

runtime::undo_list::entry client_impl::to_undo(const lock_name& name, const std::string& id, duration lease,
                                               core::instant from) const {
  // When the row is free anyway, and nothing that was sent can still take effect.
  const core::instant until = core::later(core::later(driver::now(), lease), options_.call_timeout);
  return {.name = name, .acquisition = id, .until = until, .from = from, .next = from};
}

runtime::undo_list::entry client_impl::to_undo(const acquisition& a) const {
  auto e = to_undo(a.name, a.id, a.outlives_by(), driver::now());
  e.at_least = a.at_least;
  e.stays_until = a.stays_until;
  e.confirmed_by = a.confirmed_by();
  e.may_be_prolonged = a.may_be_prolonged();
  return e;
}

void client_impl::undo_later(runtime::undo_list::entry e) {
  const core::instant from = e.next;
  undo_.add(std::move(e));
  keeper_.arm(from);
}

void client_impl::release_undone(std::vector<runtime::undo_list::entry> entries, const driver::limits& until) {
  if (entries.empty()) return;
  undo_.put_back(runtime::take_repeated_names(entries), driver::now());
  auto staying = runtime::take_staying(entries, driver::now());
  undo_by(&strategies::algorithm::release, std::move(entries), until);
  undo_by(&strategies::algorithm::linger, std::move(staying), until);
  keeper_.arm(undo_.next());
}

void client_impl::undo_by(way_out how, std::vector<runtime::undo_list::entry> entries, const driver::limits& until) {
  if (entries.empty()) return;
  std::vector<strategies::held> batch;
  batch.reserve(entries.size());
  for (const auto& e : entries)
    batch.push_back({.name = e.name.view(), .acquisition = e.acquisition, .lease = e.at_least});
  try {
    const auto outcomes = on_session(
        until,
        [&](driver::session& on) {
          database_->end_lost_sessions(on, until);
          return (unique_index_.*how)(on, batch, until);
        },
        runtime::purpose::letting_go);
    for (std::size_t i = 0; i < entries.size(); ++i) settle(std::move(entries[i]), outcomes[i]);
  } catch (const std::exception&) {
    undo_.put_back(std::move(entries), driver::now());
  }
}

// What never arrived may still arrive; what was not ours any more by then has been settled by somebody else.
void client_impl::settle(runtime::undo_list::entry e, strategies::letting_go outcome) {
  if (outcome == strategies::letting_go::released) {
    if (e.may_be_prolonged) undo_.put_back({once_more(e)}, driver::now());
    return was_released(e.name, leaves_);
  }
  if (outcome == strategies::letting_go::pinned || e.may_appear) undo_.put_back({std::move(e)}, driver::now());
}

}  // namespace rowlock::inline v1::detail
