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

/// rowlock migrate.
struct migrate_options {
  bool is_dry_run = false;
  bool wants_status = false;
};

/// rowlock sweep.
struct sweep_options {
  sweeper_options how{};
  bool is_once = false;
  bool is_quiet = false;
};

/// rowlock history.
struct history_options {
  std::size_t last = 20;
  bool only_failed = false;
};

/// rowlock waiters.
struct waiters_options {
  bool is_of_one = false;  ///< false: of all names that begin with options::prefix
  bool is_graph = false;   ///< who waits for whom, of all names
};

/// The sort keys of `rowlock top`.
enum class top_order : std::uint8_t { name, age, lease, queue };

/// rowlock top.
struct top_options {
  duration every = std::chrono::seconds{1};
  top_order by = top_order::name;
  bool is_once = false;
};

/// rowlock release.
struct release_options {
  std::int64_t token = 0;  ///< free only the holder with this token; 0: any holder
};

/// rowlock check.
struct check_options {
  bool measures = false;
  duration length = std::chrono::seconds{10};  ///< of the measurement
};

/// rowlock metrics.
struct metrics_options {
  std::string output{};  ///< empty: standard output
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
  run_options run{};
  migrate_options migrate{};
  sweep_options sweep{};
  history_options history{};
  waiters_options waiters{};
  top_options top{};
  release_options release{};
  check_options check{};
  metrics_options metrics{};
  guard_options guard{};
  sql_options sql{};
  completion completes{};
  std::optional<std::string> answer{};  ///< for --help, --version and help: the text to print; no subcommand runs
};

/// Throws usage_error.
options parse_options(int argc, const char* const* argv);

}  // namespace rowlock::command
