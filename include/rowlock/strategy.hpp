#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

#include <cstdint>
#include <string_view>

#include <rowlock/detail/named_enum.hpp>
#include <rowlock/export.hpp>

namespace rowlock::inline v1 {

/// How a lock is owned in the database.
///
/// All strategies contend for the same row, so locks of different strategies exclude each other.
enum class strategy : std::uint8_t {
  /// A lease, granted by the unique index on the name.
  ///
  /// Acquiring inserts the row, or conditionally takes over a vacant or expired one. The lock keeps no connection. It
  /// ends by release, or when the lease expires.
  unique_index,
  /// A transaction that stays open and keeps the row locked (SELECT … FOR UPDATE).
  ///
  /// The lock keeps one connection. It ends by release, or as soon as the connection or the process ends. SQLite cannot
  /// lock rows; there the row names a file that the operating system keeps locked while the client lives.
  ///
  /// \warning Use it for short holds only: an open transaction keeps PostgreSQL from cleaning up (VACUUM).
  for_update,
  /// A lease, granted by compare-and-set on the row's version: optimistic concurrency control.
  ///
  /// Acquiring reads the version and changes the row only if the version is still the same. It waits for a row lock
  /// only at the first use of a name. If many clients try at once, more than one may have to try again. The lock ends
  /// by release, or when the lease expires.
  version_cas
};

/// Returns the name of the enumerator, as the command's options take it.
ROWLOCK_EXPORT std::string_view to_string(strategy s) noexcept;

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
