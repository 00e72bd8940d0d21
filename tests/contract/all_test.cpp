#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "contract/contract.hpp"
#include "support/tier.hpp"

// Several names at once: all of them, or none.

namespace rowlock::test {
namespace {

class all_of_several : public contract {
 protected:
  const std::vector<lock_name> names_{"stock/3", "stock/1", "stock/2"};

  std::size_t taken(client& seen_by) { return seen_by.list("stock/").size(); }
  static lock_options fair() { return with({.fairness = fairness::fifo}); }
};
ROWLOCK_CONTRACT_SUITE(all_of_several, leases(every_pair()));

TEST_P(all_of_several, are_had_together) {
  auto locks = connect();
  auto other = connect();
  for (int round = 0; round < 2; ++round) {  // without rows, and with them
    auto all = locks.try_acquire_all(names_, with());
    ASSERT_TRUE(all);
    ASSERT_EQ(all->size(), 3U);
    EXPECT_TRUE(std::is_sorted(all->locks().begin(), all->locks().end(), [](const held_lock& a, const held_lock& b) {
      return a.name().view() < b.name().view();
    }));
    for (const auto& name : names_) {
      EXPECT_FALSE(other.try_acquire(name, with()));
      EXPECT_EQ(other.find(name).value().token, all->token(name));
    }
    EXPECT_EQ(error_of([&] { return all->token("stock/4"); })->code(), errc::not_held);
    EXPECT_GT(all->expires_in(), duration::zero());
    EXPECT_FALSE(all->lost().stop_requested());
    EXPECT_EQ(locks.stats().held, 3U);
    all->release();
    EXPECT_FALSE(*all);
    EXPECT_TRUE(all->lost().stop_requested());
    EXPECT_EQ(error_of([&] { return all->release(), true; })->code(), errc::not_held);
    for (const auto& name : names_) EXPECT_TRUE(other.try_acquire(name, with()));
  }
  const auto stats = locks.stats().strategies;
  std::uint64_t acquired = 0;
  std::uint64_t released = 0;
  for (const auto& each : stats) {
    acquired += each.acquired;
    released += each.released;
  }
  EXPECT_EQ(acquired, 6U);
  EXPECT_EQ(released, 6U);
}

TEST_P(all_of_several, are_named_in_any_form) {
  auto locks = connect();
  const std::vector<std::string> texts{"stock/1", "stock/2"};
  constexpr std::array views{std::string_view{"stock/1"}, std::string_view{"stock/2"}};
  EXPECT_EQ(locks.acquire_all({"stock/1", "stock/2"}, with()).size(), 2U);
  EXPECT_EQ(locks.acquire_all({texts[0], "stock/2"}, with()).size(), 2U);
  EXPECT_EQ(locks.acquire_all(texts, with()).size(), 2U);
  EXPECT_EQ(locks.acquire_all(std::span{names_}, with()).size(), 3U);
  EXPECT_EQ(locks.try_acquire_all(views, with()).value().size(), 2U);
  EXPECT_EQ(locks.try_acquire_all_for({"stock/1", "stock/2"}, 10ms, with()).value().size(), 2U);
  EXPECT_EQ(locks.acquire_any({"stock/1"}, with()).name(), "stock/1");
  EXPECT_TRUE(locks.try_acquire_any(texts, with()));
  EXPECT_TRUE(locks.try_acquire_any_for({"stock/1", "stock/2"}, 10ms, with()));
  EXPECT_TRUE(throws(errc::invalid_name, [&] { locks.acquire_all({"stock/1", ""}, with()).release(); }));
  EXPECT_TRUE(throws(errc::invalid_option, [&] { locks.acquire_all({}, with()).release(); }));
}

TEST_P(all_of_several, or_none) {
  auto locks = connect();
  auto other = connect();
  for (const auto& name : names_) {
    const auto one = other.acquire(name, with());
    EXPECT_FALSE(locks.try_acquire_all(names_, with()));
    EXPECT_FALSE(locks.try_acquire_all(names_, fair()));
    EXPECT_FALSE(locks.try_acquire_all_for(names_, 10ms, with()));
    EXPECT_EQ(taken(other), 1U);
    EXPECT_EQ(locks.stats().held, 0U);
  }
  const auto reader = other.acquire_shared(names_[1]);
  EXPECT_FALSE(locks.try_acquire_all(names_, with()));
}

TEST_P(all_of_several, are_waited_for_without_holding_any) {
  auto locks = connect();
  auto other = connect();
  for (const auto& options : {with(), fair()}) {
    auto one = std::make_unique<held_lock>(other.acquire(names_[0], with()));
    auto two = std::make_unique<held_lock>(other.acquire(names_[1], with()));
    background waiter{[&](std::stop_token stop) { return locks.acquire_all(names_, options, std::move(stop)); }};
    for (const auto& name : names_) ASSERT_TRUE(eventually([&] { return other.waiters(name).size() == 1; }));
    // Now and then it insists, for a second in five.
    const auto can_have = [&](const lock_name& name) { return other.try_acquire(name, with()).has_value(); };
    EXPECT_TRUE(eventually([&] { return can_have(names_[2]); })) << "which it does not hold";
    two.reset();
    EXPECT_TRUE(eventually([&] { return can_have(names_[1]); }));
    EXPECT_EQ(locks.stats().held, 0U);
    one.reset();
    auto all = waiter.get();
    EXPECT_EQ(taken(other), 3U);
    all.release();
    EXPECT_TRUE(eventually([&] { return db().tickets() == 0; }));
  }
}

TEST_P(all_of_several, a_wait_ends) {
  auto locks = connect();
  auto other = connect();
  const auto one = other.acquire(names_[0], with());
  {
    background waiter{[&](std::stop_token stop) { return locks.acquire_all(names_, with(), std::move(stop)); }};
    ASSERT_TRUE(eventually([&] { return db().tickets() == static_cast<int>(names_.size()); }));
    waiter.stop();
    EXPECT_EQ(error_of([&] { return waiter.get(); })->code(), errc::cancelled);
  }
  const auto from = std::chrono::steady_clock::now();
  EXPECT_FALSE(locks.try_acquire_all_for(names_, 100ms, with()));
  EXPECT_GE(std::chrono::steady_clock::now() - from, 100ms);
  EXPECT_TRUE(eventually([&] { return db().tickets() == 0; }));
  EXPECT_EQ(taken(other), 1U);
}

TEST_P(all_of_several, of_the_dead_are_had_when_their_leases_end) {
  auto locks = connect();
  auto other = connect();
  const auto dead = other.acquire(names_[0], with({.lease = 300ms, .renew = false}));
  const auto late_reader = other.acquire_shared(names_[1], {.lease = 300ms, .renew = false});
  const auto all = locks.acquire_all(names_, with());
  EXPECT_GT(all.token(names_[0]), dead.token());
  EXPECT_GT(all.token(names_[1]), late_reader.token());
}

TEST_P(all_of_several, one_that_is_lost_is_said_of_all) {
  auto locks = connect();
  auto other = connect();
  auto all = locks.acquire_all(names_, with({.lease = 300ms}));
  const auto lost = all.lost();
  ASSERT_TRUE(other.force_release(names_[1]));
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
  EXPECT_NE(all.why_lost(), loss_reason::none);
  EXPECT_EQ(all.expires_in(), duration::zero());
  EXPECT_EQ(error_of([&] { return all.release(), true; })->code(), errc::lock_lost);
  EXPECT_EQ(taken(other), 0U) << "the others are released all the same";
}

TEST_P(all_of_several, are_extended_together) {
  auto locks = connect();
  auto all = locks.acquire_all(names_, with({.lease = 10s, .renew = false}));
  all.extend(1h);
  EXPECT_GT(all.expires_in(), 50min);
}

TEST_P(all_of_several, repeated_names_are_had_once_and_those_of_the_holder_again) {
  auto locks = connect();
  auto other = connect();
  const auto mine = with({.as = holder::named("job")});
  auto before = locks.acquire("stock/2", mine);
  const std::vector<lock_name> repeated{"stock/2", "stock/1", "stock/2"};
  auto all = locks.acquire_all(repeated, mine);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all.token("stock/2"), before.token());
  all.release();
  EXPECT_EQ(taken(other), 1U);
  EXPECT_FALSE(other.try_acquire("stock/2", with()));
  const auto busy = other.acquire("stock/1", with());
  EXPECT_FALSE(locks.try_acquire_all(repeated, mine));
  EXPECT_EQ(before.why_lost(), loss_reason::none);
  before.release();
  EXPECT_TRUE(other.try_acquire("stock/2", with())) << "no handle of it is left";
}

TEST_P(all_of_several, in_turn_pass_nobody_who_waits_for_one_of_them) {
  auto locks = connect();
  auto other = connect();
  auto one = other.acquire(names_[0], with());
  background first{[&](std::stop_token stop) { return other.acquire(names_[0], fair(), std::move(stop)); }};
  ASSERT_TRUE(eventually([&] { return db().tickets() == 1; }));
  background set{[&](std::stop_token stop) { return locks.acquire_all(names_, fair(), std::move(stop)); }};
  ASSERT_TRUE(eventually([&] { return db().tickets() == 1 + static_cast<int>(names_.size()); }));
  one.release();
  auto held = first.get();
  EXPECT_FALSE(set.is_done_within(a_moment));
  const auto token = held.token();
  held.release();
  EXPECT_GT(set.get().token(names_[0]), token);
}

TEST_P(all_of_several, close_lets_go) {
  auto other = connect();
  held_set all;
  {
    auto locks = connect();
    all = locks.acquire_all(names_, with());
  }
  EXPECT_EQ(all.why_lost(), loss_reason::client_closed);
  EXPECT_EQ(taken(other), 0U);
}

TEST_P(all_of_several, refuses_what_makes_no_sense) {
  auto locks = connect();
  EXPECT_EQ(error_of([&] { return locks.try_acquire_all({}, with()); })->code(), errc::invalid_option);
  EXPECT_EQ(error_of([&] { return locks.try_acquire_all(names_, {.strategy = strategy::for_update}); })->code(),
            errc::unsupported);
}

// Sets that overlap at random, in clients of two: nobody meets anybody, and nobody waits for ever.
TEST_P(all_of_several, that_overlap_are_counted_exactly_and_end) {
  constexpr int stock = 8;
  std::vector<lock_name> all;
  std::array<int, stock> sold{};
  std::array<std::atomic<int>, stock> inside{};
  for (int i = 0; i < stock; ++i) all.emplace_back("stock/" + std::to_string(i));
  auto one = connect();
  auto two = connect();
  const int rounds = many(200, 25);
  std::atomic<int> expected{0};
  {
    std::vector<std::jthread> crowd;
    for (unsigned t = 0; t < 6; ++t)
      crowd.emplace_back([&, t] {
        std::mt19937 random{t};
        for (int r = 0; r < rounds; ++r) {
          std::vector<int> which(stock);
          std::ranges::generate(which, [n = 0]() mutable { return n++; });
          std::ranges::shuffle(which, random);
          which.resize(3);
          std::vector<lock_name> names;
          for (const int i : which) names.push_back(all[static_cast<std::size_t>(i)]);
          auto held = (t % 2 == 0 ? one : two).acquire_all(names, t % 3 == 0 ? fair() : with());
          for (const int i : which) {
            EXPECT_EQ(inside[static_cast<std::size_t>(i)].fetch_add(1), 0);
            ++sold[static_cast<std::size_t>(i)];
            ++expected;
            inside[static_cast<std::size_t>(i)].fetch_sub(1);
          }
        }
      });
  }
  int total = 0;
  for (const int n : sold) total += n;
  EXPECT_EQ(total, expected);
  EXPECT_EQ(total, 6 * rounds * 3);
  EXPECT_EQ(taken(one), 0U);
  EXPECT_TRUE(eventually([&] { return db().tickets() == 0; }));
}

}  // namespace
}  // namespace rowlock::test
