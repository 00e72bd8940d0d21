#include "runtime/commit_watch.hpp"

#include <chrono>

#include "core/wait.hpp"
#include "driver/boot_clock.hpp"

namespace rowlock::inline v1::runtime {

using namespace std::chrono_literals;

void commit_watch::watch(const std::stop_token& stop) {
  const auto limits = [&] { return driver::limits{.deadline = core::later(driver::now(), 1s), .stop = stop}; };
  const auto session = doing_.open(limits());
  while (!stop.stop_requested()) {
    auto seen = session->change_count(limits());
    auto since = driver::now();
    set_live(true);
    doing_.begin();
    while (pause(core::later(driver::now(), core::watch_pause(driver::now() - since)), stop)) {
      const auto count = session->change_count(limits());
      if (count == seen) continue;
      seen = count;
      if (doing_.look(*session, limits())) since = driver::now();
    }
    rest(stop);
  }
}

void commit_watch::failed(const std::exception& why) noexcept try {
  if (begins_to_poll()) doing_.polling(as_error(why));
} catch (const std::exception&) {  // out of memory: it is not told
}

}  // namespace rowlock::inline v1::runtime
