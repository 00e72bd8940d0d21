#pragma once

#include <rowlock/export.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "driver/session.hpp"

namespace rowlock::inline v1::driver {

/// Runs what knows no limits, as looking up the name of a host, in a thread for which nobody waits longer than these;
/// false: not in time, or stopped. The thread is then left behind: `given_up` says so to it, and it ends when it comes
/// back. So whatever `what` uses has to be its own. Throws what it throws; error{errc::connection_failed} where there
/// is no thread to be had.
ROWLOCK_EXPORT bool run_aside(const limits& until, std::function<void(const std::stop_token& given_up)> what);

/// The same for what makes something; nullopt: not in time, or stopped. What is made too late is dropped by the thread.
template <class Make>
auto make_aside(const limits& until, Make make) {
  using made = decltype(make(std::stop_token{}));
  const auto out = std::make_shared<std::optional<made>>();
  const bool is_done = run_aside(
      until, [out, make = std::move(make)](const std::stop_token& given_up) { out->emplace(make(given_up)); });
  return is_done ? std::move(*out) : std::nullopt;
}

/// Waits a while for those that were left behind. For an exit handler that runs before static objects go which they may
/// need.
ROWLOCK_EXPORT void wait_for_those_left_behind() noexcept;

}  // namespace rowlock::inline v1::driver
