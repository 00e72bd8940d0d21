#pragma once

#include <rowlock/lock_name.hpp>

#include <atomic>
#include <condition_variable>
#include <stop_token>
#include <vector>

#include "base/guarded.hpp"
#include "base/time.hpp"
#include "core/identity.hpp"

namespace rowlock::inline v1::engine {

/// Tickets of this client whose waiters have left, from then until they matter no more, or to a time.
class late_tickets {
 public:
  void add(const lock_name& name, const core::acquisition_id& attempt, base::instant until);
  void remove(const core::acquisition_id& attempt) noexcept;
  bool has(const lock_name& name, base::instant now);
  std::vector<core::acquisition_id> of(const lock_name& name, base::instant now);
  /// Returns when there is none of this name, at the deadline, or on `stop`.
  void wait(const lock_name& name, base::instant deadline, const std::stop_token& stop);

 private:
  struct ticket {
    lock_name name;
    core::acquisition_id attempt;
    base::instant until;
  };
  static bool has(const std::vector<ticket>& all, const lock_name& name);

  base::guarded<std::vector<ticket>> all_;
  std::condition_variable_any removed_;
  std::atomic<bool> is_empty_{true};
};

}  // namespace rowlock::inline v1::engine
