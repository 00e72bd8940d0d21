#include <algorithm>
#include <new>
#include <string>
#include <vector>

#include "core/text.hpp"
#include "driver/boot_clock.hpp"
#include "runtime/client_impl.hpp"

// What a client tells of itself: to its observer, and in numbers.
namespace rowlock::inline v1::detail {

namespace {

duration left_of(const acquisition& a) noexcept { return std::max(a.deadline() - driver::now(), duration::zero()); }

// Not of the database: somebody has ended the call, or the client.
bool is_wanted(const error& e) noexcept {
  return e.code() == errc::cancelled || e.code() == errc::client_closed || e.code() == errc::used_after_fork;
}

}  // namespace

void client_impl::report(event e) noexcept {
  if (is_foreign()) return;
  if (std::holds_alternative<events::release_failed>(e.what)) runtime::counters::count(counters_.release_failures);
  reporter_.add(std::move(e));
}

void client_impl::report_odd(const std::vector<std::string>& names) noexcept try {
  if (names.empty()) return;
  report({events::warning{
      "the lock table has " + std::to_string(names.size()) + (names.size() == 1 ? " row" : " rows") +
      " under what is no name (1 to 255 bytes of UTF-8), written by hand and passed over: \"" +
      core::printable(names.front()) + "\"" + (names.size() == 1 ? "" : " and others") + "; delete it"}});
} catch (const std::bad_alloc&) {  // it is there the next time, too
}

void client_impl::failed(const error& e) noexcept {
  if (is_wanted(e)) return;
  counters_.failed(static_cast<errc>(e.code().value()));
  if (reporter_.wants_all()) reporter_.add({events::failed{e}});
}

void client_impl::renewed(const acquisition& a) noexcept {
  if (a.counts == nullptr) return;
  runtime::counters::count(counters_.renewals);
  if (reporter_.wants_all()) reporter_.add({events::renewed{.name = a.name, .token = a.token, .left = left_of(a)}});
}

void client_impl::renewal_failed(const acquisition& a, const error& why) noexcept {
  if (a.counts == nullptr) return;
  runtime::counters::count(counters_.renewal_failures);
  if (reporter_.wants_all())
    reporter_.add({events::renewal_failed{.name = a.name, .token = a.token, .cause = why, .left = left_of(a)}});
}

void client_impl::polling(const error& why) noexcept {
  runtime::counters::count(counters_.polling_fallbacks);
  if (reporter_.wants_all()) reporter_.add({events::polling{why}});
}

void client_impl::reconnected() noexcept {
  runtime::counters::count(counters_.reconnects);
  if (reporter_.wants_all()) reporter_.add({events::reconnected{}});
}

void client_impl::swept(std::uint64_t rows, std::uint64_t tickets) noexcept {
  runtime::counters::count(counters_.swept_rows, rows);
  runtime::counters::count(counters_.swept_tickets, tickets);
}

void client_impl::has_swept(const events::swept& e) noexcept {
  runtime::counters::count(counters_.sweeps);
  if (reporter_.wants_all()) reporter_.add({e});
}

// In a child the mutexes may be locked by nobody.
client_statistics client_impl::stats() {
  if (is_foreign()) check_usable();
  auto out = counters_.read();
  out.statements = times_.read();
  out.dropped_events = reporter_.dropped();
  holdings_.each([&](const auto& a) {
    if (a->counts != nullptr && a->is_held()) ++out.held;
  });
  const auto statements = pool_.used();
  out.connections = statements.open;
  out.connections_in_use = statements.in_use;
  out.held_transactions = transactions_.used().in_use;
  return out;
}

std::unique_ptr<driver::session> client_impl::timed(
    std::unique_ptr<driver::session> (driver::database::*connect)(const driver::limits&), const driver::limits& until) {
  auto out = [&] {
    const driver::timed scope{&times_, driver::chore::connecting};
    return (*database_.*connect)(until);
  }();
  out->time_by(&times_);
  return out;
}

}  // namespace rowlock::inline v1::detail
