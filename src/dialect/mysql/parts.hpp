#pragma once

#include <array>
#include <string_view>

#include "dialect/dialect.hpp"

// Why each statement is safe: docs/protocol-mysql.md. One text serves both servers: only MariaDB reads what is in
// /*M!100600 … */, and only MySQL what is in /*!80000 … */. us(…) is a time in microseconds since 1970. {wanted(…)}
// stands for the requests of a batch, which come as one JSON document, with the columns that it names.
//
// The clock is SYSDATE(6), read where the row is locked already. Assignments run from left to right (sql_mode is ours),
// so the first one decides, by an id that no other attempt has, and all others follow it: the clock, read again, might
// decide otherwise.

namespace rowlock::inline v1::dialect::mysql_parts {

std::array<step, 16> leases();
std::array<step, 14> tickets();
std::array<step, 10> sharing();
std::array<step, 7> inspection();
std::array<step, 5> housekeeping();
std::array<step, 7> schema();

// What the sweeper has deleted had this version at most: a row that nobody can share, since no name is empty. A row
// that is made begins above it. Nothing is locked to read it. Both are seen by one read view, whether there is a row
// and the floor, and the floor was committed before the deletion: whoever does not see the row sees the floor.
inline constexpr std::string_view floor =
    "(SELECT COALESCE(MAX(token), 0) AS swept FROM rowlock_share WHERE name = '' AND acquisition = '')";

// Whether a ticket of a set, {q}, keeps the name of the row free for all of the set: core::insists_for.
inline constexpr std::string_view insists = R"(({q}.room < -1
      AND {q}.enqueued_at <= SYSDATE(6) - INTERVAL 100000 MICROSECOND
      AND ({q}.enqueued_at > SYSDATE(6) - INTERVAL 1100000 MICROSECOND
        OR us(SYSDATE(6)) % 5000000 < 1000000)))";

// A copy of a database has the same installation id, but another name, and each table is named in full.
inline constexpr std::string_view this_installation = R"(
SELECT m.installation FROM rowlock_migration m WHERE m.version = 1)";

}  // namespace rowlock::inline v1::dialect::mysql_parts
