#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "contract/contract.hpp"
#include "support/takes_at_most.hpp"
#include "support/tier.hpp"

// Several names at once: all of them or none, or any of them.

namespace rowlock::test {
namespace {

class all_of_several : public two_clients {
 protected:
  const std::vector<lock_name> names_{"stock/3", "stock/1", "stock/2"};

  std::size_t taken(client& seen_by) { return seen_by.list("stock/").size(); }
  static lock_options fair() { return with({.fairness = fairness::fifo}); }
};
ROWLOCK_CONTRACT_SUITE(all_of_several, leases(usual_pairs()));

TEST_P(all_of_several, are_had_together) {
  for (int round = 0; round < 2; ++round) {  // without rows, and with them
    auto all = locks_.try_acquire_all(names_, with());
    ASSERT_TRUE(all);
    ASSERT_EQ(all->size(), 3U);
    EXPECT_TRUE(std::is_sorted(all->locks().begin(), all->locks().end(), [](const held_lock& a, const held_lock& b) {
      return a.name().view() < b.name().view();
    }));
    for (const auto& name : names_) {
      EXPECT_FALSE(other_.try_acquire(name, with()));
      EXPECT_EQ(other_.find(name).value().token, all->token(name));
    }
    EXPECT_EQ(error_of([&] { return all->token("stock/4"); })->code(), errc::not_held);
    EXPECT_GT(all->expires_in(), duration::zero());
    EXPECT_FALSE(all->lost().stop_requested());
    EXPECT_EQ(locks_.stats().held, 3U);
    all->release();
    EXPECT_FALSE(*all);
    EXPECT_TRUE(all->lost().stop_requested());
    EXPECT_TRUE(throws(errc::not_held, [&] { all->release(); }));
    for (const auto& name : names_) EXPECT_TRUE(other_.try_acquire(name, with()));
  }
  for (const auto& each : locks_.stats().strategies) {
    EXPECT_EQ(each.acquired, each.strategy == GetParam().strategy ? 6U : 0U);
    EXPECT_EQ(each.released, each.acquired);
  }
}

TEST_P(all_of_several, are_named_in_any_form) {
  const std::vector<std::string> texts{"stock/1", "stock/2"};
  constexpr std::array views{std::string_view{"stock/1"}, std::string_view{"stock/2"}};
  EXPECT_EQ(locks_.acquire_all({"stock/1", "stock/2"}, with()).size(), 2U);
  EXPECT_EQ(locks_.acquire_all({texts[0], "stock/2"}, with()).size(), 2U);
  EXPECT_EQ(locks_.acquire_all(texts, with()).size(), 2U);
  EXPECT_EQ(locks_.acquire_all(std::span{names_}, with()).size(), 3U);
  EXPECT_EQ(locks_.try_acquire_all(views, with()).value().size(), 2U);
  EXPECT_EQ(locks_.try_acquire_all_for({"stock/1", "stock/2"}, 10ms, with()).value().size(), 2U);
  EXPECT_EQ(locks_.acquire_any({"stock/1"}, with()).name(), "stock/1");
  EXPECT_TRUE(locks_.try_acquire_any(texts, with()));
  EXPECT_TRUE(locks_.try_acquire_any_for({"stock/1", "stock/2"}, 10ms, with()));
  EXPECT_TRUE(throws(errc::invalid_name, [&] { locks_.acquire_all({"stock/1", ""}, with()).release(); }));
  EXPECT_TRUE(throws(errc::invalid_option, [&] { locks_.acquire_all({}, with()).release(); }));
  EXPECT_TRUE(throws(errc::invalid_option, [&] { static_cast<void>(locks_.try_acquire_all({}, with())); }));
  EXPECT_TRUE(throws(errc::invalid_option, [&] { static_cast<void>(locks_.try_acquire_any({}, with())); }));
  EXPECT_TRUE(
      throws(errc::unsupported, [&] { locks_.acquire_all(names_, {.strategy = strategy::for_update}).release(); }));
}

TEST_P(all_of_several, or_none) {
  for (const auto& name : names_) {
    const auto one = other_.acquire(name, with());
    EXPECT_FALSE(locks_.try_acquire_all(names_, with()));
    EXPECT_FALSE(locks_.try_acquire_all(names_, fair()));
    const stopwatch watch;
    EXPECT_TRUE(is_refused([&] { return locks_.try_acquire_all_for(names_, 40ms, with()); }));
    EXPECT_GE(watch.elapsed(), 40ms) << "it waits no shorter than asked";
    EXPECT_TRUE(eventually([&] { return db().tickets() == 0; }));
    EXPECT_EQ(taken(other_), 1U);
    EXPECT_EQ(locks_.stats().held, 0U);
  }
  const auto reader = other_.acquire_shared(names_[1]);
  EXPECT_FALSE(locks_.try_acquire_all(names_, with()));
}

TEST_P(all_of_several, are_waited_for_without_holding_any) {
  for (const auto& options : {with(), fair()}) {
    auto one = std::make_unique<held_lock>(other_.acquire(names_[0], with()));
    auto two = std::make_unique<held_lock>(other_.acquire(names_[1], with()));
    background waiter{[&](std::stop_token stop) { return locks_.acquire_all(names_, options, std::move(stop)); }};
    for (const auto& name : names_) ASSERT_TRUE(eventually([&] { return other_.waiters(name).size() == 1; }));
    // Now and then it insists, for a second in five.
    const auto can_have = [&](const lock_name& name) { return other_.try_acquire(name, with()).has_value(); };
    EXPECT_TRUE(eventually([&] { return can_have(names_[2]); })) << "which it does not hold";
    two.reset();
    EXPECT_TRUE(eventually([&] { return can_have(names_[1]); }));
    EXPECT_EQ(locks_.stats().held, 0U);
    one.reset();
    auto all = waiter.get();
    EXPECT_EQ(taken(other_), 3U);
    all.release();
    EXPECT_TRUE(eventually([&] { return db().tickets() == 0; }));
  }
}

TEST_P(all_of_several, of_the_dead_are_had_when_their_leases_end) {
  const auto dead = other_.acquire(names_[0], with({.lease = 300ms, .renew = false}));
  const auto late_reader = other_.acquire_shared(names_[1], {.lease = 300ms, .renew = false});
  const auto all = locks_.acquire_all(names_, with());
  EXPECT_GT(all.token(names_[0]), dead.token());
  EXPECT_GT(all.token(names_[1]), late_reader.token());
}

TEST_P(all_of_several, one_that_is_lost_is_said_of_all) {
  auto all = locks_.acquire_all(names_, with({.lease = 3s}));
  const auto lost = all.lost();
  ASSERT_TRUE(other_.force_release(names_[1]));
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
  EXPECT_NE(all.why_lost(), loss_reason::none);
  EXPECT_EQ(all.expires_in(), duration::zero());
  EXPECT_TRUE(throws(errc::lock_lost, [&] { all.release(); }));
  EXPECT_EQ(taken(other_), 0U) << "the others are released all the same";
}

TEST_P(all_of_several, are_extended_together) {
  auto all = locks_.acquire_all(names_, with({.lease = 10s, .renew = false}));
  all.extend(1h);
  EXPECT_GT(all.expires_in(), 50min);
}

TEST_P(all_of_several, repeated_names_are_had_once_and_those_of_the_holder_again) {
  const auto mine = with({.as = holder::named("job")});
  auto before = locks_.acquire("stock/2", mine);
  const std::vector<lock_name> repeated{"stock/2", "stock/1", "stock/2"};
  auto all = locks_.acquire_all(repeated, mine);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all.token("stock/2"), before.token());
  all.release();
  EXPECT_EQ(taken(other_), 1U);
  EXPECT_FALSE(other_.try_acquire("stock/2", with()));
  const auto busy = other_.acquire("stock/1", with());
  EXPECT_FALSE(locks_.try_acquire_all(repeated, mine));
  EXPECT_EQ(before.why_lost(), loss_reason::none);
  before.release();
  EXPECT_TRUE(other_.try_acquire("stock/2", with())) << "no handle of it is left";
}

TEST_P(all_of_several, in_turn_pass_nobody_who_waits_for_one_of_them) {
  auto one = other_.acquire(names_[0], with());
  background first{[&](std::stop_token stop) { return other_.acquire(names_[0], fair(), std::move(stop)); }};
  ASSERT_TRUE(eventually([&] { return db().tickets() == 1; }));
  background set{[&](std::stop_token stop) { return locks_.acquire_all(names_, fair(), std::move(stop)); }};
  ASSERT_TRUE(eventually([&] { return db().tickets() == 1 + static_cast<int>(names_.size()); }));
  one.release();
  auto held = first.get();
  EXPECT_FALSE(set.is_done_within(a_moment));
  const auto token = held.token();
  held.release();
  EXPECT_GT(set.get().token(names_[0]), token);
}

// Sets that overlap at random, in clients of two: nobody meets anybody, and nobody waits for ever.
TEST_P(all_of_several, that_overlap_are_counted_exactly_and_end) {
  std::array<int, 8> sold{};
  std::array<std::atomic<int>, 8> inside{};
  auto one = connect();
  auto two = connect();
  const int rounds = many(200, 25);
  std::atomic<int> expected{0};
  on_threads(unsigned{6}, [&](unsigned t) {
    std::mt19937 random{t};
    for (int r = 0; r < rounds; ++r) {
      std::vector<std::size_t> which{0, 1, 2, 3, 4, 5, 6, 7};
      std::ranges::shuffle(which, random);
      which.resize(3);
      std::vector<lock_name> names;
      for (const auto i : which) names.emplace_back("stock/" + std::to_string(i));
      auto held = (t % 2 == 0 ? one : two).acquire_all(names, t % 3 == 0 ? fair() : with());
      for (const auto i : which) {
        EXPECT_EQ(inside[i].fetch_add(1), 0);
        ++sold[i];
        ++expected;
        inside[i].fetch_sub(1);
      }
    }
  });
  int total = 0;
  for (const int n : sold) total += n;
  EXPECT_EQ(total, expected);
  EXPECT_EQ(total, 6 * rounds * 3);
  // A release that meets a row which is locked just then, as by the clearing of its mark, is repeated soon: long before
  // a lease of 30 s would end.
  EXPECT_TRUE(eventually(patience / 3, [&] { return taken(one) == 0; }));
  EXPECT_TRUE(eventually([&] { return db().tickets() == 0; }));
}

// A release passes over a set that needs another name, too, and grants the name to the ticket after it. The set waits
// with its client's first ticket of the name.
TEST_P(all_of_several, do_not_delay_the_waiters_that_come_after_them) {
  EXPECT_TRUE(takes_at_most(300ms, [&] {
    auto one = other_.acquire("stock/1", with());
    auto two = other_.acquire("stock/2", with());
    background set{[&](std::stop_token stop) {
      return locks_.acquire_all({"stock/1", "stock/2"}, with(), std::move(stop)).size();
    }};
    EXPECT_TRUE(eventually([&] { return db().tickets() == 2; }));
    background next{[&](std::stop_token stop) {
      locks_.acquire("stock/1", fair(), std::move(stop)).release();
      return std::chrono::steady_clock::now();
    }};
    EXPECT_TRUE(eventually([&] { return db().tickets() == 3; }) && sets_cease_to_insist());
    const auto released = std::chrono::steady_clock::now();
    one.release();
    const auto took = next.get() - released;
    two.release();
    EXPECT_EQ(set.get(), 2U);
    return took;
  }));
}

class any_of_several : public two_clients {
 protected:
  const std::vector<lock_name> names_{"stock/0", "stock/1", "stock/2"};
};
ROWLOCK_CONTRACT_SUITE(any_of_several, usual_pairs());

TEST_P(any_of_several, are_had_one_after_the_other) {
  std::vector<held_lock> held;
  std::set<std::string> had;
  while (held.size() < names_.size()) {
    auto one = locks_.try_acquire_any(names_, with());
    ASSERT_TRUE(one);
    had.emplace(one->name().view());
    held.push_back(std::move(*one));
  }
  EXPECT_EQ(had.size(), names_.size()) << "each is another one";
  EXPECT_FALSE(locks_.try_acquire_any(names_, with()));
  const auto name = held[1].name();
  const auto token = held[1].token();
  held[1].release();
  const auto again = locks_.try_acquire_any(names_, with());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->name(), name);
  EXPECT_GT(again->token(), token);
}

