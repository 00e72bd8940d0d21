#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

#include <cstdint>
#include <string>

#include <rowlock/duration.hpp>
#include <rowlock/lock_name.hpp>

namespace rowlock::inline v1 {

/// A waiter for a lock, as the database records it.
///
/// Times are by the database's clock.
struct waiter_info {
  lock_name name;           ///< The name that is waited for.
  std::int64_t ticket = 0;  ///< The place in the queue; the smallest ticket is next.
  std::string owner{};      ///< The waiting client, as application:host:pid:id.
  std::string thread{};     ///< The holder inside the client that waits; see `holder`.
  duration age{};           ///< The time since the wait began.
  std::string note{};       ///< lock_options::note.
};

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
