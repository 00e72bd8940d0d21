#pragma once

#include <rowlock/held_set.hpp>

#include "command/guardian.hpp"
#include "command/options.hpp"
#include "command/signals.hpp"

namespace rowlock::command {

/// The command under the lock.
///
///   running ---the lock is lost: SIGTERM---> ending ---grace is over: SIGKILL---> killed
///   running ---rowlock has used up its processor time: SIGTERM---> ending
///   running ---rowlock is told to end, and ends its command: passed on---> ending
///
/// and from each of them, when the command has ended, out.
class guarded_run {
 public:
  /// Starts it. `ends_when_told`: a signal that tells rowlock to end gives the command its grace, and no longer.
  guarded_run(const options& given, const signals& taken, guardian& guard, const held_set& held, bool ends_when_told);

  /// The command's exit status.
  int wait();
  /// Whether rowlock was told to end while it ran.
  bool was_told_to_end() const noexcept { return was_told_; }

 private:
  void end_the_lost();
  void end_at_limit();
  void take(const signals::arrival& arrived);

  const options& given_;
  const signals& taken_;
  guardian& guard_;
  const held_set& held_;
  const bool ends_when_told_;
  const bell bell_;
  const bool is_in_foreground_;
  const bool is_on_terminal_;
  bool was_lost_ = false;
  bool is_at_limit_ = false;
  bool was_told_ = false;
};

}  // namespace rowlock::command
