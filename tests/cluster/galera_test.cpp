#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "cluster/galera_cluster.hpp"
#include "history/round.hpp"
#include "support/background.hpp"
#include "support/errors.hpp"
#include "support/recorder.hpp"
#include "testkit/eventually.hpp"

namespace rowlock::test {
namespace {

/// One cluster for all of these tests: it takes seconds to start. Each leaves it whole.
class galera : public testing::Test {
 protected:
  static void TearDownTestSuite() { shared.reset(); }

  void SetUp() override {
    if (!has_the_machine()) GTEST_SKIP() << nodes_need_it;
    if (!shared) shared.emplace();
    connect(0).migrate();
  }
  void TearDown() override {
    if (shared) nodes().wait_for_all();
  }

  static galera_cluster& nodes() { return *shared; }
  static client connect(std::size_t node, duration call_timeout = 10s) {
    return client::connect(nodes().urls().at(node), {.call_timeout = call_timeout, .observer = silent()});
  }

 private:
  static std::optional<galera_cluster> shared;
};
std::optional<galera_cluster> galera::shared;

TEST_F(galera, grants_a_lease_on_one_node_only) {
  std::vector<client> all;
  for (std::size_t i = 0; i < nodes().size(); ++i) all.push_back(connect(i));
  std::ptrdiff_t grants = 0;
  for (int round = 0; round < 20; ++round) {
    const auto name = "orders/" + std::to_string(round);
    std::vector<std::optional<held_lock>> got(all.size());
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < all.size(); ++i)
        threads.emplace_back([&, i] {
          const lock_options how{.strategy = i % 2 == 0 ? strategy::unique_index : strategy::version_cas, .lease = 60s};
          error_of([&] { return got[i] = all[i].try_acquire(name, how), true; });
        });
    }
    const auto times = std::ranges::count_if(got, [](const auto& each) { return each.has_value(); });
    EXPECT_LE(times, 1);
    grants += times;
  }
  EXPECT_GT(grants, 0);
}

// Not promised: docs/guarantees.md says so, and a client is warned.
TEST_F(galera, grants_a_lock_of_a_transaction_on_each_node) {
  auto here = connect(0);
  auto there = connect(1);
  const lock_options how{.strategy = strategy::for_update};
  here.acquire("reports", how).release();
  ASSERT_TRUE(eventually([&] {
    return answer_of(nodes().node(1), "SELECT count(*) FROM rowlock.rowlock_lock WHERE name = 'reports'") == "1";
  }));
  const auto held = here.acquire("reports", how);
  EXPECT_TRUE(there.try_acquire("reports", how).has_value());
}

TEST_F(galera, warns_of_that) {
  const recorder told;
  client::connect(nodes().urls().at(0), {.observer = told.observer()}).close();
  EXPECT_TRUE(told.warned("exclude each other on the same node only"));
}

TEST_F(galera, keeps_a_lease_when_the_node_of_its_holder_is_killed) {
  auto locks = connect(2, 2s);
  auto other = connect(1);
  auto held = locks.acquire("orders/42", {.lease = 60s});
  nodes().node(2).crash();
  std::optional<held_lock> got;
  EXPECT_TRUE(eventually([&] { return !error_of([&] { return got = other.try_acquire("orders/42"), true; }); }));
  EXPECT_FALSE(got.has_value());
  nodes().rejoin(2);
  EXPECT_NO_THROW(held.extend(60s));
  const auto token = held.token();
  held.release();
  EXPECT_GT(other.acquire("orders/42").token(), token);
}

TEST_F(galera, refuses_at_a_node_that_is_cut_off) {
  auto locks = connect(2, 2s);
  auto other = connect(0);
  const auto held = locks.acquire("orders/43", {.lease = 3s});
  const auto in_the_way = nodes().node(2).cut_off();
  EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
  std::optional<error> e;
  EXPECT_TRUE(eventually([&] {
    e = error_of([&] { return locks.try_acquire("orders/44"); });
    return e && e->native_code() == 1047;
  }));
  ASSERT_TRUE(is_error(e, errc::connection_failed, {.is_retryable = true}));
  EXPECT_TRUE(eventually([&] { return other.try_acquire("orders/43").has_value(); }));
}

TEST(soak_of_galera, that_loses_nodes) {
  if (!has_the_machine()) GTEST_SKIP() << nodes_need_it;
  play_rounds([](std::chrono::seconds time) {
    galera_cluster nodes;
    round one{nodes.urls().at(0), nodes.urls()};
    constexpr auto longest = 6s;
    const auto is_whole_again = [&] {
      nodes.wait_for_all();
      one.goes_on();
    };
    const auto is_killed = [&](std::mt19937& random) {
      const auto which = random() % nodes.size();
      nodes.node(which).crash();
      let_pass_at_most(longest, random);
      nodes.rejoin(which);
      one.goes_on();
    };
    const auto freezes = [&](std::mt19937& random) {
      freeze_for_a_while(nodes.node(random() % nodes.size()), longest, random);
      is_whole_again();
    };
    const auto is_cut_off = [&](std::mt19937& random) {
      auto in_the_way = nodes.node(random() % nodes.size()).cut_off();
      let_pass_at_most(longest, random);
      in_the_way.reset();
      is_whole_again();
    };
    one.play(time, {is_killed, freezes, is_cut_off});
    one.end(true);
  });
}

}  // namespace
}  // namespace rowlock::test
