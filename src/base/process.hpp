#pragma once

#include <rowlock/export.hpp>

#include <cstdint>
#include <system_error>
#include <thread>
#include <utility>

namespace rowlock::inline v1::base {

/// The number of this process, counted in forks. An object made under another number belongs to the parent process,
/// whose threads, mutexes and connections do not exist here.
std::uint64_t process_generation() noexcept;

/// Remembers in which process it was made.
class fork_guard {
 public:
  bool is_foreign() const noexcept { return generation_ != process_generation(); }

 private:
  std::uint64_t generation_ = process_generation();
};

/// Throws error{errc::connection_failed}, which is retryable.
[[noreturn]] ROWLOCK_EXPORT void throw_no_thread(const std::system_error& because);

/// Starts a thread; throws error{errc::connection_failed} if the system has none.
template <class Run>
std::jthread start_thread(Run run) try {
  return std::jthread{std::move(run)};
} catch (const std::system_error& e) {
  throw_no_thread(e);
}

}  // namespace rowlock::inline v1::base
