#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "subject.hpp"

namespace bench {

/// In every round each subject has its turn `slices` times, so that whatever else the machine does hits all alike.
struct schedule {
  std::size_t rounds = 5;
  std::size_t slices = 40;
  std::chrono::milliseconds slice{25};
  std::size_t counted = 400;  ///< cycles of all threads together, in the census
};

using lanes = std::vector<std::unique_ptr<lane>>;
lanes open_lanes(subject& of, std::size_t count);
/// All at once, each in a thread of its own. Throws what any of them threw.
void run_cycles(const lanes& all, std::size_t cycles);

/// All at once, until `goes_on` says no.
measurement run_while(const lanes& all, const std::function<bool()>& goes_on);
/// What that share of the times does not exceed, in nanoseconds.
double percentile(const std::vector<std::uint32_t>& sorted_ns, double share);

/// One measurement for each subject of the case, in their order.
std::vector<measurement> measure(const bench_case& what, const schedule& when);

}  // namespace bench
