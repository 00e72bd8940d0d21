#include "runtime/patience.hpp"

#include <algorithm>

#include "core/wait.hpp"
#include "driver/boot_clock.hpp"
#include "runtime/jitter.hpp"

namespace rowlock::inline v1::runtime {

patience::patience(core::instant deadline)
    : begin_{driver::now()}, since_{begin_}, deadline_{deadline}, next_{deadline} {}

bool patience::is_over() const noexcept { return driver::now() >= deadline_; }

duration patience::waited() const noexcept { return driver::now() - begin_; }

// Nobody tells of the end of a transaction or a process.
void patience::was_refused(const refusal& why) {
  failure_.reset();
  failures_ = 0;
  has_answer_ = true;
  const duration waited = driver::now() - since_;
  const bool has_lease = why.left || why.is_free;
  pause(why.is_told && has_lease ? core::told_pause(waited, why.left, why.is_behind, jitter())
                                 : core::poll_pause(waited, why.left, jitter()));
}

void patience::begin_again() { since_ = next_ = driver::now(); }

void patience::failed(const error& e) {
  failure_ = e;
  pause(core::error_pause(++failures_, jitter()));
}

void patience::throw_if_never_answered() const {
  if (failure_ && !has_answer_) throw error{*failure_};
}

void patience::pause(duration d) { next_ = std::min(deadline_, core::later(driver::now(), d)); }

}  // namespace rowlock::inline v1::runtime
