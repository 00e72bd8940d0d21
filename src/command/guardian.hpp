#pragma once

#include <poll.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "command/options.hpp"
#include "command/signals.hpp"

namespace rowlock::command {

/// A process between rowlock and the command. It starts the command, passes signals on to it and ends it when it is
/// asked to or when rowlock itself is gone, even by SIGKILL: the two ends of a socket tell each about the other's end.
/// It has a process group of its own, which neither the terminal nor a signal to rowlock's group reaches.
///
///   idle --start()--> running --status() has a value--> idle
class guardian {
 public:
  /// To be made while this process has no other thread.
  guardian(const options& given, const signals& taken);
  guardian(const guardian&) = delete;
  guardian& operator=(const guardian&) = delete;
  ~guardian();

  /// Whether the command is on a terminal. Throws not_started.
  bool start(std::int64_t token);
  /// As of a job.
  void signal(int number) const;
  void end() const;
  void end_later() const;

  /// The exit status of the command, or 128 and the signal that ended it, once it is over.
  std::optional<int> status();
  /// Ready when there may be a status.
  pollfd readable() const noexcept { return {.fd = socket_.number(), .events = POLLIN, .revents = 0}; }

 private:
  const options& given_;
  descriptor socket_{};
  pid_t pid_ = -1;
  pid_t on_terminal_ = -1;  // the command, if it is there
};

}  // namespace rowlock::command
