#include <rowlock/error.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/boot_clock.hpp"
#include "base/waits.hpp"
#include "core/checks.hpp"
#include "core/wait.hpp"
#include "engine/acquire/attempt.hpp"
#include "strategy/strategy.hpp"

namespace rowlock::inline v1::engine {

namespace {

using namespace std::chrono_literals;

// A waiter is in the queues of so many of the names at a time. If there are more, it tries for all after so long, and
// goes to the queues of the next.
constexpr std::size_t most_queues = 32;
constexpr duration longest_stay = 1s;
constexpr std::size_t most_remembered = 1000;

}  // namespace

lease_ptr acquirer::acquire_any(std::span<const lock_name> names, const lock_options& options,
                                const std::optional<holder>& by, duration wait, const std::stop_token& stop) {
  if (db_.is_foreign()) db_.check_usable();
  if (names.empty()) throw error{errc::invalid_option, "there is no name to choose from; give at least one"};
  core::check(options);
  for (const auto& name : names) locks_.optimists().refuse(name);
  const gateway::call under_way{db_};
  counted_call call{db_.events().numbers(), options.strategy};
  const auto deadline = base::later(base::now(), std::max(wait, duration::zero()));
  // Where this client has had one of them before, it begins.
  std::vector<lock_name> in_order{names.begin(), names.end()};
  {
    const auto known = last_of_several_.lock();
    if (const auto found = known->find(std::string{names[0].view()}); found != known->end())
      std::rotate(in_order.begin(), std::find(in_order.begin(), in_order.end(), found->second), in_order.end());
  }
  const acquire_request like{.name = in_order[0],
                             .options = options,
                             .by = by ? *by : holder::unique(),
                             .is_reentrant = by.has_value(),
                             .call = &call};
  lease_ptr lease;
  if (wait > duration::zero()) {
    lease = wait_for_any(in_order, like, deadline, stop);
  } else if (!stop.stop_requested()) {
    lease = try_any(in_order, like, stop);
    if (!lease && take_back(in_order, db_.call_limits(stop))) lease = try_any(in_order, like, stop);
  }
  end(call, lease != nullptr, names[0], options.strategy, stop);
  if (lease) {
    const auto known = last_of_several_.lock();
    if (known->size() >= most_remembered) known->clear();
    known->insert_or_assign(std::string{names[0].view()}, lease->name);
  }
  return lease;
}

lease_ptr acquirer::wait_for_any(std::span<const lock_name> names, const acquire_request& like, base::instant deadline,
                                 const std::stop_token& stop) {
  int failures = 0;
  std::vector<lock_name> in_order;  // each once
  for (const auto& name : names)
    if (std::find(in_order.begin(), in_order.end(), name) == in_order.end()) in_order.push_back(name);
  const std::size_t queues = std::min(most_queues, in_order.size());
  const bool has_all = queues == in_order.size();
  while (!stop.stop_requested()) {
    try {
      if (auto lease = try_any(names, like, stop)) return lease;
      const auto now = base::now();
      if (now >= deadline || stop.stop_requested()) return nullptr;
      const auto until = has_all ? deadline : std::min(deadline, base::later(now, longest_stay));
      if (auto lease = wait_for_first(std::span{in_order}.first(queues), like, until, stop)) return lease;
      std::rotate(in_order.begin(), in_order.begin() + static_cast<std::ptrdiff_t>(queues), in_order.end());
      failures = 0;
    } catch (const error& e) {
      if ((!e.is_retryable() && !e.outcome_is_unknown()) || base::now() >= deadline) throw;
      const auto until = base::later(base::now(), core::error_pause(++failures, base::jitter()));
      db_.pause_until(std::min(until, deadline), stop);
      db_.check_usable();
    }
  }
  return nullptr;
}

lease_ptr acquirer::wait_for_first(std::span<const lock_name> names, const acquire_request& like,
                                   base::instant deadline, const std::stop_token& stop) {
  std::vector<place> places;
  places.reserve(names.size());
  const auto now = base::now();
  for (const auto& name : names) {
    cleanup_.clear(name, deadline - now, stop);
    places.push_back({.what = like.of(name), .machine = {now, deadline}});
  }
  return wait_in_queues(places, stop);
}

// In one statement where no queue has to be asked, and the row alone decides.
lease_ptr acquirer::try_any(std::span<const lock_name> names, const acquire_request& like,
                            const std::stop_token& stop) try {
  if (like.is_reentrant)
    for (const auto& name : names)
      if (auto lease = locks_.registry().again(name, like.by, true, base::now())) return lease;
  if (like.options.strategy == strategy::unique_index && !like.is_fair()) {
    bool is_waited_for = false;
    auto lease = take_first_free(names, like, db_.call_limits(stop), is_waited_for);
    if (lease || !is_waited_for) return lease;
  }
  for (const auto& name : names)
    if (auto lease = try_once(like.of(name), db_.call_limits(stop)).lease) return lease;
  return nullptr;
} catch (const error& e) {
  if (e.code() == errc::cancelled && stop.stop_requested()) return nullptr;
  throw;
}

lease_ptr acquirer::take_first_free(std::span<const lock_name> names, const acquire_request& like,
                                    const driver::limits& until, bool& is_waited_for) {
  const auto id = who_.next_id();
  std::vector<strategies::acquire_args> batch;
  batch.reserve(names.size());
  for (const auto& name : names) batch.push_back(args_of(like.of(name), id));
  const auto sent = base::now();
  strategies::first_free first;
  try {
    first = db_.run(gateway::leaving_a_tenth(until),
                    [&](const store::access& db) { return strategies::take_first_free(db, batch); });
  } catch (const error& e) {
    if (!e.outcome_is_unknown()) throw;
    if (auto lease = adopt_any(names, like, id, sent, until)) return lease;
    throw;
  }
  is_waited_for = first.is_waited_for;
  if (!first.taken) return nullptr;
  return admit(like.of(names[first.taken->which]), id, {.sent = sent, .answer = first.taken->what});
}

// It may be any of them. Those that do not have it may have it yet.
lease_ptr acquirer::adopt_any(std::span<const lock_name> names, const acquire_request& like,
                              const core::acquisition_id& id, base::instant sent, const driver::limits& until) {
  for (const auto& name : names) {
    const auto what = like.of(name);
    if (const auto granted = adopt(what, id, until)) return admit(what, id, {.sent = sent, .answer = *granted});
  }
  for (const auto& name : names) leave_unresolved(like.of(name), id);
  return nullptr;
}

}  // namespace rowlock::inline v1::engine
