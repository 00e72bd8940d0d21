#pragma once

#include <rowlock/error.hpp>

#include <optional>

#include "core/time.hpp"

namespace rowlock::inline v1::runtime {

/// What a wait has seen so far, and so when it tries next.
class patience {
 public:
  explicit patience(core::instant deadline);

  core::instant deadline() const noexcept { return deadline_; }
  core::instant next_try() const noexcept { return next_; }
  bool is_over() const noexcept;
  duration waited() const noexcept;

  struct refusal {
    std::optional<duration> left{};  ///< of the holder's lease; absent: held without one, unless
    bool is_free = false;            ///< it is not held, but others come first
    bool is_behind = false;          ///< others come first
    bool is_told = false;            ///< somebody tells when it may be worth another try
  };
  void was_refused(const refusal& why);
  /// It has come to the first place: what it has waited before does not count for how often it tries.
  void begin_again();
  void failed(const error& e);
  void throw_if_never_answered() const;
  /// How long it may take in all, and what went wrong last, if there was no answer since.
  duration given() const noexcept { return deadline_ - begin_; }
  const std::optional<error>& failure() const noexcept { return failure_; }

 private:
  void pause(duration d);

  core::instant begin_;
  core::instant since_;
  core::instant deadline_;
  core::instant next_;
  std::optional<error> failure_;
  int failures_ = 0;
  bool has_answer_ = false;
};

}  // namespace rowlock::inline v1::runtime
