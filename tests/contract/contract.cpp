#include "contract/contract.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "api/inside.hpp"
#include "support/databases.hpp"
#include "support/slowness.hpp"
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

bool is_plainest(const subject& one) { return one.name == "sqlite_unique_index"; }

// Calls of all ways are the same but for how they wait.
std::vector<subject> selected(const std::vector<std::pair<std::string_view, std::string_view>>& without) {
  return where(all_pairs(), [&](const subject& each) {
    if (is_full_tier()) return true;
    if (ways_of_calls() != way_of_calling::blocking) return is_plainest(each);
    return std::none_of(without.begin(), without.end(), [&](const auto& pair) {
      return each.name.starts_with(pair.first) && each.name.ends_with(pair.second);
    });
  });
}

}  // namespace

std::vector<subject> every_pair() { return selected({{"postgresql", "version_cas"}}); }

std::vector<subject> usual_pairs() {
  std::vector<std::pair<std::string_view, std::string_view>> without{
      {"postgresql", "version_cas"}, {"postgresql", "for_update"}, {"mysql", "version_cas"}};
  // Sanitizers judge the code alone. Steps of other strategies are in every_pair().
  if (is_sanitized) without.insert(without.end(), {{"sqlite", "version_cas"}, {"sqlite", "for_update"}});
  return selected(without);
}

std::vector<subject> any_pair() {
  return where(usual_pairs(), [](const subject& each) { return is_full_tier() || is_plainest(each); });
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

bool sets_cease_to_insist() {
  using std::chrono::system_clock;
  return eventually([from = system_clock::now()] {
    const auto now = system_clock::now();
    const auto of_the_clock = now.time_since_epoch() % 5s;
    return now - from > 1200ms && of_the_clock > 1200ms && of_the_clock < 3s;
  });
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
