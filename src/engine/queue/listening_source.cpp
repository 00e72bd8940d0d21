#include "engine/queue/listening_source.hpp"

#include <chrono>

#include "base/boot_clock.hpp"

namespace rowlock::inline v1::engine {

using namespace std::chrono_literals;

namespace {

constexpr duration worth_reporting = 5s;  // a restart of the server is not
constexpr duration until_available = 60s;

}  // namespace

driver::limits listening_source::limits(const std::stop_token& stop) const {
  return {.deadline = base::later(base::now(), longest_call_), .stop = stop};
}

void listening_source::watch(const std::stop_token& stop) {
  is_available_ = true;
  listen(stop);
}

void listening_source::goes_live() {
  set_live(true);
  down_since_.reset();
  began();
}

void listening_source::goes_quiet() noexcept {
  set_live(false);
  ended();
}

void listening_source::failed(const std::exception& why) noexcept try {
  ended();
  if (!down_since_) down_since_ = base::now();
  const auto* const e = dynamic_cast<const error*>(&why);
  is_available_ = e == nullptr || e->is_retryable() || e->connection_is_unusable();
  if (begins_to_poll()) polling(as_error(why));
  if (!is_available_ || base::now() - *down_since_ > worth_reporting) report(why.what());
} catch (const std::exception&) {  // it was worth a try
}

void listening_source::report(const std::string& why) {
  if (was_reported_) return;
  was_reported_ = true;
  warn((is_available_
            ? "the connection that listens for released locks is away, so waiting clients poll the server until "
              "it is back: "
            : complaint_) +
       why);
}

duration listening_source::recovery(int failures) const noexcept {
  return is_available_ ? wakeup_source::recovery(failures) : until_available;
}

}  // namespace rowlock::inline v1::engine
