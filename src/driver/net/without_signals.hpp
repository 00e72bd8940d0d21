#pragma once

#include <signal.h>

namespace rowlock::inline v1::driver {

/// Blocks signals for this thread, except those of its own faults. A handler would interrupt a read, which ends a call
/// over TLS as if its time were over. OpenSSL may write to a socket that was shut down, which raises SIGPIPE and would
/// end the program.
class without_signals {
 public:
  without_signals() noexcept;
  without_signals(const without_signals&) = delete;
  without_signals& operator=(const without_signals&) = delete;
  ~without_signals();

 private:
  sigset_t before_{};
  bool was_pending_ = false;
};

/// Calls a function of a client library that makes the process ignore SIGPIPE, and restores the program's own setting.
template <class Function>
auto keeping_sigpipe(Function function) {
  struct sigaction before {};
  ::sigaction(SIGPIPE, nullptr, &before);
  const auto out = function();
  ::sigaction(SIGPIPE, &before, nullptr);
  return out;
}

}  // namespace rowlock::inline v1::driver
