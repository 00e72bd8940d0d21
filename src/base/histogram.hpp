#pragma once

#include <rowlock/statistics.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace rowlock::inline v1::base {

/// The bucket of a histogram that counts a duration of this length: the first whose bound is not below it.
inline std::size_t bucket_of(std::chrono::nanoseconds length) noexcept {
  const auto found = std::lower_bound(histogram::bounds.begin(), histogram::bounds.end(), length);
  return static_cast<std::size_t>(found - histogram::bounds.begin());
}

/// A histogram to which any number of threads add without waiting for each other. A concurrent read may have a duration
/// in the count and not yet in the sum.
class growing_histogram {
 public:
  void add(std::chrono::nanoseconds length) noexcept {
    counts_.at(bucket_of(length)).fetch_add(1, std::memory_order_relaxed);
    nanoseconds_.fetch_add(length.count(), std::memory_order_relaxed);
  }
  histogram read() const noexcept {
    histogram out;
    for (std::size_t i = 0; i < counts_.size(); ++i) out.counts.at(i) = counts_.at(i).load(std::memory_order_relaxed);
    out.sum = std::chrono::round<duration>(std::chrono::nanoseconds{nanoseconds_.load(std::memory_order_relaxed)});
    return out;
  }

 private:
  std::array<std::atomic<std::uint64_t>, histogram::bounds.size() + 1> counts_{};
  std::atomic<std::int64_t> nanoseconds_{0};  // calls may be shorter than a microsecond
};

/// Adds the counts of another one.
inline void add(histogram& to, const histogram& more) noexcept {
  for (std::size_t i = 0; i < to.counts.size(); ++i) to.counts.at(i) += more.counts.at(i);
  to.sum += more.sum;
}

inline std::uint64_t total(const histogram& of) noexcept {
  return std::accumulate(of.counts.begin(), of.counts.end(), std::uint64_t{0});
}

}  // namespace rowlock::inline v1::base
