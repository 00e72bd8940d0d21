#pragma once

#include <iosfwd>
#include <optional>

#include <rowlock/export.hpp>
#include <rowlock/statistics.hpp>

namespace rowlock::inline v1 {

/// As OpenMetrics 1.0 text, from the first "# TYPE" to "# EOF": counters, gauges and histograms, in seconds, named
/// rowlock_…. Prometheus reads it from HTTP, and node_exporter from a file of its textfile collector. Sets the stream's
/// state where it cannot be written to; throws only what the stream is set to throw.
ROWLOCK_EXPORT void write_openmetrics(std::ostream& to, const client_statistics& of);
/// Of a database; absent: of one that does not answer, of which only that is known (rowlock_database_up).
ROWLOCK_EXPORT void write_openmetrics(std::ostream& to, const std::optional<database_statistics>& of);

}  // namespace rowlock::inline v1
