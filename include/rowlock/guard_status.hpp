#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <rowlock/duration.hpp>

namespace rowlock::inline v1 {

/// How the guard over failovers is switched on; see client::set_guard.
struct guard_options {
  /// Grants, renewals and releases do not wait for the disk, and a crash of the server begins a quarantine, too.
  /// PostgreSQL.
  bool relaxed = false;
};

/// The guard over failovers of one database; see client::set_guard.
///
/// Times are the database's.
struct guard_status {
  /// The length of a quarantine, which no lease exceeds; absent: the guard is off.
  std::optional<duration> quarantine{};
  /// Time until the end of the quarantine that is on now; absent: none is on.
  std::optional<duration> left{};
  /// The last change of the guard: the begin of the latest quarantine, or the time when it was switched on or off.
  std::chrono::sys_time<duration> since{};
  /// The server's history of commits to which the tables belong; empty: the guard is off.
  std::string incarnation{};
  /// The number of changes of the guard.
  std::int64_t term = 0;
  /// Grants, renewals and releases do not wait for the disk; see guard_options.
  bool relaxed = false;
};

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
