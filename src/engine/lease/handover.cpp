#include "engine/lease/handover.hpp"

#include <algorithm>
#include <functional>

#include "base/boot_clock.hpp"

namespace rowlock::inline v1::engine {

namespace {

bool is_same(const std::unique_ptr<const std::string>& a, const std::unique_ptr<const std::string>& b) noexcept {
  return a == nullptr || b == nullptr ? a == b : *a == *b;
}

}  // namespace

bool handover::takes(const lock_options& options) const noexcept {
  return db_.options().handover && !is_stopped_ && options.strategy != strategy::for_update && options.renew &&
         options.fairness == fairness::unfair && options.at_least == duration::zero() && !options.hold_limit;
}

bool handover::may_pass(const lease_state& a) noexcept {
  return a.has_lease && a.is_alone() && a.renews && a.at_least == duration::zero() &&
         a.hold_limit == base::instant::max() && a.counts != nullptr && !a.was_extended && !a.was_converted &&
         !a.was_confirmed();
}

// The row's contents about a holder are true of the next one, too, except for the thread.
bool handover::fits(const lease_state& offer, const lease_state& a) noexcept {
  return offer.is_alone() && offer.time_to_live() == a.time_to_live() && is_same(offer.note, a.note);
}

core::tenure handover::plan_of(const lease_state& a) const noexcept {
  return a.tenure ? a.tenure->plan : core::tenure{.began = a.asked_at};
}

base::instant handover::held_until(const lock_name& name, const lock_options& options) {
  auto until = base::instant::min();
  held_.each_of(name, [&](const lease_state& a) {
    const bool fits = a.time_to_live() == options.lease && (a.note ? *a.note == options.note : options.note.empty());
    if (a.is_held() && may_pass(a) && fits)
      until = std::min(core::tenure_end(plan_of(a), db_.options().handover_limit), a.deadline());
  });
  return until;
}

// With the claim no renewal is under way whose answer would be for a former holder.
lease_ptr handover::pass_on(lease_state& released, const driver::limits& until) noexcept try {
  if (!db_.options().handover || is_stopped_ || !may_pass(released) || !db_.is_usable() || !released.claim())
    return nullptr;
  auto plan = plan_of(released);
  auto next = is_to_pass(released, plan, until) ? give(released, plan) : nullptr;
  // A client may have come after the last reservation. Where releases notify no client, none would come before this
  // one.
  const bool may_be_waited_for =
      plan.others_wait || (released.tenure && !driver::reaches_waiters(db_.database().news()));
  if (!next && may_be_waited_for)
    queue_.yield_to_other_clients(released.name.view(), base::later(base::now(), core::yielding));
  released.unclaim();
  return next;
} catch (const std::exception&) {  // then it is released
  released.unclaim();
  return nullptr;
}

bool handover::is_to_pass(lease_state& released, core::tenure& plan, const driver::limits& until) {
  const auto due = released.is_unreachable ? base::instant::min() : released.renewal_due();
  switch (core::after_release(plan, base::now(), due, db_.options().handover_limit)) {
    case core::succession::hand_over:
      return true;
    case core::succession::reserve:
      return queue_.takes(released.name.view(), [&](const lease_state& offer) { return fits(offer, released); }) &&
             reserve(released, plan, until);
    default:
      return false;
  }
}

// If there is no answer, the release that follows settles it: reserved tokens may remain unused.
bool handover::reserve(lease_state& released, core::tenure& plan, const driver::limits& until) {
  const store::lease_ref one{
      .name = released.name.view(), .acquisition = released.id.text(), .lease = released.time_to_live()};
  const auto sent = base::now();
  const auto number = core::block_size(plan, sent);
  // Half of the time is for the release. The call may not outlast the lease that it prolongs.
  const driver::limits first{.deadline = std::min(sent + (until.deadline - sent) / 2, released.deadline())};
  const auto answer = db_.run(
      first, [&](const store::access& db) { return store::reserve(db, one, number); }, purpose::releasing);
  if (!answer) return false;
  const auto now = base::now();
  core::add_block(plan, answer->last, number, answer->others_wait, now);
  released.set_first_left(sent, answer->left, now);
  released.set_renewal_due(core::renewal_due(sent, std::min(answer->left, released.time_to_live())));
  return released.deadline() > now;
}

lease_ptr handover::give(const lease_state& released, const core::tenure& plan) {
  lease_ptr next;
  queue_.hand_over(released.name.view(), [&](const lease_ptr& offer) {
    if (!fits(*offer, released) || !add(offer, released, plan)) return false;
    next = offer;
    return true;
  });
  return next;
}

// Until then the offer contains the time at which its call began.
bool handover::add(const lease_ptr& next, const lease_state& before, const core::tenure& plan) {
  const auto now = base::now();
  const auto waited = now - next->asked_at;
  next->continue_from(before, plan, now);
  next->token = core::take_token(next->tenure->plan);
  const auto report = [&] {
    counters::count(next->counts->handovers);
    db_.events().tell([&] {
      return events::acquired{.name = next->name, .token = next->token, .strategy = next->strategy, .waited = waited};
    });
  };
  return held_.add(next, std::ref(report));
}

}  // namespace rowlock::inline v1::engine
