#include "driver/net/without_signals.hpp"

#include <pthread.h>
#include <signal.h>

#include <initializer_list>

namespace rowlock::inline v1::driver {

namespace {

bool is_pipe_pending() noexcept {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, SIGPIPE) == 1;
}

const sigset_t& those_of_others() noexcept {
  static const sigset_t all = [] {
    sigset_t out;
    sigfillset(&out);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) sigdelset(&out, fault);
    return out;
  }();
  return all;
}

}  // namespace

without_signals::without_signals() noexcept : was_pending_{is_pipe_pending()} {
  pthread_sigmask(SIG_BLOCK, &those_of_others(), &before_);
}

without_signals::~without_signals() {
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  const timespec at_once{};
  if (!was_pending_ && is_pipe_pending()) sigtimedwait(&pipe, nullptr, &at_once);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace rowlock::inline v1::driver
