#pragma once

#include <rowlock/job.hpp>
#include <rowlock/options.hpp>
#include <rowlock/sweeper.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "command/completion.hpp"
#include "command/exit_status.hpp"

namespace rowlock::command {

enum class subcommand : std::uint8_t {
  run,
  hold,
  lead,
  migrate,
  sweep,
  list,
  show,
  history,
  waiters,
  release,
  top,
  check,
  metrics,
  guard,
  sql,
  complete
};

/// rowlock run, lead and hold.
struct run_options {
  std::optional<duration> wait{};  ///< absent: no limit
  lock_options lock{};
  std::vector<std::string> also{};  ///< names to acquire together with the first
  bool is_shared = false;
  std::int64_t permits = 0;  ///< the semaphore's number of permits; 0: the name is a lock
  duration grace = std::chrono::seconds{10};
  bool is_quiet = false;
  bool is_verbose = false;
  int busy_exit = exit_status::busy;
  int lost_exit = exit_status::lost;
  std::optional<duration> every{};  ///< run: once in each period of this length, as `job` says, and recorded
  job_options job{};
  bool keeps_output = false;
  bool restarts = false;  ///< lead: start the command again when it has ended
  std::string shell_command{};
  std::vector<std::string> command{};
};

/// The options of the job that run --every runs.
inline job_options job_of(const run_options& given) {
  auto out = given.job;
  out.every = given.every.value();
  out.lock = given.lock;
  return out;
}

/// rowlock sweep.
struct sweep_options {
  sweeper_options how{};
  bool is_once = false;
  bool is_quiet = false;
};

/// The sort keys of `rowlock top`.
enum class top_order : std::uint8_t { name, age, lease, queue };

/// rowlock top.
struct top_options {
  duration every = std::chrono::seconds{1};
  top_order by = top_order::name;
  bool is_once = false;
};

/// rowlock guard.
struct guard_options {
  std::optional<duration> quarantine{};
  bool is_relaxed = false;
  bool is_off = false;
  bool ends_quarantine = false;
};

/// rowlock sql.
struct sql_options {
  std::optional<std::string> verb{};  ///< absent: all verbs
  bool transaction_pooling = false;   ///< as in client_options; so is the next one
  bool durable_release = false;
};

struct options {
  subcommand what{};
  std::string database{};  ///< empty: see the environment
  std::string table_prefix = client_options{}.table_prefix;
  std::string name{};
  std::string prefix{};
  bool as_json = false;
  bool is_confirmed = false;  ///< release, guard: do not ask
  bool is_dry_run = false;    ///< migrate: print what is missing
  bool wants_status = false;  ///< migrate: print the state of the tables
  std::size_t last = 20;      ///< history: the number of runs of each job
  bool only_failed = false;   ///< history
  bool is_of_one = false;     ///< waiters, history: of `name`; false: of all names (that begin with `prefix`)
  bool is_graph = false;      ///< waiters: who waits for whom, of all names
  std::int64_t token = 0;     ///< release: free only the holder with this token; 0: any holder
  bool measures = false;      ///< check
  duration measures_for = std::chrono::seconds{10};
  std::string output{};  ///< metrics: the file; empty: standard output
  run_options run{};
  sweep_options sweep{};
  top_options top{};
  guard_options guard{};
  sql_options sql{};
  completion completes{};
  std::optional<std::string> answer{};  ///< for --help, --version and help: the text to print; no subcommand runs
};

/// Throws usage_error.
options parse_options(int argc, const char* const* argv);

}  // namespace rowlock::command
