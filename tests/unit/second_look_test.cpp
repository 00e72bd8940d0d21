#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "engine/gateway/gateway.hpp"
#include "store/leases.hpp"
#include "support/errors.hpp"
#include "unit/fake_database.hpp"

// What one session says is not there may be there: another is asked.

namespace rowlock {
namespace {

using driver::row;
using sheets::verb;
using test::error_of;
using test::text_of;
using test::throws;

/// The sessions whose numbers are here do not see the row, the share or the tables.
struct second_look : testing::Test {
  std::set<int> misled{1};
  bool has_tables = true;  // also for those
  std::string vanished{};  // this name has no row for anybody
  int looks = 0;
  test::fake_database database{
      [this](verb what, std::span<const driver::request> batch, const driver::limits&) { return answer(what, batch); }};

  std::vector<row> answer(verb what, std::span<const driver::request> batch) {
    ++looks;
    if (misled.contains(database.asking())) {
      if (!has_tables) throw error{errc::schema_missing, "there is no table"};
      return {};
    }
    std::vector<row> out;
    for (const auto& r : batch) {
      const auto name = text_of(r[0]);
      if (name == vanished) continue;
      if (what == verb::inspect) out.push_back(test::held_row(name, "id of " + name, "(shared)"));
      if (what == verb::renew || what == verb::extend || what == verb::renew_share || what == verb::extend_share)
        out.push_back({text_of(r[1]), std::int64_t{2'000'000}});
      if (what == verb::release || what == verb::defer_release || what == verb::release_share)
        out.push_back({text_of(r[1]), {}, std::int64_t{0}});
      if (what == verb::upgrade_share || what == verb::downgrade)
        out.push_back({text_of(r[1]), std::int64_t{8}, std::int64_t{2'000'000}});
    }
    return out;
  }
  const std::vector<store::lease_ref> both{{.name = "a", .acquisition = "id of a"},
                                           {.name = "b", .acquisition = "id of b"}};
  const std::vector<store::lease_ref> share{{.name = "a", .acquisition = "id of a", .is_share = true}};
  template <class Ask>
  auto ask(Ask how) {
    return database.gateway().run(database.gateway().call_limits(), how);
  }
  template <class Ask>
  auto answers(Ask how, std::span<const store::lease_ref> some) {
    return ask([&](const store::access& db) { return how(db, some); });
  }
  template <class Ask>
  void expect_kept(Ask how, std::span<const store::lease_ref> some) {
    for (const auto& each : answers(how, some)) EXPECT_EQ(each.what, store::standing::kept);
  }
  template <class Ask>
  void expect_lost(Ask how, std::span<const store::lease_ref> some) {
    for (const auto& each : answers(how, some)) EXPECT_EQ(each.why, loss_reason::row_vanished);
  }
  template <class Ask>
  void expect_released(Ask how, std::span<const store::lease_ref> some) {
    for (const auto each : answers(how, some)) EXPECT_EQ(each, store::release_outcome::released);
  }
};

TEST_F(second_look, keeps_leases_and_shares) {
  expect_kept(store::renew, both);
  EXPECT_EQ(database.ended_sessions(), 1) << "the one that was led astray is not used any more";
  misled = {2};
  expect_kept(store::extend, both);
  misled = {3};
  expect_kept(store::renew, share);
  misled = {4};
  expect_kept(store::extend, share);
}

TEST_F(second_look, releases) {
  const auto release = [](const store::access& db, std::span<const store::lease_ref> some) {
    return store::release(db, some);
  };
  expect_released(release, both);
  misled = {2};
  expect_released(store::defer_release, both);
  misled = {3};
  expect_released(release, share);
}

TEST_F(second_look, converts) {
  const store::conversion what{.lease = both[0], .owner = "o", .thread = "t", .note = {}, .attempt = "x"};
  EXPECT_TRUE(ask([&](const store::access& db) { return store::upgrade_share(db, what); }).has_value());
  misled = {2};
  EXPECT_TRUE(ask([&](const store::access& db) { return store::downgrade(db, what); }).has_value());
}

TEST_F(second_look, that_says_the_same_is_believed) {
  misled = {1, 2, 3, 4, 5, 6};
  expect_lost(store::renew, both);
  EXPECT_EQ(looks, 4) << "a renewal and a look, twice";
  EXPECT_EQ(database.ended_sessions(), 0) << "neither was led astray";
  expect_lost(store::renew, share);
  const auto outcomes = ask([&](const store::access& db) { return store::release(db, both); });
  EXPECT_EQ(outcomes, std::vector(2, store::release_outcome::gone));
}

// What the first answer has carried out must not be repeated as if nothing had happened.
TEST_F(second_look, that_fails_leaves_the_outcome_open) {
  misled = {2};
  has_tables = false;
  database.gateway().connect();
  vanished = "b";
  const auto e = error_of([&] { return ask([&](const store::access& db) { return store::defer_release(db, both); }); });
  EXPECT_TRUE(test::is_error(e, errc::schema_missing, {.outcome_is_unknown = true}));
}

TEST_F(second_look, finds_tables) {
  has_tables = false;
  expect_kept(store::renew, both);
  misled = {1, 2, 3};
  EXPECT_TRUE(throws(errc::schema_missing, [&] { expect_kept(store::renew, both); }));
}

}  // namespace
}  // namespace rowlock
