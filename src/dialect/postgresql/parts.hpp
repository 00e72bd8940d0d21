#pragma once

#include <array>
#include <string>
#include <string_view>

#include "dialect/dialect.hpp"

// Why each statement is safe: docs/protocol-postgresql.md. What they have in common: a sub-select that skips rows
// which others have locked locks the row before it is changed, and clock_timestamp() is read above that lock. Braces
// mark what depends on the options; us(…) is an interval or a time in microseconds.

namespace rowlock::inline v1::dialect::postgresql_parts {

std::array<step, 15> leases();
std::array<step, 17> tickets();
std::array<step, 10> sharing();
std::array<step, 10> inspection();
std::array<step, 5> housekeeping();
std::array<step, 6> schema();

/// Replaces what depends on the options, and us(…). Settings live in the session, unless several clients share it: then
/// each statement brings its settings along, for its own transaction.
std::string finished(std::string_view text, const choices& with);

// A copy of a database has the same installation id, but another name or other tables.
inline constexpr std::string_view this_installation = R"(
(SELECT installation || '/' || encode(convert_to(current_database(), 'UTF8'), 'hex') || '/' || m.tableoid::text
  FROM rowlock_migration m WHERE version = 1))";

// What the sweeper has deleted had this version at most: a row that nobody can share, since no name is empty. A row
// that is made begins above it. Nothing is locked to read it. Both are seen by one snapshot, whether there is a row and
// the floor, and the floor was committed before the deletion: whoever does not see the row sees the floor.
inline constexpr std::string_view floor = "(SELECT token FROM rowlock_share WHERE name = '' AND acquisition = '')";

// Whether a ticket of a set, {q}, keeps the name of the row free for all of the set: core::insists_for.
inline constexpr std::string_view insists = R"(({q}.room < -1
      AND {q}.enqueued_at <= clock_timestamp() - interval '100 milliseconds'
      AND ({q}.enqueued_at > clock_timestamp() - interval '1100 milliseconds'
        OR us(clock_timestamp()) % 5000000 < 1000000)))";

/// Notifies the first waiter for `name`, in a column of its own. `mine` begins with the id of the client that releases:
/// its own waiters are not notified. `others` narrows the queue of which the first is notified.
std::string tell_first(std::string_view name, std::string_view mine, std::string_view others = {});

}  // namespace rowlock::inline v1::dialect::postgresql_parts
