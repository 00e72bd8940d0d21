#pragma once

#include <cstdint>
#include <string_view>

#include <rowlock/export.hpp>

namespace rowlock::inline v1 {

/// How a lock is owned. All strategies contend for the same row, so that they exclude each other.
enum class strategy : std::uint8_t {
  /// A lease: an INSERT decided by the unique index on the name, or the conditional takeover of a vacant or expired
  /// row. Holds no connection. Let go by release, or when the lease expires.
  unique_index,
  /// A transaction that stays open and keeps the row locked (SELECT … FOR UPDATE). Holds one connection. Let go by
  /// release, or as soon as the connection or the process ends. For short holds: an open transaction keeps PostgreSQL
  /// from cleaning up. In an SQLite file, where rows cannot be locked, the row names a file that the operating system
  /// keeps locked while the client lives.
  for_update,
  /// A lease, taken by reading the row's version and changing the row only if it has that version still: optimistic
  /// concurrency control. Never waits for a row lock; of many who try at once more than one may have to try again.
  version_cas
};

/// The name of the enumerator, as commands take it.
ROWLOCK_EXPORT std::string_view to_string(strategy s) noexcept;

}  // namespace rowlock::inline v1
