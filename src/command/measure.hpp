#pragma once

#include <rowlock/duration.hpp>

#include <string>
#include <vector>

#include "command/options.hpp"

namespace rowlock::command {

/// Cycles of acquire and release, each thread with a name of its own.
struct measured_cycles {
  std::string commits;  ///< "as now", or "relaxed": the commits of grants did not wait for the disk
  int threads = 0;
  double per_second = 0;
  duration acquire{};  ///< so are the next ones: the median
  duration release{};
  duration both{};
};

/// The cost of a grant on the server of the options, from this host.
struct measurement {
  duration read{};                        ///< of one row: the median
  std::vector<measured_cycles> cycles{};  ///< first those of one thread, as now
};

/// Takes about options::check.length. It acquires locks of new names, which the next sweeps delete. Throws failure, if
/// nothing is granted, and error.
measurement measure(const options& given);

}  // namespace rowlock::command