TEST_P(any_of_several, begins_with_the_one_that_was_had_last) {
  auto first = locks_.acquire_any(names_, with());
  EXPECT_EQ(first.name(), names_[0]);
  auto second = locks_.acquire_any(names_, with());
  EXPECT_EQ(second.name(), names_[1]);
  first.release();
  second.release();
  EXPECT_EQ(locks_.acquire_any(names_, with()).name(), names_[1]);
}

TEST_P(any_of_several, are_excluded_by_who_has_one) {
  const auto held = other_.acquire(names_[0], with());
  const auto shared = other_.acquire_shared(names_[1]);
  const auto one = locks_.try_acquire_any(names_, with());
  ASSERT_TRUE(one);
  EXPECT_EQ(one->name(), names_[2]);
  EXPECT_FALSE(other_.try_acquire(names_[2], with()));
  EXPECT_TRUE(is_refused([&] { return locks_.try_acquire_any_for(names_, 50ms, with()); }));
}

TEST_P(any_of_several, are_waited_for) {
  std::vector<held_lock> held;
  for (const auto& each : names_) held.push_back(other_.acquire(each, with()));
  background waiter{[&](std::stop_token stop) { return locks_.acquire_any(names_, with(), std::move(stop)); }};
  EXPECT_FALSE(waiter.is_done_within(a_moment));
  held[2].release();
  EXPECT_EQ(waiter.get().name(), names_[2]);
  EXPECT_TRUE(eventually([&] { return db().tickets() == 0; }));
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
  const auto each_has_sent = [&](std::uint64_t more) {  // the first pauses are short
    const auto enough = sent(of_one) + more;
    EXPECT_TRUE(eventually([&] { return sent(of_one) >= enough; }));
  };
  each_has_sent(20);  // whoever has just taken its tickets looks for all of its names
  const auto any_before = sent(of_any);
  const auto one_before = sent(of_one);
  each_has_sent(20);
  EXPECT_LE(sent(of_any) - any_before, 2 * (sent(of_one) - one_before) + 10);
  for (auto& waiter : crowd) waiter->stop();
}

TEST_P(any_of_several, are_never_had_by_two) {
  std::vector<std::atomic<int>> inside(names_.size());
  on_threads(6, [&](int t) {
    for (int i = 0; i < 15; ++i) {
      const auto held = (t % 2 == 0 ? locks_ : other_).acquire_any(names_, with());
      const auto which =
          static_cast<std::size_t>(std::find(names_.begin(), names_.end(), held.name()) - names_.begin());
      EXPECT_EQ(++inside[which], 1);
      --inside[which];
    }
  });
  // A release may have granted one to a waiter that had another by then.
  EXPECT_TRUE(eventually([&] { return locks_.list().empty(); }));
  EXPECT_EQ(locks_.stats().held, 0U);
}

}  // namespace
}  // namespace rowlock::test
