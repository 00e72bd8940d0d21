#include <string>

#include "dialect/mysql/parts.hpp"

namespace rowlock::inline v1::dialect {

// Inside the caller's transaction. {clock} is UTC, whatever time zone the session has.

namespace {

// The sub-selects read by the snapshot, and take it if there is none: after the row was locked, and not if it was not.
// They look for a first row, not for a certain one, which the server could read before. ?2: what the client has
// released, and cannot vacate over its pool because this very transaction has it locked. Up to READ COMMITTED, a row
// that does not match is unlocked at once.
constexpr std::string_view take_here = R"(
SELECT l.version, l.owner IS NULL OR l.acquisition = ?2, GREATEST(l.version + 1, {token}), @@autocommit,
  us(l.expires_at), l.owner IS NULL,
  (SELECT s.name = l.name AND s.version = l.version AND s.expires_at <=> l.expires_at FROM rowlock_lock s
    WHERE s.name >= l.name ORDER BY s.name LIMIT 1),
  ({installation of l})
FROM rowlock_lock l WHERE l.name = ?1 AND (l.owner IS NULL OR l.acquisition = ?2
  OR /*M!100600 @@tx_isolation */ /*!80000 @@transaction_isolation */ NOT LIKE 'READ-%')
FOR UPDATE)";

constexpr std::string_view change_here = R"(
UPDATE rowlock_lock SET version = ?2, owner = NULL, thread = CONCAT('session ', CONNECTION_ID(), ' to ', ?2),
  note = CONVERT(?3 USING utf8mb4),
  expires_at = {clock}
WHERE name = ?1)";

constexpr std::string_view pin_here = R"(
SELECT l.owner IS NOT NULL AND l.acquisition = ?2, l.expires_at > {clock},
  (SELECT s.acquisition = ?2 FROM rowlock_lock s WHERE s.name = l.name), ({installation}), @@autocommit, CONNECTION_ID()
FROM rowlock_lock l WHERE l.name = ?1 FOR UPDATE SKIP LOCKED)";

constexpr std::string_view isolation_here = R"(
SELECT /*M!100600 @@tx_isolation */ /*!80000 @@transaction_isolation */, CONNECTION_ID())";

constexpr std::string_view prolong_here = R"(
UPDATE rowlock_lock SET expires_at = GREATEST(expires_at + INTERVAL 1 MICROSECOND, {clock} + INTERVAL ?2 MICROSECOND)
WHERE name = ?1)";

constexpr std::string_view set_here = R"(
SELECT GREATEST(version + 1, {token}), ({installation}), @@autocommit FROM rowlock_lock
WHERE name = ?1 AND version = ?2 AND owner IS NULL FOR UPDATE SKIP LOCKED)";

}  // namespace

enlisted_texts mysql_enlisted(std::string_view prefix, std::string_view place) {
  const auto in_full = std::string{place}.append(prefix);
  const auto installation_of_l =
      replaced(mysql_parts::this_installation, "= 1", ">= 1 + 0 * l.version ORDER BY m.version LIMIT 1");
  const auto text = [&](std::string_view of) {
    auto out = replaced(of, "{token}", " us({clock})");
    out = replaced(out, " us(", " TIMESTAMPDIFF(MICROSECOND, '1970-01-01', ");
    out = replaced(out, "{clock}",
                   "(SYSDATE(6) + INTERVAL TIMESTAMPDIFF(MICROSECOND, NOW(6), UTC_TIMESTAMP(6)) MICROSECOND)");
    out = replaced(out, "{installation}", mysql_parts::this_installation);
    return with_prefix(replaced(out, "{installation of l}", installation_of_l), in_full);
  };
  return {.take = text(std::string{take_here}.append(" SKIP LOCKED")),
          .await = text(take_here),
          .change = text(change_here),
          .pin = text(pin_here),
          .isolation = std::string{isolation_here},
          .prolong = text(prolong_here),
          .installation = text(mysql_parts::this_installation),
          .set = text(set_here)};
}

}  // namespace rowlock::inline v1::dialect
