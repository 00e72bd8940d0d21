#include "engine/acquire/acquirer.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/boot_clock.hpp"
#include "core/checks.hpp"

// A call for several names acquires all of them at once, by one statement, or none: so no other client waits while it
// holds some of them, and there is no order in which they could deadlock. A call that waits has a ticket in the queue
// of each name, and tries for all of them whenever one of them may be free. A release grants it nothing meanwhile,
// since it would hold one name then, and wait for the others.

namespace rowlock::inline v1::engine {

namespace {

constexpr std::size_t most_remembered = 1000;

std::vector<lock_name> each_once(std::span<const lock_name> names) {
  std::unordered_set<std::string_view> seen;
  std::vector<lock_name> out;
  std::copy_if(names.begin(), names.end(), std::back_inserter(out),
               [&](const lock_name& name) { return seen.insert(name.view()).second; });
  return out;
}

}  // namespace

task<lease_ptr> acquirer::acquire(flow& on, const lock_name& name, const lock_options& options,
                                  const std::optional<holder>& by, duration wait, const std::stop_token& stop,
                                  core::sharing share) {
  return acquire({.on = on,
                  .names = {&name, 1},
                  .options = options,
                  .by = by ? *by : holder::unique(),
                  .is_reentrant = by.has_value(),
                  .share = share},
                 &name, wait, stop);
}

task<lease_ptr> acquirer::acquire_any(flow& on, std::span<const lock_name> names, const lock_options& options,
                                      const std::optional<holder>& by, duration wait, const std::stop_token& stop) {
  if (db_.is_foreign()) db_.check_usable();
  if (names.empty()) throw error{errc::invalid_option, "there is no name to choose from; give at least one"};
  // It begins with the name that this client acquired last.
  auto in_order = each_once(names);
  const std::string first{names[0].view()};
  {
    const auto known = last_of_several_.lock();
    if (const auto found = known->find(first); found != known->end())
      std::rotate(in_order.begin(), std::find(in_order.begin(), in_order.end(), found->second), in_order.end());
  }
  const acquire_request what{.on = on,
                             .names = in_order,
                             .options = options,
                             .by = by ? *by : holder::unique(),
                             .is_reentrant = by.has_value()};
  auto lease = co_await acquire(what, &names[0], wait, stop);
  if (!lease) co_return lease;
  const auto known = last_of_several_.lock();
  if (known->size() >= most_remembered) known->clear();
  known->insert_or_assign(first, lease->name);
  co_return lease;
}

task<std::vector<lease_ptr>> acquirer::acquire_all(flow& on, std::span<const lock_name> names,
                                                   const lock_options& options, const std::optional<holder>& by,
                                                   duration wait, const std::stop_token& stop) {
  if (names.empty()) throw error{errc::invalid_option, "there is no name to acquire; give at least one"};
  if (options.strategy == strategy::for_update)
    throw error{errc::unsupported,
                "several names are acquired together by leases only; use unique_index or version_cas, or lock_in in "
                "one transaction"};
  std::vector<lock_name> sorted{names.begin(), names.end()};
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<lease_ptr> out;
  const acquire_request what{.on = on,
                             .names = sorted,
                             .options = options,
                             .by = by ? *by : holder::unique(),
                             .is_reentrant = by.has_value(),
                             .set = &out};
  co_await acquire(what, &names[0], wait, stop);
  co_return out;
}

// The user of a guard does not choose these leases, so they are as short as it demands.
lock_options acquirer::own(lock_options how) const {
  how.lease = std::min(how.lease, db_.guard().longest_lease());
  return how;
}

lease_ptr acquirer::try_for_client(const lock_name& name, const lock_options& options, const std::stop_token& stop) {
  thread_flow here;
  const auto how = own(options);
  return acquire({.on = here, .names = {&name, 1}, .options = how, .by = holder::unique(), .is_reentrant = false},
                 nullptr, duration::zero(), stop)
      .get();
}

lease_ptr acquirer::keep_for_transaction(const lock_name& name, const lock_options& options, const holder& by,
                                         duration wait, const std::stop_token& stop) {
  thread_flow here;
  const auto how = own(options);
  return acquire({.on = here,
                  .names = {&name, 1},
                  .options = how,
                  .by = by,
                  .is_reentrant = false,
                  .is_for_transaction = true},
                 nullptr, wait, stop)
      .get();
}

// `called`: the name that is reported to observers; nullptr: the call is not reported, and not counted.
task<lease_ptr> acquirer::acquire(acquire_request what, const lock_name* called, duration wait,
                                  const std::stop_token& stop) {
  using enum counters::outcome;
  const auto by = what.options.strategy;
  std::optional<counted_call> call;
  if (called != nullptr) {
    if (db_.is_foreign()) db_.check_usable();
    for (const auto& name : what.names) locks_.optimists().refuse(name);
    what.call = &call.emplace(db_.events().numbers(), by);
  }
  core::check(what.options);
  core::check(what.share, what.options);
  std::optional<gateway::call> under_way{std::in_place, db_};
  const auto deadline = base::later(base::now(), std::max(wait, duration::zero()));
  // Threads and calls that share a named holder wait for each other now and then.
  if (wait > duration::zero() && what.options.as && what.is_reentrant && !what.is_set() && !what.is_any())
    what.comes_after_others =
        co_await locks_.turns().comes_after_others(what.on, what.names[0], what.by, deadline, stop);
  if (wait > duration::zero()) what.gives_up = deadline;
  lease_ptr lease;
  if (!stop.stop_requested()) lease = reenter(what);
  if (!lease && !stop.stop_requested()) {
    cleanup_.clear(what.names, wait, stop);
    if (wait <= duration::zero())
      lease = co_await try_only_once(what, stop);
    else if (what.is_any())
      lease = co_await wait_for_any(what, stop);
    else
      lease = co_await wait_for(what, stop);
  }
  under_way.reset();
  if (!call) co_return lease;
  call->ends(lease ? acquired : stop.stop_requested() ? cancelled : busy);
  if (!lease && !stop.stop_requested())
    db_.events().tell([&] { return events::busy{.name = *called, .strategy = by, .waited = call->elapsed()}; });
  if (what.is_set())
    for (std::size_t i = 1; i < what.set->size(); ++i) db_.events().numbers().ended(by, acquired, call->elapsed());
  co_return lease;
}

// A holder reenters what it holds. Names of a set that it holds are reentered by each attempt, together with the
// others.
lease_ptr acquirer::reenter(const acquire_request& what) {
  if (!what.is_reentrant || what.is_set()) return nullptr;
  for (const auto& name : what.names)
    if (auto lease = locks_.registry().reenter(name, what.by, what.share.is_exclusive(), base::now())) {
      if (what.call != nullptr) what.call->ends_at_once();
      return lease;
    }
  return nullptr;
}

// If transactions hold the name, a lock on a free row is most likely that of a holder.
task<lease_ptr> acquirer::try_only_once(const acquire_request& what, const std::stop_token& stop) {
  try {
    const bool may_be_held = what.is_for_transaction || attempts_.holds_by_transaction(what.options.strategy);
    const int tries = may_be_held ? core::inconclusive_tries : core::inconclusive_only_tries;
    const auto until = db_.call_limits(stop);
    auto first = co_await attempts_.make(what, until, tries);
    if (first.lease || !take_back(what.names, until)) co_return std::move(first.lease);
    auto second = co_await attempts_.make(what, until, tries);
    co_return std::move(second.lease);
  } catch (const error& e) {
    if (e.code() == errc::cancelled && stop.stop_requested()) co_return nullptr;
    throw;
  }
}

// Releases what was granted to tickets of earlier waits by this client. false: that is not why it was refused.
bool acquirer::take_back(std::span<const lock_name> names, const driver::limits& until) {
  bool out = false;
  for (const auto& name : names) {
    const auto take_one = [&] {
      const auto outcome = cleanup_.take_back(name, until);
      out = out || outcome;
      return outcome != store::release_outcome::pinned;  // by the maintenance thread, which releases it as well
    };
    retry_inconclusive(db_, until.stop, take_one, core::inconclusive_only_tries);
  }
  return out;
}

}  // namespace rowlock::inline v1::engine
