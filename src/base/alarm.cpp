#include "base/alarm.hpp"

namespace rowlock::inline v1::base {

alarm::alarm() : seen_{base::instant::max().time_since_epoch().count()} { *set_.lock() = base::instant::max(); }

void alarm::arm(base::instant t) noexcept {
  if (t.time_since_epoch().count() >= seen_.load(std::memory_order_seq_cst)) return;
  const auto set = set_.lock();
  if (t >= *set) return;
  *set = t;
  seen_.store(t.time_since_epoch().count(), std::memory_order_seq_cst);
  timer_.set(t);
}

void alarm::disarm() noexcept {
  const auto set = set_.lock();
  *set = base::instant::max();
  seen_.store(set->time_since_epoch().count(), std::memory_order_seq_cst);
}

}  // namespace rowlock::inline v1::base
