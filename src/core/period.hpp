#pragma once

#include <rowlock/duration.hpp>
#include <rowlock/export.hpp>

#include <chrono>
#include <optional>
#include <string>

#include "base/time_zone.hpp"
#include "core/wording.hpp"

namespace rowlock::inline v1::core {

/// From `begin` on and before `end`.
struct period {
  std::chrono::sys_time<duration> begin{};
  std::chrono::sys_time<duration> end{};
  bool operator==(const period&) const = default;
};

/// Whether a start at `asked` is for the next period: that begins less than `early_by` later, and the last run of this
/// period did not begin as short a time before.
constexpr bool is_for_the_next(const period& in, std::chrono::sys_time<duration> asked,
                               std::chrono::sys_time<duration> last_began, duration early_by) {
  return in.end - asked < early_by && asked - last_began >= early_by;
}

/// Divides time into periods, the same ones on every host:
///
///     every             at or zone   a period begins
///     any               neither      at a multiple of `every` since 1970-01-01 00:00 UTC
///     whole days        either       on each day that is a multiple of `every` after 1970-01-01 in the zone, at the
///                                    first instant at which clocks of the zone show `at` or later
///
/// So `at` that a change of summer time skips begins a period at the end of the gap, and one that occurs twice begins
/// it the first time. A period of one day then lasts 23 or 25 hours.
class ROWLOCK_EXPORT schedule {
 public:
  /// An empty zone is UTC. Throws error{errc::invalid_option} with a sentence that names the option, the value and the
  /// rule.
  explicit schedule(duration every, std::optional<std::chrono::minutes> at = {}, const std::string& zone = {},
                    const wording& in = {});

  /// The period that contains `t`.
  period at(std::chrono::sys_time<duration> t) const;

 private:
  std::chrono::sys_time<duration> begin_of(std::int64_t number) const;

  duration every_;
  std::optional<std::chrono::seconds> at_{};  // absent: periods are multiples of every_
  base::time_zone zone_{};
};

}  // namespace rowlock::inline v1::core
