#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <ostream>

#include "testkit/eventually.hpp"

namespace rowlock::test {

/// How a process ended.
struct ending {
  bool by_signal = false;
  int number = 0;  ///< the signal, or the exit status

  friend bool operator==(const ending&, const ending&) = default;
};

constexpr ending exited(int status) noexcept { return {.by_signal = false, .number = status}; }
constexpr ending killed_by(int signal) noexcept { return {.by_signal = true, .number = signal}; }
std::ostream& operator<<(std::ostream& out, const ending& e);

/// A child of this process. Killed, where it still runs, when this object goes. Throws std::system_error.
class child {
 public:
  explicit child(pid_t pid) noexcept : pid_{pid} {}
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  ~child() { kill(); }

  pid_t pid() const noexcept { return pid_; }

  void signal(int number);
  /// SIGSTOP, and until it has stopped, or had before. Throws std::runtime_error if it ended instead.
  void pause();
  void resume();
  /// SIGKILL, and until it is gone.
  void kill() noexcept;

  bool has_ended();
  /// Waits for its end; nullopt where it does not come in time.
  std::optional<ending> wait(std::chrono::steady_clock::duration within = patience);

 private:
  pid_t pid_;
  std::optional<ending> ending_;
};

/// Whether there is such a process, not ended.
bool is_alive(pid_t pid);
/// The letter of /proc: 'R', 'S', 'T' (stopped), 'Z' and so on; '\0' where there is no such process.
char state_of(pid_t pid);
/// -1 where there is no such process.
pid_t parent_of(pid_t pid);

}  // namespace rowlock::test
