#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bench {

/// One thread's part in a subject, for one thread at a time.
class lane {
 public:
  lane() = default;
  lane(const lane&) = delete;
  lane& operator=(const lane&) = delete;
  virtual ~lane() = default;

  /// What is measured, once. Throws where it did not work.
  virtual void cycle() = 0;
  /// How many cycles that was.
  virtual std::size_t cycles_at_once() const { return 1; }
  /// How many statements its own connection was given since it was first asked, where a case is about that.
  virtual long long statements() { return 0; }
};

/// One way of doing what a case is about.
class subject {
 public:
  subject() = default;
  subject(const subject&) = delete;
  subject& operator=(const subject&) = delete;
  virtual ~subject() = default;

  /// May not outlive the subject.
  virtual std::unique_ptr<lane> open_lane(std::size_t number) = 0;
};

struct named_subject {
  std::string name;  ///< begins with "raw ", "rowlock " or what else there is
  /// Makes it, with everything it stores in a folder of its own.
  std::function<std::unique_ptr<subject>(const std::filesystem::path& folder)> make;

  bool is_raw() const { return name.starts_with("raw "); }
};

/// What a subject needs, counted apart from the timed rounds.
struct census {
  std::size_t connections = 0;
  double statements_per_cycle = 0;
};

struct measurement {
  std::vector<double> rates{};                ///< cycles per second, one a round
  std::vector<std::uint32_t> latencies_ns{};  ///< of every cycle, sorted
  census needs{};
  std::optional<double> longest_us{};  ///< of the longest statement of a sweep
  std::optional<double> p99_ratio{};   ///< to that of the first subject, where the case is about that
};

struct bench_case {
  std::string name;
  std::string database;
  std::size_t threads = 1;
  /// The first is the one that the others are compared with.
  std::vector<named_subject> subjects{};
  /// Counts what so many cycles of each thread of a subject do in that database.
  std::function<census(const std::function<std::unique_ptr<subject>()>& make, std::size_t threads, std::size_t cycles)>
      count{};
  /// For a case whose subjects cannot have their turns in slices: measures all of them, without a census.
  std::function<std::vector<measurement>(bool is_quick)> measure_whole{};
};

}  // namespace bench
