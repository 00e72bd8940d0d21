#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

#include <iosfwd>
#include <optional>
#include <vector>

#include <rowlock/export.hpp>
#include <rowlock/job.hpp>
#include <rowlock/statistics.hpp>

namespace rowlock::inline v1 {

/// Writes a client's statistics as OpenMetrics 1.0 text.
///
/// The text extends from the first "# TYPE" to "# EOF" and contains counters, gauges and histograms, in seconds, with
/// names that begin with rowlock_. Prometheus reads it over HTTP, and node_exporter from a file of its textfile
/// collector. docs/observing.md lists the metrics.
///
/// Errors: if the stream cannot be written to, its state is set; the call throws only what the stream is set to throw.
ROWLOCK_EXPORT void write_openmetrics(std::ostream& to, const client_statistics& of);
/// Writes a database's statistics as OpenMetrics 1.0 text.
///
/// std::nullopt means that the database did not answer: the text then contains only rowlock_database_up, with the value
/// 0.
///
/// `runs`: as list_job_runs() returns them. For each job the text says when it last succeeded, how long its last run
/// took, how long its period is, whether it runs, and how many of these runs have ended in which way.
ROWLOCK_EXPORT void write_openmetrics(std::ostream& to, const std::optional<database_statistics>& of,
                                      const std::vector<job_run>& runs = {});

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
