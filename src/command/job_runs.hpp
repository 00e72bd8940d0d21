#pragma once

#include <rowlock/client.hpp>
#include <rowlock/job.hpp>

#include <cstddef>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "command/output.hpp"

namespace rowlock::command {

/// The last runs of a job, the newest first; without a name, of each job.
std::vector<job_run> last_runs(client& locks, const std::optional<std::string>& name, std::size_t most, runs_of which);

/// Whether the run has ended, and not succeeded.
bool has_failed(const job_run& run);

/// "succeeded", "exit status 3", "signal 9", "timed out", "lost" or "running".
std::string result_in_words(const job_run& run);

/// When and where: "at 2026-11-28T03:00:02Z on host-2".
std::string end_in_words(const job_run& run);

/// Writes the runs as a table with a heading.
void write(std::ostream& out, const std::vector<job_run>& runs);

/// Writes the last success, the last failure, and when the next period of a job begins, or since when the job is due,
/// from its last runs of each result.
void write_summary(std::ostream& out, const std::vector<job_run>& runs);

/// The same; null if there are no runs.
json json_of_summary(const std::vector<job_run>& runs);
json json_of(const job_run& run);
json json_of(const std::vector<job_run>& runs);

}  // namespace rowlock::command
