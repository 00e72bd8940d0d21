#include "contract/contract.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "api/inside.hpp"
#include "support/databases.hpp"
#include "support/strategies.hpp"
#include "support/tier.hpp"
#include "support/where.hpp"

namespace rowlock::test {

namespace {

std::vector<subject> all_pairs() {
  std::vector<subject> out;
  for (const auto& kind : databases())
    for (const auto each : all_strategies)
      out.push_back({.name = std::string{kind.name} + "_" + std::string{to_string(each)},
                     .open = kind.open,
                     .strategy = each,
                     .has_lease = each != strategy::for_update,
                     .holds_by_transaction = each == strategy::for_update && kind.name != "sqlite"});
  return out;
}

}  // namespace

std::vector<subject> every_pair() { return ways_of_calls() == way_of_calling::blocking ? all_pairs() : usual_pairs(); }

// Calls of all ways are the same but for how they wait.
std::vector<subject> usual_pairs() {
  if (is_full_tier()) return all_pairs();
  if (ways_of_calls() != way_of_calling::blocking)
    return where(all_pairs(), [](const subject& each) { return each.name == "sqlite_unique_index"; });
  return where(all_pairs(), [](const subject& each) {
    switch (each.strategy) {
      case strategy::for_update:
        return each.name.starts_with("postgresql");
      case strategy::version_cas:
        return each.name.starts_with("mysql");
      default:
        return true;
    }
  });
}

std::vector<subject> on(std::string_view database, std::vector<subject> of) {
  return where(std::move(of), [&](const subject& each) { return each.name.starts_with(database); });
}

std::vector<subject> not_on(std::string_view database, std::vector<subject> of) {
  return where(std::move(of), [&](const subject& each) { return !each.name.starts_with(database); });
}

std::vector<subject> leases(std::vector<subject> of) { return where(std::move(of), &subject::has_lease); }

std::vector<subject> rows(std::vector<subject> of) {
  return where(std::move(of), std::not_fn(&subject::holds_by_transaction));
}

std::vector<subject> transactions(std::vector<subject> of) {
  return where(std::move(of), &subject::holds_by_transaction);
}

std::ostream& operator<<(std::ostream& out, const subject& s) { return out << s.name; }

std::string subject_name(const testing::TestParamInfo<subject>& info) { return info.param.name; }

void release_without_delay(const held_lock& held) { detail::inside::lease_of(held)->is_released_in_background = false; }

client contract::connect(const client_options& options) { return connect_and_migrate(db().url(), with_room(options)); }

client contract::connect_bare(const client_options& options) {
  return connect_patiently(db().url(), with_room(options));
}

client_options contract::with_room(client_options options) {
  if (GetParam().holds_by_transaction) options.held_transactions = std::max<std::size_t>(options.held_transactions, 16);
  return options;
}

lock_options contract::with(lock_options options) {
  options.strategy = GetParam().strategy;
  if (!GetParam().has_lease) {
    options.lease = lock_options{}.lease;
    options.renew = true;
  }
  return options;
}

std::uint64_t sent(const client& by, std::string_view operation) {
  std::uint64_t out = 0;
  for (const auto& each : by.stats().statements)
    if (operation.empty() || each.operation == operation)
      for (const auto count : each.took.counts) out += count;
  return out;
}

bool contract::can_have(client& locks, const lock_name& name) { return locks.try_acquire(name, with()).has_value(); }

}  // namespace rowlock::test
