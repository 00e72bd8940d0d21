#pragma once

#include <array>
#include <string_view>

#include "dialect/dialect.hpp"

// Why each statement is safe: docs/protocol-sqlite.md. The driver registers three functions. clock_us() is read once
// for each statement, and in a statement that writes after it took the file's write lock. tell(n, value) answers its
// value, which becomes column n of the answer, after the request's key, if the statement changes a row: RETURNING would
// build a temporary table for each statement. is_dead(expires_at, liveness) is true where there is no lease and the
// client that holds the row is gone.

namespace rowlock::inline v1::dialect::sqlite_parts {

std::array<step, 15> leases();
std::array<step, 11> tickets();
std::array<step, 10> sharing();
std::array<step, 5> inspection();
std::array<step, 5> housekeeping();
std::array<step, 6> schema();

// What the sweeper has deleted had this version at most: a row that nobody can share, since no name is empty. A row
// that is made begins above it.
inline constexpr std::string_view first_token =
    "max(clock_us(), ifnull((SELECT token + 1 FROM rowlock_share WHERE name = '' AND acquisition = ''), 0))";

// Whether a ticket of a set, q, keeps the name of the row free for all of the set: core::insists_for.
inline constexpr std::string_view insists =
    "(q.room < -1 AND q.enqueued_at <= clock_us() - 100000 "
    "AND (q.enqueued_at > clock_us() - 1100000 OR clock_us() % 5000000 < 1000000))";

// The driver of the caller's transaction looks for the file itself: a copy of a file has the same installation id.
inline constexpr std::string_view this_installation = "SELECT installation FROM rowlock_migration WHERE version = 1";

}  // namespace rowlock::inline v1::dialect::sqlite_parts
