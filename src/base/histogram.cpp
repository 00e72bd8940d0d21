#include "base/histogram.hpp"

#include <algorithm>
#include <numeric>

namespace rowlock::inline v1::base {

std::size_t bucket_of(std::chrono::nanoseconds length) noexcept {
  const auto found = std::lower_bound(histogram::bounds.begin(), histogram::bounds.end(), length);
  return static_cast<std::size_t>(found - histogram::bounds.begin());
}

void growing_histogram::add(std::chrono::nanoseconds length) noexcept {
  counts_.at(bucket_of(length)).fetch_add(1, std::memory_order_relaxed);
  nanoseconds_.fetch_add(length.count(), std::memory_order_relaxed);
}

histogram growing_histogram::read() const noexcept {
  histogram out;
  for (std::size_t i = 0; i < counts_.size(); ++i) out.counts.at(i) = counts_.at(i).load(std::memory_order_relaxed);
  out.sum = std::chrono::round<duration>(std::chrono::nanoseconds{nanoseconds_.load(std::memory_order_relaxed)});
  return out;
}

void add(histogram& to, const histogram& more) noexcept {
  for (std::size_t i = 0; i < to.counts.size(); ++i) to.counts.at(i) += more.counts.at(i);
  to.sum += more.sum;
}

std::uint64_t total(const histogram& of) noexcept {
  return std::accumulate(of.counts.begin(), of.counts.end(), std::uint64_t{0});
}

}  // namespace rowlock::inline v1::base
