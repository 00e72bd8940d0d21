#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

#include <chrono>
#include <future>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

namespace rowlock::command {

/// Owns a file descriptor. Open it with close-on-exec, so that no command inherits it.
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

/// The controlling terminal of this process; empty if there is none.
descriptor open_terminal();

/// Throws the error of the last system call.
[[noreturn]] void fail(const char* what);

/// Writes all of the text. false: it cannot be written, for the reason in errno.
bool write_all(int to, std::string_view text);

/// For poll(): rounded up, never negative, and at most 24 days: look at the clock again.
int milliseconds_until(std::chrono::steady_clock::time_point when);

/// Wakes the main thread from another thread. A ring before the wait counts.
class bell {
 public:
  bell();
  void ring() const noexcept;
  /// Forgets earlier rings.
  void silence() const noexcept;
  int number() const noexcept { return event_.number(); }

 private:
  descriptor event_;
};

/// Works on another thread, and rings at the end, even if the work throws.
template <class Work>
auto in_background(const bell& over, Work work) {
  return std::async(std::launch::async, [&over, work = std::move(work)] {
    struct ringing {
      const bell& over;
      ~ringing() { over.ring(); }
    };
    const ringing at_last{over};
    return work();
  });
}

/// Ignores SIGXFSZ: a write beyond the file size limit (ulimit -f) then fails and is reported. signals::restore()
/// undoes this.
void survive_file_size_limit();

/// Handles signals while this object exists: blocks them, also in threads that start later, and reads them from a
/// descriptor. Ignored signals (by nohup, in a shell's background job) remain ignored.
class signals {
 public:
  /// `more`: signals to handle besides SIGCHLD, SIGCONT and those that end a program.
  explicit signals(std::initializer_list<int> more = {});

  struct arrival {
    int number = 0;
    bool is_from_kernel = false;  ///< for a limit, or from the terminal to its foreground group
  };
  static constexpr pollfd nothing{.fd = -1, .events = 0, .revents = 0};
  using time_limit = std::optional<std::chrono::milliseconds>;

  /// The next signal; nullopt: the bell rang, the time (at most 24 days) was over or `more` was ready first.
  std::optional<arrival> wait(const bell& other, time_limit limit, pollfd more = nothing) const;
  /// The next signal that ends a wait; others are discarded. nullopt also after 24 days.
  std::optional<int> wait_for_end(const bell& other, time_limit limit = {}, pollfd more = nothing) const;
  /// The next pending signal; number() becomes readable when there is one.
  std::optional<arrival> next() const;
  int number() const noexcept { return incoming_.number(); }

  /// Whether the signal would by default end a program.
  static bool ends_a_wait(int number) noexcept;

  /// Restores the earlier handling. Async-signal-safe: for a child between fork and exec.
  void restore() const noexcept;

  /// Ends this process as if the signal had never been handled.
  [[noreturn]] static void die_of(int number) noexcept;

 private:
  sigset_t mask_before_{};
  struct sigaction child_before_ {};
  struct sigaction pipe_before_ {};
  descriptor incoming_;
};

/// Works on another thread. A signal to end ends this process at once, whatever the work waits for.
template <class Work>
auto interruptibly(const signals& taken, Work work) {
  const bell over;
  auto done = in_background(over, std::move(work));
  if (const auto number = taken.wait_for_end(over)) signals::die_of(*number);
  return done.get();
}

}  // namespace rowlock::command
