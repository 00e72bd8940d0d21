#include "runtime/patience.hpp"

#include <algorithm>

#include "core/wait.hpp"
#include "driver/boot_clock.hpp"
#include "runtime/jitter.hpp"

namespace rowlock::inline v1::runtime {

patience::patience(core::instant deadline, driver::foreign_news news)
    : begin_{driver::now()}, deadline_{deadline}, next_{deadline}, news_{news} {}

bool patience::is_over() const noexcept { return driver::now() >= deadline_; }

duration patience::waited() const noexcept { return driver::now() - begin_; }

void patience::was_busy(std::optional<duration> left) {
  failure_.reset();
  failures_ = 0;
  has_answer_ = true;
  if (news_ == driver::foreign_news::asked || !left) {  // nobody tells of the end of a transaction or a process
    pause(core::poll_pause(waited(), left, jitter()));
  } else {
    pause(core::busy_pause(left, jitter()));
  }
}

void patience::failed(const error& e) {
  failure_ = e;
  pause(core::error_pause(++failures_, jitter()));
}

void patience::throw_if_never_answered() const {
  if (failure_ && !has_answer_) throw error{*failure_};
}

void patience::pause(duration d) { next_ = std::min(deadline_, core::later(driver::now(), d)); }

}  // namespace rowlock::inline v1::runtime
