#include "core/retry_backoff.hpp"

#include <algorithm>

#include "core/wait.hpp"

namespace rowlock::inline v1::core {

retry_backoff::retry_backoff(base::instant now, base::instant deadline)
    : begin_{now}, since_{now}, deadline_{deadline}, next_{deadline} {}

// Nobody tells of the end of a transaction or a process.
void retry_backoff::was_refused(const refusal& why, base::instant now, double jitter) {
  failure_.reset();
  failures_ = 0;
  has_answer_ = true;
  const duration waited = now - since_;
  const bool has_lease = why.left || why.is_free;
  const auto pause = why.is_told && has_lease ? told_pause(waited, why.left, why.is_behind, jitter)
                                              : poll_pause(waited, why.left, jitter);
  next_ = std::min(deadline_, base::later(now, pause));
}

void retry_backoff::failed(const error& e, base::instant now, double jitter) {
  failure_ = e;
  next_ = std::min(deadline_, base::later(now, error_pause(++failures_, jitter)));
}

void retry_backoff::begin_again(base::instant now) { since_ = next_ = now; }

void retry_backoff::throw_if_never_answered() const {
  if (failure_ && !has_answer_) throw error{*failure_};
}

}  // namespace rowlock::inline v1::core
