#include "contract/contract.hpp"

#include <algorithm>
#include <utility>

#include "support/databases.hpp"

namespace rowlock::test {

namespace {

std::vector<subject> all_subjects() {
  std::vector<subject> out;
  for (const auto& kind : databases())
    for (const auto each : {strategy::unique_index, strategy::for_update, strategy::version_cas})
      out.push_back({.name = std::string{kind.name} + "_" + std::string{to_string(each)},
                     .open = kind.open,
                     .strategy = each,
                     .has_lease = each != strategy::for_update,
                     .holds_by_transaction = each == strategy::for_update && kind.name != "sqlite"});
  return out;
}

}  // namespace

const std::vector<subject>& subjects() {
  static const auto all = all_subjects();
  return all;
}

std::ostream& operator<<(std::ostream& out, const subject& s) { return out << s.name; }

std::string subject_name(const testing::TestParamInfo<subject>& info) { return info.param.name; }

void contract::SetUp() { database_ = GetParam().open(); }

client contract::connect(client_options options) {
  auto locks = connect_bare(std::move(options));
  locks.migrate();
  return locks;
}

client contract::connect_bare(client_options options) {
  if (!options.observer) options.observer = silent();
  if (GetParam().holds_by_transaction) options.held_transactions = std::max<std::size_t>(options.held_transactions, 16);
  return client::connect(db().url(), std::move(options));
}

lock_options contract::with(lock_options options) {
  options.strategy = GetParam().strategy;
  if (!GetParam().has_lease) {
    options.lease = lock_options{}.lease;
    options.renew = true;
  }
  return options;
}

bool contract::can_have(client& locks, const lock_name& name) { return locks.try_acquire(name, with()).has_value(); }

void lease_contract::SetUp() {
  contract::SetUp();
  if (!GetParam().has_lease) GTEST_SKIP() << GetParam() << " holds a connection, not a lease";
}

}  // namespace rowlock::test
