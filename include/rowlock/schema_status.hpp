#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <rowlock/detail/named_enum.hpp>
#include <rowlock/duration.hpp>
#include <rowlock/export.hpp>

namespace rowlock::inline v1 {

/// Whether one schema file is applied in a database.
enum class migration_state : std::uint8_t {
  pending,  ///< Not recorded: migrate() would run it.
  applied,  ///< Applied from exactly the text that this library has.
  by_hand,  ///< Recorded without a checksum: the file was run by hand; migrate() records the checksum.
  edited,   ///< Applied from another text than this library has: migrate() refuses.
  unknown   ///< Newer than this library.
};

/// Returns the name of the enumerator, for people and logs.
ROWLOCK_EXPORT std::string_view to_string(migration_state state) noexcept;

/// One schema file: known to this library, recorded in the database, or both.
struct migration_status {
  int version = 0;     ///< The number of the file.
  std::string file{};  ///< Its name in the database's folder in schema/; empty: unknown to this library.
  migration_state state = migration_state::pending;  ///< Whether the file is applied.
  std::optional<std::chrono::sys_time<duration>>
      applied_at{};  ///< When it was applied, by the database's clock; absent: pending.
  /// The text of the file with the client's table prefix, to be run by hand; empty: unknown to this library.
  std::string sql{};
};

/// The state of the tables, and whether this library can work with them.
struct schema_status {
  int applied = 0;   ///< The newest version that is recorded; 0: none.
  int expected = 0;  ///< The newest version that this library knows.
  /// The oldest version that a library may expect and still work with these tables; 0: none is recorded.
  int serves_from = 0;
  /// Whether this library can work with the tables: nothing is pending, and a newer schema still serves it.
  bool fits = false;
  std::string refusal{};  ///< A sentence that says why migrate() would refuse; empty: it would not.
  std::vector<migration_status> migrations{};  ///< The schema files, ordered by version.
};

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
