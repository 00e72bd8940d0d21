#include "engine/queue/commit_poller.hpp"

#include <chrono>

#include "base/boot_clock.hpp"
#include "core/wait.hpp"

namespace rowlock::inline v1::engine {

using namespace std::chrono_literals;

void commit_poller::watch(const std::stop_token& stop) {
  const auto limits = [&] { return driver::limits{.deadline = base::later(base::now(), 1s), .stop = stop}; };
  const auto session = open(limits());
  while (!stop.stop_requested()) {
    auto seen = session->change_count(limits());
    auto since = base::now();
    set_live(true);
    began();
    while (pause(base::later(base::now(), core::watch_pause(base::now() - since)), stop)) {
      const auto count = session->change_count(limits());
      if (count == seen) continue;
      seen = count;
      if (look(*session, limits())) since = base::now();
    }
    rest(stop);
  }
}

void commit_poller::failed(const std::exception& why) noexcept try {
  if (begins_to_poll()) polling(as_error(why));
} catch (const std::exception&) {  // out of memory: it is not told
}

}  // namespace rowlock::inline v1::engine
