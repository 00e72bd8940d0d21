#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

#include <chrono>
#include <initializer_list>
#include <optional>

namespace rowlock::command {

/// A descriptor that this process closes, and that no command inherits.
class descriptor {
 public:
  explicit descriptor(int number = -1) noexcept : number_{number} {}
  descriptor(descriptor&& other) noexcept;
  descriptor& operator=(descriptor&& other) noexcept;
  ~descriptor();
  int number() const noexcept { return number_; }
  explicit operator bool() const noexcept { return number_ >= 0; }

 private:
  int number_;
};

/// The terminal that controls this process; empty where there is none.
descriptor open_terminal();

/// Throws the error of the last system call.
[[noreturn]] void fail(const char* what);

/// For poll(): rounded up, and never negative.
int milliseconds_until(std::chrono::steady_clock::time_point when);

/// Wakes the main thread, from any other. A ring before the wait begins is not forgotten.
class bell {
 public:
  bell();
  void ring() const noexcept;
  /// Until the next ring.
  void silence() const noexcept;
  int number() const noexcept { return event_.number(); }

 private:
  descriptor event_;
};

/// Rings at the end of a scope, whichever way it is left.
class ring_at_end {
 public:
  explicit ring_at_end(const bell& to) : to_{to} {}
  ring_at_end(const ring_at_end&) = delete;
  ring_at_end& operator=(const ring_at_end&) = delete;
  ~ring_at_end() { to_.ring(); }

 private:
  const bell& to_;
};

/// From now on a write beyond the limit for the size of files (ulimit -f) fails and is reported; its signal would end
/// this process. signals::restore() undoes that.
void survive_file_size_limit();

/// The signals that rowlock answers itself while this object exists: they are blocked, also in every thread that starts
/// later, and read from a descriptor. Signals that were ignored (by nohup, by a shell's background job) stay ignored.
class signals {
 public:
  /// `more`: signals to answer beside those that would end a program or report the end of a child.
  explicit signals(std::initializer_list<int> more = {});

  struct arrival {
    int number = 0;
    bool is_from_kernel = false;  ///< for a limit, or for the terminal, and then to all of its foreground group
  };
  static constexpr pollfd nothing{.fd = -1, .events = 0, .revents = 0};
  using time_limit = std::optional<std::chrono::milliseconds>;

  /// The next one; nullopt where the bell rang, the time was over or `more` was ready first.
  std::optional<arrival> wait(const bell& other, time_limit limit, pollfd more = nothing) const;
  /// The same for a signal that ends a wait; all others are read and forgotten.
  std::optional<int> wait_for_end(const bell& other, time_limit limit = {}, pollfd more = nothing) const;
  /// The next one that has arrived; number() becomes readable when there is one.
  std::optional<arrival> next() const;
  int number() const noexcept { return incoming_.number(); }

  /// Whether this one would have ended a program that only waits.
  static bool ends_a_wait(int number) noexcept;

  /// As they were before. Async-signal-safe: for a child between fork and exec.
  void restore() const noexcept;

  /// Ends this process as if the signal had never been handled.
  [[noreturn]] static void die_of(int number) noexcept;

 private:
  sigset_t mask_before_{};
  struct sigaction child_before_ {};
  struct sigaction pipe_before_ {};
  descriptor incoming_;
};

}  // namespace rowlock::command
