#pragma once

#include <poll.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "command/job.hpp"
#include "command/options.hpp"
#include "command/signals.hpp"

namespace rowlock::command {

/// A process between rowlock and the command. It starts the command, passes signals on to it, and ends it on request or
/// when rowlock has ended, even by SIGKILL: a socket between the two reports the end of each to the other. It has a
/// process group of its own, which neither the terminal nor a signal to rowlock's group reaches.
///
///   idle --start()--> running --status() has a value--> idle
class guardian {
 public:
  /// Forks: this process must have no other thread. The command writes to `to`.
  guardian(const options& given, const signals& taken, job::outputs to = {});
  guardian(const guardian&) = delete;
  guardian& operator=(const guardian&) = delete;
  ~guardian();

  /// Starts the command. Returns whether it is on a terminal. Throws not_started.
  bool start(std::int64_t token);
  /// As the functions of job.
  void signal(int number) const;
  void end() const;
  void end_later() const;

  /// How the command ended, as wait(2) reports it; nullopt: it is not over.
  std::optional<int> status();
  /// Ready when there may be a status.
  pollfd readable() const noexcept { return {.fd = socket_.number(), .events = POLLIN, .revents = 0}; }

 private:
  const options& given_;
  descriptor socket_{};
  pid_t pid_ = -1;
  pid_t on_terminal_ = -1;  // the command, if it is on one
};

}  // namespace rowlock::command
