#include <string>

#include "dialect/sqlite/parts.hpp"

namespace rowlock::inline v1::dialect {

// Inside the caller's transaction. The functions that the driver registers do not exist on the caller's connection.

namespace {

// Takes the file's write lock and changes nothing.
constexpr std::string_view await_here = "UPDATE rowlock_lock SET version = version WHERE 0";

constexpr std::string_view see_here =
    "SELECT version, owner IS NULL, expires_at, liveness, acquisition FROM rowlock_lock WHERE name = ?1";

constexpr std::string_view take_here =
    "INSERT INTO rowlock_lock (name, version, expires_at) "
    "VALUES (?1, ifnull((SELECT token FROM rowlock_share WHERE name = '' AND acquisition = ''), 0), 0) "
    "RETURNING version, owner IS NULL, expires_at, liveness, acquisition";

// RETURNING would cost more than the rest.
constexpr std::string_view take_vacant_here =
    "UPDATE rowlock_lock SET version = ?2, note = ?3, expires_at = ?4 "
    "WHERE name = ?1 AND owner IS NULL AND version < ?5";

constexpr std::string_view change_here =
    "UPDATE rowlock_lock SET version = ?2, owner = NULL, thread = NULL, liveness = NULL, "
    "note = ?3, expires_at = ?4 WHERE name = ?1";

constexpr std::string_view pin_here =
    "SELECT owner IS NOT NULL AND acquisition = ?2, expires_at FROM rowlock_lock WHERE name = ?1";

}  // namespace

enlisted_texts sqlite_enlisted(std::string_view prefix, std::string_view file) {
  const auto in_full = "\"" + replaced(file, "\"", "\"\"") + "\"." + std::string{prefix};
  const auto text = [&](std::string_view of) { return with_prefix(of, in_full); };
  return {.take_vacant = text(take_vacant_here),
          .take = text(take_here),
          .await = text(await_here),
          .change = text(change_here),
          .pin = text(pin_here),
          .see = text(see_here),
          .installation = text(sqlite_parts::this_installation)};
}

}  // namespace rowlock::inline v1::dialect
