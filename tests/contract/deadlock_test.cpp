#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <shared_mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "contract/contract.hpp"
#include "support/slowness.hpp"
#include "support/test_thread.hpp"
#include "support/tier.hpp"

// Threads that have one name and wait for another, in a circle.

namespace rowlock::test {
namespace {

class deadlocks : public two_clients {
 protected:
  /// Locks one; then, when all threads have theirs, the other. nullopt: it got that one, too.
  template <class One, class Two>
  static std::optional<error> lock_both(One& one, Two& two, std::latch& all_have_one) {
    const std::lock_guard has_one{one};
    all_have_one.arrive_and_wait();
    return error_of([&] { const std::lock_guard has_two{two}; });
  }
  static std::optional<error> lock_both(mutex& one, mutex& two) {
    std::latch alone{1};
    return lock_both(one, two, alone);
  }

  /// So many threads in a circle, through two clients. How many ended in a deadlock, and what the last of them said.
  std::pair<int, std::string> in_a_circle(int number, const lock_options& options) {
    std::latch all_have_one{number};
    std::vector<std::unique_ptr<background<std::optional<error>>>> all;
    for (int i = 0; i < number; ++i)
      all.push_back(std::make_unique<background<std::optional<error>>>([&, i](std::stop_token) {
        auto& by = i % 2 == 0 ? locks_ : other_;
        mutex one{by, "name " + std::to_string(i), options};
        mutex two{by, "name " + std::to_string((i + 1) % number), options};
        return lock_both(one, two, all_have_one);
      }));
    const stopwatch watch;
    std::pair<int, std::string> out;
    for (const auto& each : all)
      if (const auto e = each->get()) {
        EXPECT_EQ(e->code(), errc::deadlock) << e->what();
        EXPECT_FALSE(e->is_retryable());
        ++out.first;
        out.second = e->what();
      }
    EXPECT_LT(watch.elapsed(), 2s + slack());
    EXPECT_TRUE(eventually([&] { return db().tickets() == 0; }));
    return out;
  }
};
ROWLOCK_CONTRACT_SUITE(deadlocks, every_pair());
class deadlocks_of_many : public deadlocks {};
ROWLOCK_CONTRACT_SUITE(deadlocks_of_many, any_pair());

TEST_P(deadlocks, of_two_threads_end_with_one_of_them) {
  const auto end = in_a_circle(2, with());
  EXPECT_EQ(end.first, 1);
  EXPECT_NE(end.second.find("\"name 0\""), std::string::npos) << end.second;
  EXPECT_NE(end.second.find("\"name 1\""), std::string::npos) << end.second;
}

TEST_P(deadlocks_of_many, of_three_in_turn_and_of_ten) {
  EXPECT_EQ(in_a_circle(3, with({.fairness = fairness::fifo})).first, 1);
  EXPECT_EQ(in_a_circle(10, with()).first, 1);
}

TEST_P(deadlocks_of_many, of_who_shares_a_name) {
  shared_mutex shared_by_one{locks_, "shared"};
  shared_mutex shared_by_other{other_, "shared"};
  mutex alone_by_one{locks_, "alone", with()};
  mutex alone_by_other{other_, "alone", with()};
  std::latch both{2};
  background reader{[&](std::stop_token) {
    std::shared_lock share{shared_by_one, std::defer_lock};
    return lock_both(share, alone_by_one, both).has_value();
  }};
  background writer{[&](std::stop_token) { return lock_both(alone_by_other, shared_by_other, both).has_value(); }};
  const bool is_reader = reader.get();
  EXPECT_NE(is_reader, writer.get()) << "one of them, and the other has it then";
}

TEST_P(deadlocks_of_many, with_oneself) {
  mutex order{locks_, "orders/42", with()};
  const std::lock_guard has{order};
  const auto e = error_of([&] { return locks_.acquire("orders/42", with()); });
  ASSERT_TRUE(e);
  EXPECT_EQ(e->code(), errc::deadlock);
  EXPECT_FALSE(order.held().lost().stop_requested());
}

// It holds one of them itself, and reenters that one.
TEST_P(deadlocks_of_many, are_not_seen_where_a_thread_waits_for_the_rest_of_a_set) {
  const auto as_thread = with({.as = holder::this_thread()});
  const auto has_one = locks_.acquire("orders/42", as_thread);
  auto has_other = other_.acquire("orders/43", with());
  background frees{[&](std::stop_token) {
    EXPECT_TRUE(eventually([&] { return db().tickets() == 2; }));
    EXPECT_FALSE(eventually(2s, [&] { return db().tickets() == 0; })) << "two looks for deadlocks find none";
    has_other.release();
    return true;
  }};
  const auto both = locks_.try_acquire_all_for(std::vector<lock_name>{"orders/42", "orders/43"}, patience, as_thread);
  EXPECT_TRUE(both);
}

// A handle may change threads.
TEST_P(deadlocks_of_many, are_not_seen_where_another_thread_lets_go_of_what_a_named_holder_has) {
  held_lock handle;
  std::latch both{2};
  const auto acquire_both = [&](const char* who, const char* first, const char* second, held_lock& has) {
    const auto options = with({.as = holder::named(who)});
    has = locks_.acquire(first, options);
    both.arrive_and_wait();
    return error_of([&] { return locks_.acquire(second, options); });
  };
  background one{[&](std::stop_token) { return acquire_both("one", "a", "b", handle); }};
  background two{[&](std::stop_token) {
    held_lock own;
    return acquire_both("two", "b", "a", own);
  }};
  ASSERT_TRUE(eventually([&] { return db().tickets() == 2; }));
  EXPECT_FALSE(one.is_done_within(2s + a_moment));
  handle = {};
  EXPECT_FALSE(one.get());
  EXPECT_FALSE(two.get());
}

TEST_P(deadlocks_of_many, of_threads_that_have_handles_also_of_sets) {
  const auto job = [] { return with({.as = holder::this_thread()}); };
  const std::vector<lock_name> first{"a", "c"};
  const std::vector<lock_name> second{"b", "d"};
  for (const auto number : {std::size_t{1}, std::size_t{2}}) {
    if (number > 1 && !GetParam().has_lease) continue;
    const auto acquire = [&](const std::vector<lock_name>& names) {
      if (number == 1) return std::shared_ptr<void>{std::make_shared<held_lock>(locks_.acquire(names[0], job()))};
      return std::shared_ptr<void>{std::make_shared<held_set>(locks_.acquire_all(names, job()))};
    };
    const auto one = acquire(first);
    background other{[&](std::stop_token stop) {
      const auto two = acquire(second);
      return error_of([&] { return locks_.acquire("a", job(), std::move(stop)); });
    }};
    ASSERT_TRUE(eventually([&] { return db().tickets() == 1; }));
    const auto mine = error_of([&] { return locks_.acquire(second[number - 1], job()); });
    ASSERT_TRUE(mine);
    EXPECT_EQ(mine->code(), errc::deadlock);
    other.stop();
    EXPECT_EQ(other.get()->code(), errc::cancelled);
  }
}

TEST_P(deadlocks_of_many, are_not_seen_where_a_holder_works_for_long) {
  auto elsewhere = connect();
  mutex a{locks_, "a", with()};
  mutex b{locks_, "b", with()};
  mutex b_elsewhere{elsewhere, "b", with()};
  mutex c{elsewhere, "c", with()};
  auto works = elsewhere.acquire("c", with());  // as nobody's thread
  background second{[&](std::stop_token) { return lock_both(b_elsewhere, c); }};
  ASSERT_TRUE(eventually([&] { return db().tickets() == 1; }));
  background first{[&](std::stop_token) { return lock_both(a, b); }};
  ASSERT_TRUE(eventually([&] { return db().tickets() == 2; }));
  EXPECT_FALSE(first.is_done_within(2500ms));
  works.release();
  EXPECT_FALSE(first.get());
  EXPECT_FALSE(second.get());
}

TEST_P(deadlocks_of_many, are_not_seen_among_threads_that_keep_an_order) {
  std::atomic<int> cycles{0};
  std::atomic<int> failures{0};
  std::vector<test_thread> crowd;
  for (int t = 0; t < 6; ++t)
    crowd.emplace_back([&, t](const std::stop_token& stop) {
      auto& by = t % 2 == 0 ? locks_ : other_;
      mutex a{by, "a", with()};
      mutex b{by, "b", with()};
      for (; !stop.stop_requested(); ++cycles)
        if (lock_both(a, b)) ++failures;
    });
  std::this_thread::sleep_for(std::chrono::seconds{many(20, 3)});
  EXPECT_TRUE(eventually([&] { return cycles > 20; }));
  crowd.clear();
  EXPECT_EQ(failures, 0);
}

// Whatever comes first: nothing is left behind, and the other has it then.
TEST_P(deadlocks_of_many, that_are_cancelled_as_they_are_found) {
  std::mt19937 random{std::random_device{}()};
  for (int round = 0; round < many(10, 2); ++round) {
    std::latch both{2};
    const auto embrace = [&](const char* first, const char* second, std::stop_token stop) {
      mutex one{locks_, first, with()};
      mutex two{locks_, second, with()};
      const std::lock_guard has{one};
      both.arrive_and_wait();
      const auto e = error_of([&] {
        if (two.lock(std::move(stop))) two.unlock();
      });
      return !e || e->code() == errc::deadlock;
    };
    background left{[&](std::stop_token stop) { return embrace("a", "b", std::move(stop)); }};
    background right{[&](std::stop_token stop) { return embrace("b", "a", std::move(stop)); }};
    static_cast<void>(left.is_done_within(std::chrono::milliseconds{900 + random() % 600}));
    left.stop();
    EXPECT_TRUE(left.get());
    EXPECT_TRUE(right.get());
    EXPECT_TRUE(eventually([&] { return db().tickets() == 0; }));
    EXPECT_TRUE(can_have(locks_, "a"));
    EXPECT_TRUE(can_have(locks_, "b"));
  }
}

}  // namespace
}  // namespace rowlock::test
