#pragma once

#include <rowlock/lock_name.hpp>
#include <rowlock/options.hpp>

#include <memory>
#include <stop_token>

#include "api/held_handles.hpp"
#include "core/sharing.hpp"
#include "engine/client_core.hpp"

namespace rowlock::inline v1::detail {

/// What mutexes have in common: a name, and handles of those who have locked it through them.
struct lockable_state {
  /// Throws error{errc::invalid_option}.
  lockable_state(std::shared_ptr<engine::client_core> of, lock_name what, lock_options how);

  const std::shared_ptr<engine::client_core> client;
  const lock_name name;
  const lock_options options;

  bool lock(held_handles& to, duration wait, const std::stop_token& stop, core::sharing share = {});
  void unlock(held_handles& from) noexcept;
  const held_lock* latest(held_handles& of) const;
  /// Throws errc::not_held.
  [[noreturn]] void throw_not_held() const;

 private:
  holder whose() const { return options.as ? *options.as : holder::this_thread(); }
};

}  // namespace rowlock::inline v1::detail
