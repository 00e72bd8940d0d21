#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "contract/contract.hpp"

namespace rowlock::test {
namespace {

class any_of_several : public contract {
 protected:
  static std::vector<lock_name> stripes(int number) {
    std::vector<lock_name> out;
    for (int i = 0; i < number; ++i) out.emplace_back("stock/" + std::to_string(i));
    return out;
  }
  const std::vector<lock_name> names_ = stripes(3);
};
ROWLOCK_CONTRACT_SUITE(any_of_several, every_pair());

TEST_P(any_of_several, are_had_one_after_the_other) {
  auto locks = connect();
  std::vector<held_lock> held;
  std::set<std::string> had;
  for (const auto& each : names_) {
    static_cast<void>(each);
    auto one = locks.try_acquire_any(names_, with());
    ASSERT_TRUE(one);
    had.emplace(one->name().view());
    held.push_back(std::move(*one));
  }
  EXPECT_EQ(had.size(), names_.size()) << "each is another one";
  EXPECT_FALSE(locks.try_acquire_any(names_, with()));
  const auto name = held[1].name();
  const auto token = held[1].token();
  held[1].release();
  const auto again = locks.try_acquire_any(names_, with());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->name(), name);
  EXPECT_GT(again->token(), token);
}

TEST_P(any_of_several, begins_with_the_one_that_was_had_last) {
  auto locks = connect();
  auto first = locks.acquire_any(names_, with());
  EXPECT_EQ(first.name(), names_[0]);
  auto second = locks.acquire_any(names_, with());
  EXPECT_EQ(second.name(), names_[1]);
  first.release();
  second.release();
  EXPECT_EQ(locks.acquire_any(names_, with()).name(), names_[1]);
}

TEST_P(any_of_several, are_excluded_by_who_has_one) {
  auto locks = connect();
  auto other = connect();
  const auto held = other.acquire(names_[0], with());
  const auto shared = other.acquire_shared(names_[1]);
  const auto one = locks.try_acquire_any(names_, with());
  ASSERT_TRUE(one);
  EXPECT_EQ(one->name(), names_[2]);
  EXPECT_FALSE(other.try_acquire(names_[2], with()));
  EXPECT_FALSE(locks.try_acquire_any_for(names_, 50ms, with()));
}

TEST_P(any_of_several, are_waited_for) {
  auto locks = connect();
  auto other = connect();
  std::vector<held_lock> held;
  for (const auto& each : names_) held.push_back(other.acquire(each, with()));
  background waiter{[&](std::stop_token stop) { return locks.acquire_any(names_, with(), std::move(stop)); }};
  EXPECT_FALSE(waiter.is_done_within(a_moment));
  held[2].release();
  EXPECT_EQ(waiter.get().name(), names_[2]);
  EXPECT_TRUE(eventually([&] { return db().tickets() == 0; }));
}

TEST_P(any_of_several, are_waited_for_until_it_is_stopped) {
  auto locks = connect();
  const auto held = locks.acquire(names_[0], with());
  background waiter{[&](std::stop_token stop) {
    return error_of([&] { return static_cast<bool>(locks.acquire_any(std::span{names_}.first(1), with(), stop)); });
  }};
  EXPECT_FALSE(waiter.is_done_within(a_moment));
  waiter.stop();
  EXPECT_EQ(waiter.get()->code(), errc::cancelled);
  EXPECT_TRUE(throws(errc::invalid_option, [&] { static_cast<void>(locks.try_acquire_any({}, with())); }));
}

// Nobody lets go of anything meanwhile. Both crowds wait for the same names at the same time.
TEST_P(any_of_several, cost_waiters_no_more_than_one_name_does) {
  constexpr std::size_t each = 4;
  auto holder = connect();
  std::vector<held_lock> held;
  for (const auto& name : names_) held.push_back(holder.acquire(name, with()));
  auto of_any = connect();
  auto of_one = connect();
  std::vector<std::unique_ptr<background<bool>>> crowd;
  const auto add = [&](auto wait) { crowd.push_back(std::make_unique<background<bool>>(wait)); };
  for (std::size_t i = 0; i < each * names_.size(); ++i) {
    add([&](std::stop_token stop) {
      return of_any.try_acquire_any_for(names_, 1h, with(), std::move(stop)).has_value();
    });
    add([&, i](std::stop_token stop) {
      return of_one.try_acquire_for(names_[i % names_.size()], 1h, with(), std::move(stop)).has_value();
    });
  }
  const auto tickets = static_cast<int>(each * names_.size() * (names_.size() + 1));
  EXPECT_TRUE(eventually([&] { return db().tickets() == tickets; })) << "one for each name";
  const auto sent = [](client& by) {
    std::uint64_t sum = 0;
    for (const auto& kind : by.stats().statements)
      sum = std::accumulate(kind.took.counts.begin(), kind.took.counts.end(), sum);
    return sum;
  };
  const auto any_before = sent(of_any);
  const auto one_before = sent(of_one);
  EXPECT_TRUE(eventually([&] { return sent(of_one) >= one_before + 20; })) << "the first pauses are short";
  EXPECT_LE(sent(of_any) - any_before, 2 * (sent(of_one) - one_before) + 10);
  for (auto& waiter : crowd) waiter->stop();
}

TEST_P(any_of_several, are_never_had_by_two) {
  auto locks = connect();
  auto other = connect();
  std::vector<std::atomic<int>> inside(names_.size());
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 6; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 15; ++i) {
          const auto held = (t % 2 == 0 ? locks : other).acquire_any(names_, with());
          const auto which =
              static_cast<std::size_t>(std::find(names_.begin(), names_.end(), held.name()) - names_.begin());
          EXPECT_EQ(++inside[which], 1);
          --inside[which];
        }
      });
  }
  // A release may have granted one to a waiter that had another by then.
  EXPECT_TRUE(eventually([&] { return locks.list().empty(); }));
  EXPECT_EQ(locks.stats().held, 0U);
}

}  // namespace
}  // namespace rowlock::test
