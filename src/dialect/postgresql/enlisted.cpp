#include <string>

#include "dialect/postgresql/parts.hpp"

namespace rowlock::inline v1::dialect {

// Inside the caller's transaction, whose client_encoding may be any: all text is UTF-8 in hexadecimal. In any other
// installation the row is left alone.

namespace {

constexpr std::string_view take_vacant_here = R"(
UPDATE rowlock_lock SET version = greatest(version + 1, {token}), owner = NULL, thread = NULL, note = {3},
  expires_at = clock_timestamp()
WHERE name = (SELECT name FROM rowlock_lock
  WHERE name = {1} AND owner IS NULL AND {installation} = {2} FOR UPDATE SKIP LOCKED)
RETURNING version)";

// $4: what the client has released, and cannot vacate over its pool because this very transaction has it pinned.
constexpr std::string_view take_here = R"(
WITH home AS MATERIALIZED (SELECT coalesce({installation} = {2}, false) AS is_here),
taken AS (
  UPDATE rowlock_lock SET version = greatest(version + 1, {token}), owner = NULL, thread = NULL, note = {3},
    expires_at = clock_timestamp()
  WHERE name = (SELECT name FROM rowlock_lock
    WHERE name = {1} AND (owner IS NULL OR acquisition = {4}) AND (SELECT is_here FROM home) FOR UPDATE{or_skip})
  RETURNING version)
SELECT (SELECT is_here::integer FROM home), (SELECT version FROM taken),
  (SELECT (owner IS NULL)::integer FROM rowlock_lock WHERE name = {1}), current_setting('transaction_isolation'))";

// The clock is read above the lock.
constexpr std::string_view pin_here = R"(
SELECT coalesce({installation} = {3}, false)::integer, (SELECT (expires_at > clock_timestamp())::integer FROM (
    SELECT expires_at FROM rowlock_lock WHERE name = {1} AND acquisition = {2} AND owner IS NOT NULL
    FOR KEY SHARE SKIP LOCKED) own), current_setting('transaction_isolation'))";

constexpr std::string_view set_here = R"(
WITH home AS MATERIALIZED (SELECT coalesce({installation} = {2}, false) AS is_here),
changed AS (
  UPDATE rowlock_lock SET version = greatest(version + 1, {token})
  WHERE name = (SELECT name FROM rowlock_lock
    WHERE name = {1} AND version = $3::bigint AND owner IS NULL AND (SELECT is_here FROM home) FOR UPDATE SKIP LOCKED)
  RETURNING version)
SELECT (SELECT is_here::integer FROM home), (SELECT version FROM changed))";

}  // namespace

enlisted_texts postgresql_enlisted(std::string_view prefix, std::string_view place) {
  const auto in_full = std::string{place}.append(prefix);
  const auto text = [&](std::string_view of) {
    auto out = replaced(of, "{installation}", postgresql_parts::this_installation);
    for (const auto* n : {"1", "2", "3", "4"})
      out = replaced(out, "{" + std::string{n} + "}",
                     "convert_from(decode($" + std::string{n} + "::text, 'hex'), 'UTF8')");
    return with_prefix(postgresql_parts::finished(out, {}), in_full);
  };
  return {.take_vacant = text(take_vacant_here),
          .take = text(replaced(take_here, "{or_skip}", " SKIP LOCKED")),
          .await = text(replaced(take_here, "{or_skip}", "")),
          .pin = text(pin_here),
          .installation = text("SELECT coalesce({installation} = {1}, false)::integer"),
          .set = text(set_here)};
}

}  // namespace rowlock::inline v1::dialect
