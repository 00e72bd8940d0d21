#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

#include <cstdint>
#include <string_view>

#include <rowlock/detail/named_enum.hpp>
#include <rowlock/export.hpp>

namespace rowlock::inline v1 {

/// Why a lock was lost.
enum class loss_reason : std::uint8_t {
  none,          ///< The lock is not lost.
  expired,       ///< The lease ended: `renew` was false, or this process was paused for too long.
  taken_over,    ///< The lease ended in the database, and another holder holds the lock.
  forced,        ///< The lock was freed: by client::force_release, client::release_all, or a change of its row by hand.
  row_vanished,  ///< The lock's row is gone from the database.
  unreachable,   ///< The database could not be reached in time to renew the lease.
  session_ended,  ///< The connection that held the lock ended (for_update).
  hold_limit,     ///< The lock was held for as long as lock_options::hold_limit allows.
  client_closed,  ///< The client was closed or destroyed.
  forgotten,      ///< A failover, or a crash while the guard was relaxed, lost the grant (see client::set_guard).
  forked          ///< This process is a child of the one that holds the lock.
};

/// Returns the name of the enumerator, for logs.
ROWLOCK_EXPORT std::string_view to_string(loss_reason reason) noexcept;

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
