#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "support/database.hpp"

namespace rowlock::test {

/// A call about a job, and what it answered. Times are microseconds since 1970.
struct job_call {
  std::string job{};
  std::string what{};       ///< its job_status; "threw": the exception of the work; "error": another exception
  std::int64_t token = 0;   ///< of the run that the answer is about; 0: of none
  bool is_patient = false;  ///< It had no limit of time, and was not asked to stop.
  std::int64_t begin = 0;   ///< when it was made
  std::int64_t end = 0;     ///< when it returned
};

/// The work of a run, by its token.
struct job_work {
  std::string job{};
  std::int64_t token = 0;
  bool is_done = false;  ///< It came to a good end, just before that end was to be recorded.
};

/// What all hosts have done, and what the database has of it.
struct job_history {
  std::vector<run_row> runs{};
  std::vector<job_work> works{};
  std::vector<job_call> calls{};
};

/// What the players of a job history may do.
struct job_rules {
  std::int64_t every = 0;  ///< the length of a period, in microseconds
  int retries = 0;
};

struct verdict_of_jobs {
  std::vector<std::string> violations{};
  std::size_t periods = 0;  ///< those with a run
  std::size_t successes = 0;
  std::size_t used_up = 0;  ///< periods without a success in which no more runs may begin
  std::size_t served = 0;   ///< periods in which a patient call began and ended
  std::size_t runs = 0;
  std::size_t lost = 0;        ///< runs
  std::size_t unrecorded = 0;  ///< runs whose work was done, and whose success is not recorded
  std::map<std::string, std::size_t> answers{};
};

/// - A period has at most one success, after which no run begins, and at most 1 + retries runs, numbered from 1 on;
/// - a runner whose end is recorded had begun the work, and done all of it if it has succeeded; it had the lock then:
///   the next run of the job begins later, and has a greater token;
/// - no work is done without a recorded run, nor twice under one token;
/// - the answers of all calls agree with what is recorded;
/// - a period in which a patient call began and ended, without losing its lock, has a success, or all runs were used
/// up.
verdict_of_jobs judge_jobs(const job_history& all, const job_rules& rules);

/// Hosts write down what they do, each line at once, so that it is there after a kill. Any thread may use it.
class job_record {
 public:
  explicit job_record(const std::filesystem::path& file) : out_{file} {}

  void works(std::string_view job, std::int64_t token) { write("W", job, token, ""); }
  void is_done(std::string_view job, std::int64_t token) { write("D", job, token, ""); }
  void answered(const job_call& call);

 private:
  void write(std::string_view kind, std::string_view job, std::int64_t token, const std::string& more);

  std::mutex mutex_;
  std::ofstream out_;
};

/// All records of a folder; a line that was cut is left out. `runs` is empty.
job_history read_job_records(const std::filesystem::path& folder);

}  // namespace rowlock::test
