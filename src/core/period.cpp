#include "core/period.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <cstdint>

#include "base/text.hpp"
#include "core/checks.hpp"

namespace rowlock::inline v1::core {

using namespace std::chrono_literals;
using std::chrono::floor;
using std::chrono::minutes;
using std::chrono::seconds;
using std::chrono::sys_seconds;
using std::chrono::sys_time;

namespace {

void must_be(bool valid, const std::string& sentence) {
  if (!valid) throw error{errc::invalid_option, sentence};
}

/// No zone is further ahead of UTC.
constexpr auto furthest = 26h;

}  // namespace

schedule::schedule(duration every, std::optional<minutes> at, const std::string& zone, const wording& in)
    : every_{every} {
  must_be(every >= 1s && every <= 24h * 366, in.given("every", every) + "; it must be between 1 s and 366 days");
  if (!at && zone.empty()) return;
  must_be(every % 24h == 0s, in.name(at ? "at" : "time_zone") + " is for periods of whole days, and " +
                                 in.given("every", every) + "; make it a multiple of 24 h");
  at_ = at.value_or(0min);
  must_be(*at_ >= 0s && *at_ < 24h, in.name("at") + " is " + std::to_string(at_->count() / 60) +
                                        " min after midnight; it must be 0 or more, and less than 24 h");
  if (zone.empty()) return;
  const auto found = base::time_zone::find(zone);
  must_be(found.has_value(), "time zone " + base::quoted(zone) +
                                 " is unknown on this machine; write a name like Europe/Berlin, whose rules the "
                                 "package tzdata installs");
  zone_ = *found;
}

sys_time<duration> schedule::begin_of(std::int64_t number) const {
  const auto shown = floor<seconds>(number * every_) + *at_;  // by the local clock
  for (auto stretch = zone_.at(sys_seconds{shown - furthest});; stretch = zone_.at(stretch.end)) {
    const auto first = std::max(stretch.begin, sys_seconds{shown - stretch.offset});
    if (first < stretch.end) return first;
  }
}

period schedule::at(sys_time<duration> t) const {
  const auto number_of = [&](duration since_epoch) {
    return since_epoch / every_ - (since_epoch % every_ < 0us ? 1 : 0);
  };
  if (!at_) {
    const sys_time<duration> begin{number_of(t.time_since_epoch()) * every_};
    return {begin, begin + every_};
  }
  // A change of the clocks in between may make the first guess wrong by one, a day that a zone left out by more.
  auto number = number_of(t.time_since_epoch() + zone_.at(floor<seconds>(t)).offset - *at_);
  while (begin_of(number) > t) --number;
  while (begin_of(number + 1) <= t) ++number;
  return {begin_of(number), begin_of(number + 1)};
}

}  // namespace rowlock::inline v1::core
