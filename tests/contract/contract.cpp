#include "contract/contract.hpp"

#include <utility>

#include "support/databases.hpp"

namespace rowlock::test {

namespace {

std::vector<subject> all_subjects() {
  std::vector<subject> out;
  for (const auto& kind : databases()) {
    const auto name = std::string{kind.name};
    out.push_back({.name = name + "_unique_index", .open = kind.open, .strategy = strategy::unique_index});
  }
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
  return client::connect(db().url(), std::move(options));
}

lock_options contract::with(lock_options options) {
  options.strategy = GetParam().strategy;
  return options;
}

bool contract::can_have(client& locks, const lock_name& name) { return locks.try_acquire(name, with()).has_value(); }

void lease_contract::SetUp() {
  contract::SetUp();
  if (!GetParam().has_lease) GTEST_SKIP() << GetParam() << " holds a connection, not a lease";
}

}  // namespace rowlock::test
