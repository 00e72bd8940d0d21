#include "engine/events/telemetry.hpp"

#include <new>

#include "base/boot_clock.hpp"
#include "base/text.hpp"
#include "core/error_detail.hpp"

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
  for (const auto& each : totals)
    if (each.counted != nullptr) out.*each.shown = read_one(this->*each.counted);
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

void telemetry::report(event e) noexcept {
  if (!process_.is_foreign()) dispatcher_.add(std::move(e));
}

void telemetry::failed(const error& e) noexcept {
  if (e.code() == errc::cancelled || detail::is_end_of_client(e)) return;
  numbers_.failed(static_cast<errc>(e.code().value()));
  tell([&] { return events::failed{e}; });
}

void telemetry::release_failed(events::release_failed e) noexcept {
  if (process_.is_foreign()) return;
  counters::count(numbers_.release_failures);
  report({std::move(e)});
}

void telemetry::polling(const error& why) noexcept {
  counters::count(numbers_.polling_fallbacks);
  tell([&] { return events::polling{why}; });
}

void telemetry::reconnected() noexcept {
  counters::count(numbers_.reconnects);
  tell([] { return events::reconnected{}; });
}

void telemetry::invalid_names(const std::vector<std::string>& names) noexcept try {
  if (names.empty()) return;
  warn("the lock table has " + std::to_string(names.size()) + (names.size() == 1 ? " row" : " rows") +
       " that rowlock ignores, because its name is not 1 to 255 bytes of UTF-8: " +
       base::quoted(base::printable(names.front())) +
       (names.size() == 1 ? "; delete this row, which was written by hand"
                          : " and others; delete these rows, which were written by hand"));
} catch (const std::bad_alloc&) {  // it will be found again
}

}  // namespace rowlock::inline v1::engine
