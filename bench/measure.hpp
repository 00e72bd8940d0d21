#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
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

/// What a subject needs, counted apart from the timed rounds.
struct census {
  std::size_t connections = 0;
  double statements_per_cycle = 0;
};

/// Counts what so many cycles of each thread of a subject do.
using take_census = std::function<census(const std::function<std::unique_ptr<subject>()>& make, std::size_t threads,
                                         std::size_t cycles)>;

struct named_subject {
  std::string name;  ///< begins with "raw ", "rowlock " or what else there is
  /// Makes it, with everything it stores in a folder of its own.
  std::function<std::unique_ptr<subject>(const std::filesystem::path& folder)> make;
  /// Instead of that of its case, for a subject that uses another server.
  take_census count{};
};

struct measurement {
  std::vector<double> rates{};                ///< cycles per second, one a round
  std::vector<double> slowest_shares{};       ///< cycles of the slowest thread beside the mean of all, one a round
  std::vector<std::uint32_t> latencies_ns{};  ///< of every cycle, sorted
  census needs{};
  double own_cores = 0;   ///< processors that this process kept busy
  double busy_cores = 0;  ///< those that were busy, whoever kept them so
  /// What else a case is about, by names with their units.
  std::map<std::string, double> figures{};
};

struct bench_case {
  std::string name{};
  std::string database{};
  std::size_t threads = 1;
  /// The first is the one that the others are compared with.
  std::vector<named_subject> subjects{};
  /// In that database.
  take_census count{};
  /// For a case whose subjects cannot have their turns in slices: measures all of them, without a census.
  std::function<std::vector<measurement>(bool is_quick)> measure_whole{};
};

/// In every round each subject has its turn `slices` times, so that whatever else the machine does hits all alike.
struct schedule {
  std::size_t rounds = 5;
  std::size_t slices = 40;
  std::chrono::milliseconds slice{25};
  std::size_t counted = 400;  ///< cycles of all threads together, in the census
  /// Opens the lanes for a turn and closes them after it: hundreds of idle connections would slow down the others.
  bool has_fresh_lanes = false;
};

/// For so many threads.
schedule schedule_for(std::size_t threads, bool is_quick);

using lanes = std::vector<std::unique_ptr<lane>>;
lanes open_lanes(subject& of, std::size_t count);
/// All at once, each in a thread of its own. Throws what any of them threw.
void run_cycles(const lanes& all, std::size_t cycles);

/// All at once, until `goes_on` says no.
measurement run_while(const lanes& all, const std::function<bool()>& goes_on);
/// What that share of the times does not exceed, in nanoseconds.
double percentile(const std::vector<std::uint32_t>& sorted_ns, double share);

/// One measurement for each subject of the case, in their order.
std::vector<measurement> measure(const bench_case& what, bool is_quick);

}  // namespace bench
