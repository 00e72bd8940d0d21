#pragma once

#include <rowlock/error.hpp>

#include <optional>

#include "core/time.hpp"
#include "driver/backend.hpp"

namespace rowlock::inline v1::runtime {

/// What a wait has seen so far, and so when it tries next.
class patience {
 public:
  patience(core::instant deadline, driver::foreign_news news);

  core::instant deadline() const noexcept { return deadline_; }
  core::instant next_try() const noexcept { return next_; }
  bool is_over() const noexcept;
  duration waited() const noexcept;

  /// `left` of the holder's lease; absent: held without one.
  void was_busy(std::optional<duration> left);
  void failed(const error& e);
  void throw_if_never_answered() const;

 private:
  void pause(duration d);

  core::instant begin_;
  core::instant deadline_;
  core::instant next_;
  driver::foreign_news news_;
  std::optional<error> failure_;
  int failures_ = 0;
  bool has_answer_ = false;
};

}  // namespace rowlock::inline v1::runtime
