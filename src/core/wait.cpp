#include "core/wait.hpp"

#include <algorithm>
#include <cmath>

namespace rowlock::inline v1::core {

using namespace std::chrono_literals;

namespace {

constexpr duration fallback = 1s;
constexpr duration least_pause = 1ms;

duration scaled(duration d, double factor) noexcept {
  return duration{std::llround(static_cast<double>(d.count()) * factor)};
}

}  // namespace

duration inconclusive_pause(int tries_so_far) noexcept { return tries_so_far <= 1 ? 0ms : 3ms; }

duration busy_pause(std::optional<duration> lease_left, double jitter) noexcept {
  const duration poll = scaled(fallback, 1.0 - jitter / 4);
  if (!lease_left) return poll;
  return std::min(poll, std::max(*lease_left, least_pause) + scaled(2ms, jitter));
}

duration poll_pause(duration waited, std::optional<duration> lease_left, double jitter) noexcept {
  const duration poll = scaled(std::clamp<duration>(waited / 8, 5ms, 250ms), 1.0 - jitter / 2);
  return std::min(poll, busy_pause(lease_left, jitter));
}

duration error_pause(int failures, double jitter) noexcept {
  const duration full = std::min<duration>(20ms * (1 << std::clamp(failures - 1, 0, 6)), 1s);
  return scaled(full, 0.5 + jitter / 2);
}

// All of it is left to chance: those who met once are not to meet again.
duration conflict_pause(int attempts_so_far, double jitter) noexcept {
  return scaled(std::min<duration>(1ms * (1 << std::clamp(attempts_so_far - 1, 0, 7)), 100ms), jitter);
}

duration watch_pause(duration quiet_for) noexcept { return quiet_for < 1s ? 1ms : 3ms; }

duration lock_poll_pause(int polls_so_far) noexcept {
  return std::min<duration>(50us * (1 << std::clamp(polls_so_far / 2, 0, 7)), 5ms);
}

}  // namespace rowlock::inline v1::core
