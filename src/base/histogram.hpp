#pragma once

#include <rowlock/export.hpp>
#include <rowlock/statistics.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace rowlock::inline v1::base {

/// Which bucket of a histogram counts a duration of this length: the first whose bound is not below it.
ROWLOCK_EXPORT std::size_t bucket_of(std::chrono::nanoseconds length) noexcept;

/// A histogram that any number of threads add to without waiting for each other. What is read meanwhile may have
/// counted a duration and not yet added it to the sum.
class ROWLOCK_EXPORT growing_histogram {
 public:
  void add(std::chrono::nanoseconds length) noexcept;
  histogram read() const noexcept;

 private:
  std::array<std::atomic<std::uint64_t>, histogram::bounds.size() + 1> counts_{};
  std::atomic<std::int64_t> nanoseconds_{0};  // calls may be shorter than a microsecond
};

/// Adds the counts of another one.
ROWLOCK_EXPORT void add(histogram& to, const histogram& more) noexcept;

/// How many durations it has counted.
ROWLOCK_EXPORT std::uint64_t total(const histogram& of) noexcept;

}  // namespace rowlock::inline v1::base
