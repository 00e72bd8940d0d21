#pragma once

#include <rowlock/client.hpp>
#include <rowlock/error.hpp>
#include <rowlock/held_lock.hpp>

#include <memory>
#include <utility>

namespace rowlock::inline v1::detail {

/// What is behind the doors, for whoever stands between them. Throws where there is nothing.
struct inside {
  /// A copy: it lives until the call ends, even if the client is destroyed meanwhile.
  static std::shared_ptr<client_impl> of(client& c) { return of(std::as_const(c)); }
  /// The same for what only looks.
  static std::shared_ptr<client_impl> of(const client& c) {
    if (!c.impl_) throw error{errc::client_closed, "this rowlock client was moved from"};
    return c.impl_;
  }
  static const std::shared_ptr<acquisition>& of(const held_lock& held) {
    if (!held.acquisition_)
      throw error{errc::not_held, "this held_lock is empty: it was released, moved from, or never had a lock"};
    return held.acquisition_;
  }
  /// What was held is the caller's to let go.
  static std::shared_ptr<acquisition> take(held_lock&& held) { return std::exchange(held.acquisition_, nullptr); }
};

}  // namespace rowlock::inline v1::detail
