#include <algorithm>
#include <atomic>

#include "server/server_test.hpp"
#include "support/test_thread.hpp"

namespace rowlock::test {
namespace {

/// Many threads share few connections.
class small_pool : public on_each_server {
 protected:
  static constexpr int threads = 64;
  static constexpr int connections = 2;

  /// The same where anybody waits: one more listens, on MariaDB two.
  static constexpr int connections_to_wait = connections + 2;

  /// Runs the work in all threads; the most connections that were seen meanwhile, in two looks one after the other: of
  /// one that has ended the server may not know yet.
  template <class Work>
  int most_connections_during(Work work) {
    std::atomic<int> most{0};
    test_thread watcher{[&](const std::stop_token& stop) {
      for (int before = 0; !stop.stop_requested();) {
        const int now = db().connections();
        most = std::max(most.load(), std::min(now, std::exchange(before, now)));
      }
    }};
    on_threads(threads, work);
    watcher.request_stop();
    watcher.join();
    return most;
  }

  client locks_ = connect({.connections = connections});
};
ROWLOCK_SUITE_ON_EACH_SERVER(small_pool);

TEST_P(small_pool, gives_every_thread_its_turn) {
  constexpr int rounds = 5;
  int counter = 0;
  std::atomic<int> inside{0};
  const int most = most_connections_during([&](int) {
    for (int i = 0; i < rounds; ++i) {
      const auto held = locks_.acquire("counter");
      EXPECT_EQ(++inside, 1);
      ++counter;
      --inside;
    }
  });
  EXPECT_EQ(counter, threads * rounds);
  EXPECT_GE(most, 1);
  EXPECT_LE(most, connections_to_wait);
}

TEST_P(small_pool, serves_as_many_names_as_threads) {
  constexpr int rounds = 10;
  std::atomic<int> done{0};
  const int most = most_connections_during([&](int number) {
    for (int i = 0; i < rounds; ++i) {
      locks_.acquire("job/" + std::to_string(number)).release();
      ++done;
    }
  });
  EXPECT_EQ(done, threads * rounds);
  EXPECT_LE(most, connections);
}

TEST_P(small_pool, renews_while_many_wait) {
  auto held = std::optional{locks_.acquire("counter", {.lease = 2s})};
  std::atomic<int> turns{0};
  std::vector<test_thread> waiters;
  for (int i = 0; i < threads; ++i)
    waiters.emplace_back([&] {
      const auto mine = locks_.acquire("counter");
      ++turns;
    });
  EXPECT_TRUE(is_renewed("counter"));
  EXPECT_FALSE(held->lost().stop_requested()) << to_string(held->why_lost());
  EXPECT_EQ(turns, 0);
  held.reset();
  waiters.clear();
  EXPECT_EQ(turns, threads);
  EXPECT_LE(db().connections(), connections_to_wait);
}

using small_pool_by_proxy = on_each_server_by_proxy;
ROWLOCK_SUITE_ON_EACH_SERVER(small_pool_by_proxy);

// As many calls hang as may have a connection.
TEST_P(small_pool_by_proxy, renews_though_all_calls_hang) {
  auto locks =
      connect_by_proxy({.application = "disturbed", .connections = 2, .call_timeout = 60s, .observer = silent()});
  const auto held = locks.acquire("orders/42", {.lease = 2s});
  const auto hang = [&](const std::string& name) {
    proxy().on_request(acquiring(name), tcp_proxy::action::hold);
    return std::make_unique<background<bool>>(
        [&locks, name](const std::stop_token&) { return locks.try_acquire(name).has_value(); });
  };
  const auto one = hang("stuck/1");
  ASSERT_TRUE(eventually([&] { return proxy().has_acted(); }));
  const auto another = hang("stuck/2");
  EXPECT_TRUE(is_renewed("orders/42"));
  EXPECT_EQ(held.why_lost(), loss_reason::none);
  proxy().on_request([](std::string_view) { return false; }, tcp_proxy::action::hold);
  proxy().let_go();
  EXPECT_TRUE(one->get());
  EXPECT_TRUE(another->get());
}

}  // namespace
}  // namespace rowlock::test
