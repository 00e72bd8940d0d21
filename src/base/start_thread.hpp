#pragma once

#include <rowlock/export.hpp>

#include <system_error>
#include <thread>
#include <utility>

namespace rowlock::inline v1::base {

/// Throws error{errc::connection_failed}, which is retryable.
[[noreturn]] ROWLOCK_EXPORT void throw_no_thread(const std::system_error& because);

/// Starts a thread; throws error{errc::connection_failed} where none can be had.
template <class Run>
std::jthread start_thread(Run run) try {
  return std::jthread{std::move(run)};
} catch (const std::system_error& e) {
  throw_no_thread(e);
}

}  // namespace rowlock::inline v1::base
