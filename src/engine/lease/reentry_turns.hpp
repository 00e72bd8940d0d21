#pragma once

#include <rowlock/holder.hpp>
#include <rowlock/lock_name.hpp>

#include <atomic>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/guarded.hpp"
#include "engine/flow/flow.hpp"
#include "engine/flow/task.hpp"
#include "engine/gateway/gateway.hpp"
#include "engine/lease/lock_registry.hpp"
#include "engine/maintenance.hpp"

namespace rowlock::inline v1::engine {

/// Threads that share one holder reenter what any of them holds. If one always joins before the last of them releases,
/// they hold the name for ever. So now and then a thread that would join waits for the end of the existing lock:
///
///   open --a thread joins a lock that is older than handover_limit--> the maintenance thread asks for waiters
///   asked --no client waits--> open; asked again after handover_limit at the earliest
///   asked --a client waits--> closed for handover_limit: joining threads wait for the release, and then in turn
///   closed --the time is over--> open, for nine times as long
///
/// A holder may give work to a thread and join it while it holds the name. That thread is late by a tenth of the time
/// at most, and a thread that has a handle itself never is.
class reentry_turns final : public maintenance::task {
 public:
  reentry_turns(gateway& db, lock_registry& held, maintenance& on) : db_{db}, held_{held}, maintenance_{on} {}

  /// Before a thread reenters what its holder holds; returns at the deadline, or on `stop`, at the latest. true: others
  /// must have their turn first, and its holder's lock is released, or never existed.
  engine::task<bool> comes_after_others(flow& on, const lock_name& name, const holder& by, base::instant deadline,
                                        const std::stop_token& stop);

  base::instant next_due() override { return due_; }
  void run(const driver::limits& until) noexcept override;

 private:
  struct turn {
    lock_name name;
    base::instant closed_until = base::instant::min();
    base::instant in_turn_until = base::instant::min();  // a moment longer, for the next of the holder's threads
    base::instant next_look{};
    bool is_asked = true;
  };
  static turn* find(std::vector<turn>& in, const lock_name& name);
  base::instant in_turn_until(const lock_name& name);
  base::instant closed_until(const lock_name& name, base::instant now);
  std::vector<lock_name> take_asked();
  void answer(const lock_name& name, bool others_wait);

  gateway& db_;
  lock_registry& held_;
  maintenance& maintenance_;
  base::guarded<std::vector<turn>> turns_;
  std::atomic<base::instant> due_{base::instant::max()};
};

}  // namespace rowlock::inline v1::engine
