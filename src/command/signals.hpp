#pragma once

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

#include <chrono>
#include <initializer_list>
#include <optional>

namespace rowlock::command {

/// A descriptor of ours; none reaches the command.
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

/// Throws what the last system call said.
[[noreturn]] void fail(const char* what);

/// Wakes the main thread, from any other. Rung before anybody waits, it is not forgotten.
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

/// A write beyond the limit for the size of files (ulimit -f) fails from now on, and is told of, where its signal would
/// have ended this process. signals::restore() takes that back.
void survive_file_size_limit();

/// The signals that rowlock answers itself, from its construction on: blocked, also in every thread that starts later,
/// and read from a descriptor. Those that were ignored (by nohup, by a shell's background job) stay ignored.
class signals {
 public:
  /// `more`: signals that are answered beside those that would end a program or tell of its children.
  explicit signals(std::initializer_list<int> more = {});

  struct arrival {
    int number = 0;
    bool is_from_kernel = false;  ///< for a limit, or for the terminal, and then to all of its foreground group
  };
  /// The next one; nullopt where the bell rang, the time was over or `more` was ready first.
  std::optional<arrival> wait(const bell& other, std::optional<std::chrono::milliseconds> limit,
                              pollfd more = nothing) const;
  static constexpr pollfd nothing{.fd = -1, .events = 0, .revents = 0};
  /// The next one that has arrived, for who waits for more than a bell: number() becomes readable.
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
