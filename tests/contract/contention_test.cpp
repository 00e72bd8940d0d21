#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "contract/contract.hpp"
#include "support/room.hpp"
#include "support/slowness.hpp"
#include "support/test_thread.hpp"

namespace rowlock::test {
namespace {

class contention : public contract {
 protected:
  std::vector<std::unique_ptr<client>> clients(std::size_t count) {
    std::vector<std::unique_ptr<client>> out;
    for (std::size_t i = 0; i < count; ++i) out.push_back(std::make_unique<client>(connect()));
    return out;
  }
};
ROWLOCK_CONTRACT_SUITE(contention, every_pair());
class contention_of_leases : public contention {};
ROWLOCK_CONTRACT_SUITE(contention_of_leases, leases(every_pair()));

TEST_P(contention, a_hundred_contenders_and_never_two_holders_and_tokens_in_their_order) {
  const auto all = clients(4);
  room inside;
  fencing_token last;  // guarded by the lock
  on_threads(std::size_t{100}, [&](std::size_t t) {
    auto held = all[t % all.size()]->acquire("orders/42", with());
    inside.visit();
    EXPECT_GT(held.token(), std::exchange(last, held.token()));
    held.release();
  });
  EXPECT_EQ(inside.crowded(), 0);
  EXPECT_EQ(inside.visits(), 100);
}

TEST_P(contention, a_hundred_tries_and_exactly_one_holder) {
  const auto all = clients(4);
  std::atomic<int> granted{0};
  std::atomic<int> finished{0};
  on_threads(std::size_t{100}, [&](std::size_t t) {
    const auto held = all[t % all.size()]->try_acquire("orders/42", with());
    if (held) ++granted;
    ++finished;
    static_cast<void>(eventually([&] { return finished == 100; }));
  });
  EXPECT_EQ(granted, 1);
}

TEST_P(contention, every_way_to_take_it_at_once) {
  const auto all = clients(3);
  constexpr int cycles = 12;
  room inside;
  const auto hold = [&](auto&& guard) {
    if (guard) inside.visit();
  };
  const auto hold_at_once = [&](auto take) {
    try {
      hold(take());
    } catch (const error& e) {  // not even connected within so short a time
      EXPECT_TRUE(e.is_retryable()) << e.what();
    }
  };
  on_threads(std::size_t{9}, [&](std::size_t t) {
    auto& locks = *all[t % 3];
    mutex order{locks, "orders/42", with()};
    for (int i = 0; i < cycles; ++i) {
      if (t < 3) {
        const std::lock_guard guard{order};
        hold(true);
      } else if (t < 6) {
        hold_at_once([&] { return locks.try_acquire_for("orders/42", std::chrono::milliseconds{20 * i}, with()); });
      } else {
        hold_at_once([&] { return locks.try_acquire("orders/42", with()); });
        hold(locks.acquire("orders/42", with()));
      }
    }
  });
  EXPECT_EQ(inside.crowded(), 0);
  EXPECT_GE(inside.visits(), 3 * cycles + 3 * cycles);
}

TEST_P(contention, a_waiter_has_its_turn_beside_another_client_that_hardly_lets_go) {
  auto locks = connect();
  auto others = connect();
  std::atomic<int> cycles{0};
  std::vector<test_thread> busy;
  for (int i = 0; i < 2; ++i)
    busy.emplace_back([&](const std::stop_token& stop) {
      for (; !stop.stop_requested(); ++cycles) others.acquire("orders/42").release();
    });
  for (int i = 0; i < 10; ++i) {
    const int before = cycles;
    ASSERT_TRUE(eventually([&] { return cycles > before + 20; }));
    const stopwatch watch;
    ASSERT_TRUE(locks.try_acquire_for("orders/42", 20s, with()).has_value());
    EXPECT_LT(watch.elapsed(), client_options{}.handover_limit + slack());
  }
}

TEST_P(contention, names_do_not_get_in_each_others_way) {
  const auto all = clients(2);
  std::atomic<int> refused{0};
  on_threads(std::size_t{16}, [&](std::size_t t) {
    for (int i = 0; i < 10; ++i)
      if (!can_have(*all[t % 2], "job/" + std::to_string(t))) ++refused;
  });
  EXPECT_EQ(refused, 0);
}

TEST_P(contention_of_leases, leases_that_end_do_not_let_tokens_fall_behind) {
  const auto all = clients(3);
  std::mutex guard;
  std::map<std::int64_t, std::int64_t> acquired_at;  // by token
  on_threads(std::size_t{6}, [&](std::size_t t) {
    for (int i = 0; i < 4; ++i) {
      auto held = all[t % 3]->acquire("orders/42", with({.lease = 100ms, .renew = false}));
      const auto row = db().row("orders/42").value();
      if (row.version == held.token().value()) {
        const std::lock_guard lock{guard};
        EXPECT_TRUE(acquired_at.emplace(row.version, row.acquired_at.value()).second) << "a token given twice";
      }
      if (i % 2 == 0) static_cast<void>(eventually([&] { return held.lost().stop_requested(); }));
    }
  });
  std::int64_t last = 0;
  for (const auto& [token, time] : acquired_at) {
    EXPECT_GT(time, last) << "in the order in which they had it";
    last = time;
  }
}

}  // namespace
}  // namespace rowlock::test
