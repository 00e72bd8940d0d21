#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "cluster/mysql_group.hpp"
#include "history/round.hpp"
#include "support/errors.hpp"
#include "support/recorder.hpp"
#include "testkit/eventually.hpp"

namespace rowlock::test {
namespace {

constexpr const char* needs_a_server = "ROWLOCK_TEST_MYSQLD is not set: Debian 12 has no such server";

class mysql_groups : public testing::Test {
 protected:
  void SetUp() override {
    if (!mysql_member::can_run()) GTEST_SKIP() << needs_a_server;
    if (!has_the_machine()) GTEST_SKIP() << nodes_need_it;
    members_.emplace();
  }

  client connect(std::size_t member, std::function<void(const event&)> observer = silent()) {
    return client::connect(members_->urls().at(member), {.call_timeout = 5s, .observer = std::move(observer)});
  }

  std::optional<mysql_group> members_;
};

TEST_F(mysql_groups, keeps_a_lease_when_its_primary_is_killed) {
  connect(0).migrate();
  std::int64_t token = 0;
  {
    auto locks = connect(0);
    const auto held = locks.acquire("orders/42", {.lease = 60s});
    token = held.token().value();
    members_->node(0).crash();
    std::optional<client> other;
    EXPECT_TRUE(eventually([&] {
      return !error_of([&] { other.emplace(connect(1)); }) || !error_of([&] { other.emplace(connect(2)); });
    }));
    ASSERT_TRUE(other.has_value());
    EXPECT_FALSE(other->try_acquire("orders/42").has_value());
    EXPECT_TRUE(other->force_release("orders/42"));
    EXPECT_GT(other->acquire("orders/42").token().value(), token);
  }
  members_->node(0).start();
  members_->rejoin(0);
}

TEST_F(mysql_groups, refuses_a_secondary_and_warns_of_nothing_at_the_primary) {
  const auto e = error_of([&] { return connect(1).check(), true; });
  EXPECT_TRUE(mentions(e, "is read-only, as a replica is; connect to the primary"));
  const recorder told;
  auto locks = connect(0, told.observer());
  locks.migrate();
  locks.acquire("orders/42").release();
  locks.close();
  EXPECT_EQ(told.warnings().size(), 0U);
}

TEST(soak_of_mysql_group, whose_primaries_go) {
  if (!mysql_member::can_run()) GTEST_SKIP() << needs_a_server;
  if (!has_the_machine()) GTEST_SKIP() << nodes_need_it;
  play_rounds([](std::chrono::seconds time) {
    mysql_group members;
    round one{members.urls().at(0), members.urls()};
    const auto is_killed = [&](std::mt19937& random) {
      const auto which = random() % members.size();
      members.node(which).crash();
      let_pass_at_most(3s, random);
      members.node(which).start();
      members.rejoin(which);
    };
    const auto freezes = [&](std::mt19937& random) {
      const auto which = random() % members.size();
      freeze_for_a_while(members.node(which), 6s, random);
      members.rejoin(which);
    };
    const auto another_becomes_primary = [&](std::mt19937& random) { members.make_primary(random() % members.size()); };
    one.play(time, {is_killed, freezes, another_becomes_primary});
    members.make_primary(0);
    one.end(true);
  });
}

}  // namespace
}  // namespace rowlock::test
