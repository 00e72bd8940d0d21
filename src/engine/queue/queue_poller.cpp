#include "engine/queue/queue_poller.hpp"

#include "base/boot_clock.hpp"

namespace rowlock::inline v1::engine {

// While another source is live there is no next look, and its thread sleeps on.
void queue_poller::look_sooner() noexcept {
  if (next_look() != base::instant::max()) nudge();
}

void queue_poller::watch(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    while (pause(next_look(), stop)) {
      if (next_look() > base::now()) continue;
      look(stop);
      set_live(true);
    }
    rest(stop);
  }
}

}  // namespace rowlock::inline v1::engine
