#pragma once

#include <rowlock/held_set.hpp>

#include <chrono>
#include <optional>

#include "command/guardian.hpp"
#include "command/options.hpp"
#include "command/signals.hpp"

namespace rowlock::command {

/// The command under the lock.
///
///   running ---the lock is lost: SIGTERM---> ending ---grace is over: SIGKILL---> killed
///   running ---rowlock has used up its processor time: SIGTERM---> ending
///   running ---it has run for longer than --timeout: SIGTERM---> ending
///   running ---rowlock lead gets a signal to end, and passes it on---> ending
///
/// Each state ends when the command has ended.
class guarded_run {
 public:
  /// Starts the command.
  guarded_run(const options& given, const signals& taken, guardian& guard, const held_set& held);

  /// How the command ended, as wait(2) reports it.
  int wait();
  bool has_reported_loss() const noexcept { return has_reported_loss_; }
  bool has_timed_out() const noexcept { return has_timed_out_; }
  /// Whether rowlock received a signal to end meanwhile.
  bool was_asked_to_end() const noexcept { return was_asked_; }

 private:
  signals::time_limit patience() const;
  void end_the_lost();
  void end_the_late();
  void end_at_limit();
  void take(const signals::arrival& arrived);

  const options& given_;
  const signals& taken_;
  guardian& guard_;
  const held_set& held_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  const bell bell_{};
  const bool is_in_foreground_;
  const bool is_on_terminal_;
  bool has_reported_loss_ = false;
  bool has_timed_out_ = false;
  bool is_at_limit_ = false;
  bool was_asked_ = false;
};

}  // namespace rowlock::command
