// Options of locks, clients and sweepers, judged again by what their documentation says.

#include <rowlock/options.hpp>
#include <rowlock/sweeper.hpp>

#include <algorithm>
#include <chrono>

#include "base/boot_clock.hpp"
#include "core/checks.hpp"
#include "core/lease.hpp"
#include "fuzz/fuzz.hpp"
#include "fuzz/utf8.hpp"

namespace rowlock::fuzz {

namespace {

using namespace std::chrono_literals;

/// Near a bound more often than chance would have it.
duration some_duration(input& from) {
  constexpr duration bounds[] = {0s, 1ms, 100ms, 1s, 1min, 1h, 24h, 24h * 30, 24h * 365};
  if (from.ConsumeBool()) return any_duration(from);
  return bounds[from.ConsumeIntegralInRange<std::size_t>(0, std::size(bounds) - 1)] +
         duration{from.ConsumeIntegralInRange<int>(-1, 1)};
}

template <class Check>
bool is_taken(Check check) {
  const auto refusal = error_of(check);
  if (!refusal) return true;
  expect(refusal->code() == errc::invalid_option || refusal->code() == errc::unsupported,
         "the code of a refused option");
  expect(is_tame(refusal->what()), "a refusal can be shown", refusal->what());
  return false;
}

bool is_fine(const lock_options& o) {
  const lock_options usual;
  if (!is_between(o.lease, 100ms, 24h * 30) || !is_between(o.at_least, 0s, 24h * 30)) return false;
  if (o.hold_limit && (!is_between(*o.hold_limit, 100ms, 24h * 30) || *o.hold_limit < o.at_least)) return false;
  if (o.note.size() > 1000 || !is_plain(o.note)) return false;
  return o.strategy != strategy::for_update ||
         (o.lease == usual.lease && o.renew == usual.renew && o.at_least == usual.at_least && !o.hold_limit);
}

bool is_fine(const client_options& o) {
  const auto is_printable = [](char c) { return c >= ' ' && c <= '~' && c != ':'; };
  const auto is_of_prefix = [](char c) { return (c >= 'a' && c <= 'z') || c == '_' || (c >= '0' && c <= '9'); };
  const auto& name = o.application;
  const auto& prefix = o.table_prefix;
  return !name.empty() && name.size() <= 60 && std::all_of(name.begin(), name.end(), is_printable) && !prefix.empty() &&
         prefix.size() <= 32 && std::all_of(prefix.begin(), prefix.end(), is_of_prefix) &&
         (prefix[0] < '0' || prefix[0] > '9') && o.connections >= 1 && o.held_transactions >= 1 &&
         is_between(o.handover_limit, 1ms, 1h) && is_between(o.connect_timeout, 1ms, 1h) &&
         is_between(o.call_timeout, 1ms, 1h) && is_between(o.transaction_limit, 1s, 1h);
}

void check_lock(input& from) {
  const lock_options o{
      .strategy = from.PickValueInArray({strategy::unique_index, strategy::for_update, strategy::version_cas}),
      .lease = from.ConsumeBool() ? lock_options{}.lease : some_duration(from),
      .renew = from.ConsumeBool(),
      .at_least = from.ConsumeBool() ? duration{} : some_duration(from),
      .hold_limit = from.ConsumeBool() ? std::nullopt : std::optional{some_duration(from)},
      .note = text(from) + (from.ConsumeBool() ? text(from) : "")};
  expect(is_taken([&] { core::check(o); }) == is_fine(o), "options of a lock are as documented");
  if (!is_fine(o)) return;
  const auto now = base::now();
  expect(core::local_deadline(now, o.lease, o.lease) < base::later(now, o.lease), "the client stops believing first");
  expect(core::renewal_due(now, o.lease) < core::local_deadline(now, o.lease, o.lease), "it is renewed in time");
}

void check_sharing(input& from) {
  const core::sharing how{.permits = from.ConsumeIntegral<std::int64_t>(),
                          .max_other_permits = from.ConsumeIntegral<std::int64_t>()};
  const bool is_fine = how.permits == 0 || (how.permits > 0 && how.max_other_permits >= 0);
  expect(is_taken([&] { core::check(how, lock_options{}); }) == is_fine, "permits are as documented");
}

void check_client(input& from) {
  client_options o;
  if (from.ConsumeBool()) o.application = text(from);
  if (from.ConsumeBool()) o.table_prefix = text(from);
  if (from.ConsumeBool()) o.connections = from.ConsumeIntegralInRange<std::size_t>(0, 2);
  if (from.ConsumeBool()) o.held_transactions = from.ConsumeIntegralInRange<std::size_t>(0, 2);
  for (duration* each : {&o.handover_limit, &o.connect_timeout, &o.call_timeout, &o.transaction_limit})
    if (from.ConsumeBool()) *each = some_duration(from);
  expect(is_taken([&] { core::check(o); }) == is_fine(o), "options of a client are as documented");
  if (!is_fine(o)) return;
  const sweeper_options s{.every = some_duration(from),
                          .retention = some_duration(from),
                          .batch = from.ConsumeIntegralInRange<std::size_t>(0, 10'001)};
  const auto longest = std::max({o.connect_timeout, o.call_timeout, o.transaction_limit});
  const bool is_fine_too = is_between(s.every, 1s, 24h) && is_between(s.retention, 1min, 24h * 365) &&
                           s.retention > longest && s.batch >= 1 && s.batch <= 10'000;
  expect(is_taken([&] { core::check(s, o); }) == is_fine_too, "options of a sweeper are as documented");
}

}  // namespace

void feed(input& from) {
  check_lock(from);
  check_sharing(from);
  check_client(from);
}

}  // namespace rowlock::fuzz
