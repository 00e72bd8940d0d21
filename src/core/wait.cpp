#include "core/wait.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/lease.hpp"

namespace rowlock::inline v1::core {

using namespace std::chrono_literals;

namespace {

constexpr duration least_pause = 1ms;
constexpr duration late_at_most = 100ms;  // of a waiter after which others come

duration scaled(duration d, double factor) noexcept {
  return duration{std::llround(static_cast<double>(d.count()) * factor)};
}

duration to_the_end(duration lease_left, bool is_behind, double jitter) noexcept {
  return std::max(lease_left, least_pause) +
         (is_behind ? 20ms + scaled(late_at_most - 20ms, jitter) : scaled(2ms, jitter));
}

}  // namespace

duration inconclusive_pause(int tries_so_far) noexcept {
  return tries_so_far <= 1 ? 0ms : 3ms * (1 << std::clamp(tries_so_far - inconclusive_tries + 1, 0, 5));
}

duration ending_pause(int looks_so_far) noexcept {
  return std::min<duration>(3ms * (1 << std::clamp(looks_so_far - inconclusive_tries, 0, 4)), 50ms);
}

duration notified_pause(duration waited, std::optional<duration> lease_left, bool is_behind, double jitter) noexcept {
  const duration again = scaled(std::clamp<duration>(waited, 1s, 30s), 1.0 - jitter / 4);
  return lease_left ? std::min(again, to_the_end(*lease_left, is_behind, jitter)) : again;
}

duration poll_pause(duration waited, std::optional<duration> lease_left, double jitter) noexcept {
  const duration poll = scaled(std::clamp<duration>(waited / 8, 5ms, 250ms), 1.0 - jitter / 2);
  return lease_left ? std::min(poll, to_the_end(*lease_left, false, jitter)) : poll;
}

duration ask_pause(duration waited, bool is_behind, double jitter) noexcept {
  const duration pause = scaled(std::clamp<duration>(waited / 12, 3ms, 500ms), 1.0 - jitter / 2);
  return is_behind ? std::min<duration>(pause * 2, 500ms) : pause;
}

std::optional<duration> yields_for(std::optional<duration> lease_left, duration patience) noexcept {
  if (patience == duration::zero() || !lease_left || *lease_left > duration::zero()) return std::nullopt;
  return std::max(longest_grant + *lease_left, duration::zero());
}

// Twice that delay: waking a waiter without need costs a try.
bool oversleeps(base::instant until, base::instant now, std::optional<duration> lease_left) noexcept {
  return lease_left && until > base::later(now, std::max(*lease_left, 0us) + 2 * late_at_most);
}

duration error_pause(int failures, double jitter) noexcept {
  const duration full = std::min<duration>(20ms * (1 << std::clamp(failures - 1, 0, 6)), 1s);
  return scaled(full, 0.5 + jitter / 2);
}

// Full jitter, so that two clients that conflicted do not conflict again.
duration conflict_pause(int attempts_so_far, double jitter) noexcept {
  return scaled(std::min<duration>(1ms * (1 << std::clamp(attempts_so_far - 1, 0, 7)), 100ms), jitter);
}

duration watch_pause(duration quiet_for) noexcept { return quiet_for < 1s ? 1ms : 3ms; }

duration lock_poll_pause(int polls_so_far) noexcept {
  return std::min<duration>(50us * (1 << std::clamp(polls_so_far / 2, 0, 7)), 5ms);
}

retry_backoff::retry_backoff(base::instant now, base::instant deadline)
    : begin_{now}, since_{now}, deadline_{deadline}, next_{deadline} {}

// No notification arrives at the end of a transaction or a process.
void retry_backoff::was_refused(const refusal& why, base::instant now, double jitter) {
  failure_.reset();
  failures_ = 0;
  has_answer_ = true;
  const duration waited = now - since_;
  const bool has_lease = why.left || why.is_free;
  const auto pause = why.is_notified && has_lease ? notified_pause(waited, why.left, why.is_behind, jitter)
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

namespace {

// The aim for a step's cost: so little that programs that lock at the same time do not notice. With much other load
// most of the cost is waiting, which fewer rows would not make shorter.
constexpr duration short_step = 15ms;
constexpr duration long_step = 45ms;
constexpr std::size_t fewest_rows = 250;

duration part(duration whole, double share) noexcept { return std::chrono::duration_cast<duration>(whole * share); }

}  // namespace

std::size_t first_rows(std::size_t most) noexcept { return std::min<std::size_t>(most, 100); }

std::size_t next_rows(std::size_t rows, duration cost, std::size_t most) noexcept {
  if (cost < short_step) return std::min(rows * 2, most);
  if (cost > long_step) return std::min(std::max(rows / 2, fewest_rows), most);
  return rows;
}

duration sweep_pause(duration cost) noexcept { return std::clamp<duration>(cost * 2, 1ms, 1s); }

duration sweep_interval(duration every, double jitter) noexcept { return part(every, 0.75 + jitter / 2); }

duration first_sweep(duration every, double jitter) noexcept { return part(every, jitter); }

}  // namespace rowlock::inline v1::core
