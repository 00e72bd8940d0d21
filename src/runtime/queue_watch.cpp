#include "runtime/queue_watch.hpp"

#include "driver/boot_clock.hpp"

namespace rowlock::inline v1::runtime {

// Where somebody else tells, its thread sleeps on.
void queue_watch::look_sooner() noexcept {
  if (doing_.next() != core::instant::max()) nudge();
}

void queue_watch::watch(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    while (pause(doing_.next(), stop)) {
      if (doing_.next() > driver::now()) continue;
      doing_.look(stop);
      set_live(true);
    }
    rest(stop);
  }
}

}  // namespace rowlock::inline v1::runtime
