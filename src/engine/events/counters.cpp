#include "engine/events/counters.hpp"

#include "base/boot_clock.hpp"

namespace rowlock::inline v1::engine {

namespace {

std::uint64_t read_one(const counters::number& from) noexcept { return from.load(std::memory_order_relaxed); }

}  // namespace

void counters::ended(strategy by, outcome how, duration waited) noexcept {
  count(at(by).outcomes.at(static_cast<std::size_t>(how)));
  if (how == outcome::acquired) at(by).waits.add(waited);
}

void counters::released(strategy by, duration held) noexcept {
  count(at(by).released);
  at(by).holds.add(held);
}

void counters::lost(strategy by, loss_reason why, duration held) noexcept {
  count(at(by).lost);
  count(losses_.at(static_cast<std::size_t>(why)));
  at(by).holds.add(held);
}

void counters::failed(errc code) noexcept { count(errors_.at(static_cast<std::size_t>(code))); }

client_statistics counters::read() const {
  client_statistics out;
  for (std::size_t i = 0; i < strategies_.size(); ++i) {
    const auto& from = strategies_.at(i);
    out.strategies.push_back({.strategy = static_cast<strategy>(i),
                              .acquired = read_one(from.outcomes[0]),
                              .busy = read_one(from.outcomes[1]),
                              .cancelled = read_one(from.outcomes[2]),
                              .failed = read_one(from.outcomes[3]),
                              .released = read_one(from.released),
                              .lost = read_one(from.lost),
                              .waits = from.waits.read(),
                              .holds = from.holds.read()});
  }
  for (std::size_t i = 1; i < losses_.size(); ++i)
    out.losses.push_back({.reason = static_cast<loss_reason>(i), .lost = read_one(losses_.at(i))});
  for (std::size_t i = 0; i < errors_.size(); ++i)
    if (const auto failures = read_one(errors_.at(i)); failures > 0)
      out.errors.push_back({.code = static_cast<errc>(i), .failures = failures});
  out.handovers = read_one(handovers);
  out.renewals = read_one(renewals);
  out.renewal_failures = read_one(renewal_failures);
  out.release_failures = read_one(release_failures);
  out.reconnects = read_one(reconnects);
  out.polling_fallbacks = read_one(polling_fallbacks);
  out.sweeps = read_one(sweeps);
  out.swept_rows = read_one(swept_rows);
  out.swept_tickets = read_one(swept_tickets);
  out.waiting = waiting.load(std::memory_order_relaxed);
  return out;
}

counted_call::counted_call(counters& in, strategy by) noexcept : in_{in}, by_{by}, began_{base::now()} {
  in_.waiting.fetch_add(1, std::memory_order_relaxed);
}

counted_call::~counted_call() {
  in_.waiting.fetch_sub(1, std::memory_order_relaxed);
  if (is_counted_) in_.ended(by_, how_, elapsed());
}

duration counted_call::elapsed() const noexcept { return base::now() - began_; }

}  // namespace rowlock::inline v1::engine
