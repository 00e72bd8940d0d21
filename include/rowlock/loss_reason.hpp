#pragma once

#include <cstdint>
#include <string_view>

#include <rowlock/export.hpp>

namespace rowlock::inline v1 {

/// Why a lock was lost.
enum class loss_reason : std::uint8_t {
  none,           ///< it was not
  expired,        ///< the lease ran out: it was not to be renewed, or this process was paused too long
  taken_over,     ///< the lease had run out in the database and somebody else has the name since
  forced,         ///< somebody freed it: client::force_release, release_all, or a change of its row by hand
  row_vanished,   ///< its row is gone
  unreachable,    ///< the database could not be reached in time to renew it
  session_ended,  ///< the connection that held it ended
  hold_limit,     ///< it was held for as long as the options allow
  client_closed,  ///< its client was closed or destroyed
  forked          ///< this process is a child of the one that holds it
};

/// The name of the enumerator, for logs.
ROWLOCK_EXPORT std::string_view to_string(loss_reason reason) noexcept;

}  // namespace rowlock::inline v1
