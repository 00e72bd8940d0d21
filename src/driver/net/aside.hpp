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

/// Runs a function without limits of its own, such as the lookup of a host name, in a new thread, and waits for it
/// within these limits; false: not in time, or stopped. Then the thread is left behind: it is notified through
/// `given_up`, and ends when the function returns. So `what` must own everything that it uses. Throws what `what`
/// throws, and error{errc::connection_failed} if no thread can be started.
ROWLOCK_EXPORT bool run_aside(const limits& until, std::function<void(const std::stop_token& given_up)> what);

/// The same for a function that makes an object; nullopt: not in time, or stopped. The thread destroys an object that
/// is made too late.
template <class Make>
auto make_aside(const limits& until, Make make) {
  using made = decltype(make(std::stop_token{}));
  const auto out = std::make_shared<std::optional<made>>();
  const bool is_done = run_aside(
      until, [out, make = std::move(make)](const std::stop_token& given_up) { out->emplace(make(given_up)); });
  return is_done ? std::move(*out) : std::nullopt;
}

/// Throws the reason why no connection to that server was made within these limits.
[[noreturn]] ROWLOCK_EXPORT void give_up_connecting(const std::string& server, const limits& until);

/// Waits for at most a second for the threads that were left behind. For an exit handler that runs before the
/// destruction of static objects that these threads may need.
ROWLOCK_EXPORT void wait_for_those_left_behind() noexcept;

}  // namespace rowlock::inline v1::driver
