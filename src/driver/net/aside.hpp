#pragma once

#include <rowlock/export.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "driver/session.hpp"

namespace rowlock::inline v1::driver {

/// Runs a function that knows no limits, such as the lookup of a host name, in a thread of its own, and waits for it
/// within these limits; false: not in time, or stopped. The thread is then left behind: `given_up` tells it so, and it
/// ends when the function returns. So everything that `what` uses has to be its own. Throws what `what` throws, and
/// error{errc::connection_failed} if no thread can be started.
ROWLOCK_EXPORT bool run_aside(const limits& until, std::function<void(const std::stop_token& given_up)> what);

/// The same for a function that makes an object; nullopt: not in time, or stopped. The thread drops an object that is
/// made too late.
template <class Make>
auto make_aside(const limits& until, Make make) {
  using made = decltype(make(std::stop_token{}));
  const auto out = std::make_shared<std::optional<made>>();
  const bool is_done = run_aside(
      until, [out, make = std::move(make)](const std::stop_token& given_up) { out->emplace(make(given_up)); });
  return is_done ? std::move(*out) : std::nullopt;
}

/// Throws why a connection to that server was not made within these limits.
[[noreturn]] ROWLOCK_EXPORT void give_up_connecting(const std::string& server, const limits& until);

/// Waits for a second at most for the threads that were left behind. For an exit handler that runs before the static
/// objects that they may need are destroyed.
ROWLOCK_EXPORT void wait_for_those_left_behind() noexcept;

}  // namespace rowlock::inline v1::driver
