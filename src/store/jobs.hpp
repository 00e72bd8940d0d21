#pragma once

#include <rowlock/job.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/period.hpp"
#include "store/access.hpp"

/// The recorded runs of jobs. A function that writes one names the acquisition that holds the job's lock, and does
/// nothing unless that lock is held. So no answer is needed: the rows show what was done, even if a reply was lost.
namespace rowlock::inline v1::store {

/// The lock under which a job runs. Views are valid during the call.
struct job_lock {
  std::string_view name;
  std::string_view acquisition;
  fencing_token token{};
};

/// Records that runs of earlier holders, which have not ended, are lost.
void close_runs(const access& db, const job_lock& by);

/// Records a run as the next of its period, unless one has succeeded, `most` were begun, the last one ended less than
/// `wait` ago, or this lock has begun one in this period.
void begin_run(const access& db, const job_lock& by, const core::period& in, int most, duration wait);

/// Records the end of the run that this lock has begun in the period that begins then, unless an end is recorded.
void end_run(const access& db, const job_lock& by, std::chrono::sys_time<duration> begin, const job_ending& how);

/// The runs of a job in a period, the newest first, and when that was. A run that has not ended, and whose lock is not
/// held any more, is lost.
struct found_runs {
  std::vector<job_run> runs{};
  std::chrono::sys_time<duration> now{};  ///< only if there are runs
};

found_runs find_runs(const access& db, std::string_view job, std::chrono::sys_time<duration> begin);

/// The last `most` runs of each job from `first` on that comes before `end`, or of each of its results, by job, the
/// newest first.
std::vector<job_run> list_runs(const access& db, std::string_view first, const std::optional<std::string>& end,
                               std::size_t most, runs_of which);

/// Deletes runs of periods that ended that long ago, `number` at most, but not the last `kept` of a job. How many were
/// deleted.
std::size_t forget_runs(const access& db, std::size_t kept, duration retention, std::size_t number);

}  // namespace rowlock::inline v1::store
