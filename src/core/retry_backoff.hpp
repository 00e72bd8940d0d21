#pragma once

#include <rowlock/error.hpp>

#include <optional>

#include "base/time.hpp"

namespace rowlock::inline v1::core {

/// Decides when a waiting call tries next, by what its attempts were told. `jitter` is in [0, 1).
class retry_backoff {
 public:
  retry_backoff(base::instant now, base::instant deadline);

  base::instant deadline() const noexcept { return deadline_; }
  base::instant next_try() const noexcept { return next_; }
  bool is_over(base::instant now) const noexcept { return now >= deadline_; }
  duration waited(base::instant now) const noexcept { return now - begin_; }

  struct refusal {
    std::optional<duration> left{};  ///< of the holder's lease; absent: held without one, unless
    bool is_free = false;            ///< it is not held, but others come first
    bool is_behind = false;          ///< others come first
    bool is_told = false;            ///< another source tells when the next attempt is worth while
  };
  void was_refused(const refusal& why, base::instant now, double jitter);
  void failed(const error& e, base::instant now, double jitter);
  /// It is first in its queue now: what it has waited before does not count for how often it tries.
  void begin_again(base::instant now);

  /// Throws the last failure if no attempt was ever answered.
  void throw_if_never_answered() const;
  /// How long it may take in all, and what went wrong last, if there was no answer since.
  duration given() const noexcept { return deadline_ - begin_; }
  const std::optional<error>& failure() const noexcept { return failure_; }

 private:
  base::instant begin_;
  base::instant since_;
  base::instant deadline_;
  base::instant next_;
  std::optional<error> failure_;
  int failures_ = 0;
  bool has_answer_ = false;
};

}  // namespace rowlock::inline v1::core
