#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "testkit/child_process.hpp"

namespace rowlock::test {

/// Processes that are killed and stopped while they play. Each says "going" when it has begun, and goes on until
/// "enough" is in their folder.
class restless_crew {
 public:
  using member = std::unique_ptr<child_process>;

  restless_crew(std::filesystem::path folder, std::size_t size, std::function<member()> start);

  std::vector<member>& members() noexcept { return all_; }
  member& any(std::mt19937& random) { return all_.at(random() % all_.size()); }
  /// Kills it, and starts another one in its place, or stops it for less than `longest`.
  void disturb(member& one, std::mt19937& random, std::chrono::milliseconds longest);
  /// So many of them, one after the other.
  void disturb_some(int number, std::mt19937& random, std::chrono::milliseconds longest);
  /// Lets them come to their end, which must be a good one.
  void end();

 private:
  member start() const;

  std::filesystem::path folder_;
  std::function<member()> start_;
  std::vector<member> all_;
};

}  // namespace rowlock::test
