#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <rowlock/duration.hpp>
#include <rowlock/export.hpp>

namespace rowlock::inline v1 {

/// How one file of the schema stands in a database.
enum class migration_state : std::uint8_t {
  pending,  ///< not recorded: migrate() would run it
  applied,  ///< from the very text that this library has
  by_hand,  ///< recorded without a checksum: somebody ran the file; migrate() notes the checksum
  edited,   ///< from another text than this library has: migrate() refuses
  unknown   ///< newer than this library
};

/// The name of the enumerator, for people and logs.
ROWLOCK_EXPORT std::string_view to_string(migration_state state) noexcept;

/// One file of the schema, known to this library, recorded in the database, or both.
struct migration_status {
  int version = 0;     ///< its number
  std::string file{};  ///< its name in the folder of the database in schema/; empty: unknown to this library
  migration_state state = migration_state::pending;             ///< how the file stands
  std::optional<std::chrono::sys_time<duration>> applied_at{};  ///< by the database's clock; absent: pending
  /// Its text with the client's table prefix, to be run by hand; empty: unknown to this library.
  std::string sql{};
};

/// How the tables stand, and whether this library can work with them.
struct schema_status {
  int applied = 0;   ///< the newest version that is recorded; 0: none
  int expected = 0;  ///< the newest version that this library knows
  int serves_from =
      0;              ///< the oldest version a library may expect and still work with these tables; 0: none is recorded
  bool fits = false;  ///< this library can work with them: nothing is pending, and a newer schema still serves it
  std::string refusal{};                       ///< why migrate() would refuse, in a sentence; empty: it would not
  std::vector<migration_status> migrations{};  ///< by version
};

}  // namespace rowlock::inline v1
