#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "contract/contract.hpp"
#include "support/late_machine.hpp"
#include "support/takes_at_most.hpp"
#include "support/test_thread.hpp"
#include "support/tier.hpp"

// A set of names is waited for beside callers that want one of them.

namespace rowlock::test {
namespace {

class sets_in_turn : public one_client {
 protected:
  using clock = std::chrono::steady_clock;

  static std::vector<lock_name> parts(int number) {
    std::vector<lock_name> out;
    for (int i = 0; i < number; ++i) out.emplace_back("part/" + std::to_string(i));
    return out;
  }
};
ROWLOCK_CONTRACT_SUITE(sets_in_turn, leases(usual_pairs()));

/// How often one thread has waited for something, and the longest of these waits, for others to read.
class waits {
 public:
  using duration = std::chrono::steady_clock::duration;

  template <class Wait>
  auto of(Wait wait) {
    const stopwatch watch;
    auto out = wait();
    longest_ = std::max(longest_.load(), watch.elapsed());
    ++number_;
    return out;
  }
  duration longest() const { return longest_; }
  std::size_t number() const { return number_; }

 private:
  std::atomic<std::size_t> number_{0};
  std::atomic<duration> longest_{duration::zero()};
};

/// Clients that want one of the names each, again and again.
class lockers {
 public:
  lockers(std::vector<client>& clients, const std::vector<lock_name>& names, const lock_options& options) {
    for (std::size_t i = 0; i < clients.size(); ++i)
      threads_.emplace_back(
          [this, &locks = clients[i], &name = names[i % names.size()], &options, i](const std::stop_token& stop) {
            while (!stop.stop_requested()) {
              const auto held = of_each_[i].of([&] { return locks.acquire(name, options); });
              std::this_thread::sleep_for(15ms);
            }
          });
  }
  /// Each of them has had its name so many times more.
  void go_on(std::size_t times) const {
    std::vector<std::size_t> before;
    for (const auto& each : of_each_) before.push_back(each.number());
    ASSERT_TRUE(eventually([&] {
      for (std::size_t i = 0; i < threads_.size(); ++i)
        if (of_each_[i].number() < before[i] + times) return false;
      return true;
    }));
  }
  waits::duration longest() const {
    waits::duration out{};
    for (const auto& each : of_each_) out = std::max(out, each.longest());
    return out;
  }

 private:
  std::array<waits, 12> of_each_;
  std::vector<test_thread> threads_;
};

TEST_P(sets_in_turn, wait_not_much_longer_than_those_who_want_one_of_the_names) {
  const auto names = parts(6);
  std::vector<client> others;
  for (int i = 0; i < 12; ++i) others.push_back(connect());
  for (const auto order : {fairness::fifo, fairness::unfair}) {
    SCOPED_TRACE(order == fairness::fifo ? "fifo" : "unfair");
    const auto options = with({.fairness = order});
    const late_machine machine{[&] { static_cast<void>(db().tickets()); }};
    const lockers singles{others, names, options};
    singles.go_on(10);
    const auto without_sets = singles.longest();
    waits of_set;
    for (int had = 0; had < many(20, 5); ++had) {
      ASSERT_TRUE(of_set.of([&] { return locks_.try_acquire_all_for(names, patience, options); })) << had;
      singles.go_on(2);
    }
    const auto usual = 20 * std::max<waits::duration>(without_sets, machine.by());
    EXPECT_LE(of_set.longest(), usual + 6s) << "one that misses its first second has another one in every five";
    EXPECT_LE(singles.longest(), usual + 1s) << "while a set has its second";
  }
}

/// A way to get a name alone that need not wait in turn.
struct way {
  std::string_view what;
  bool (*gets)(client& locks, const lock_name& name, const lock_options& options);
};

constexpr way ways[] = {
    {"alone", [](client& locks, auto& name, auto& options) { return locks.try_acquire(name, options).has_value(); }},
    {"with a wait",
     [](client& locks, auto& name, auto& options) { return locks.try_acquire_for(name, 50ms, options).has_value(); }},
    {"in a batch",
     [](client& locks, auto& name, auto& options) {
       std::vector<test_thread> beside;
       for (int i = 0; i < 8; ++i)
         beside.emplace_back(
             [&, i] { static_cast<void>(locks.try_acquire(lock_name{"beside/" + std::to_string(i)}, options)); });
       return locks.try_acquire(name, options).has_value();
     }},
    {"as one of several", [](client& locks, auto& name,
                             auto& options) { return locks.try_acquire_any(std::vector{name}, options).has_value(); }},
    {"in a set", [](client& locks, auto& name,
                    auto& options) { return locks.try_acquire_all(std::vector{name}, options).has_value(); }},
    {"shared",
     [](client& locks, auto& name, auto& /*by unique_index*/) { return locks.try_acquire_shared(name).has_value(); }}};

class beside_a_set : public sets_in_turn {
 protected:
  /// Whether it gets a name that was released just now, and that a set waits for since then; nullopt: it took so long
  /// that the set may have stopped to insist, or has begun.
  std::optional<bool> gets(const way& how, std::chrono::milliseconds waited) {
    const lock_name name{"part/" + std::to_string(++names_)};
    locks_.acquire(name, with()).release();
    const auto from = clock::now();
    const auto ticket = db().enqueue_set(name.view(), waited);
    const bool out = how.gets(locks_, name, with());
    const bool is_in_time = clock::now() - from < 700ms;
    db().erase_ticket(ticket);
    return is_in_time ? std::optional{out} : std::nullopt;
  }
  bool ever(const way& how, std::chrono::milliseconds waited, bool is_granted) {
    return eventually([&] { return gets(how, waited) == is_granted; });
  }

 private:
  int names_ = 0;
};
ROWLOCK_CONTRACT_SUITE(beside_a_set, leases(usual_pairs()));

// Whatever else it waits for may be held for an hour, while it insists in vain.
TEST_P(beside_a_set, its_names_are_left_to_it_when_it_has_waited_for_long_but_not_most_of_the_time) {
  for (const auto& each : ways) {
    EXPECT_TRUE(ever(each, 200ms, false)) << each.what;
    EXPECT_TRUE(ever(each, -10s, true)) << each.what << ", beside one that has just come";
    EXPECT_TRUE(ever(each, 2s, true)) << each.what;
  }
}

// It may be killed while it insists.
TEST_P(beside_a_set, a_name_that_is_free_for_a_second_is_granted) {
  for (const auto& each : ways) {
    const lock_name name{"idle/" + std::string{each.what}};
    locks_.acquire(name, with()).release();
    EXPECT_TRUE(eventually([&] {
      const auto ticket = db().enqueue_set(name.view(), 200ms);
      const bool out = each.gets(locks_, name, with());
      db().erase_ticket(ticket);
      return out;
    })) << each.what;
  }
}

/// How another client makes a name free for which this one waits.
struct way_to_free {
  std::string_view what;
  held_lock (*holds)(client& locks, const lock_name& name, const lock_options& options);
  void (*frees)(client& locks, held_lock& held);
  std::chrono::seconds at_least = 0s;  ///< after the grant
};

constexpr auto holds_alone = [](client& locks, const lock_name& name, const lock_options& options) {
  return locks.acquire(name, options);
};
constexpr auto releases = [](client& /*locks*/, held_lock& held) { held.release(); };
constexpr way_to_free ways_to_free[] = {
    {"a release", holds_alone, releases},
    {"by force", holds_alone, [](client& locks, held_lock& held) { EXPECT_TRUE(locks.force_release(held.name())); }},
    {"the release of a share",
     [](client& locks, auto& name, auto& /*by unique_index*/) { return locks.acquire_shared(name); }, releases},
    {"a release before its time",
     [](client& locks, auto& name, auto& options) {
       auto longer = options;
       longer.at_least = 7s;  // a set may insist for a second in five, and in the first of its wait
       return locks.acquire(name, longer);
     },
     releases, 7s}};

// A set that came before does not insist most of the time. Without a notification a waiter looks every 2 s.
TEST_P(beside_a_set, a_waiter_behind_it_is_woken_when_the_name_becomes_free) {
  auto other = connect();
  const auto for_hours = other.acquire("for hours", with());
  background first{[&](std::stop_token stop) { return locks_.try_acquire_for("for hours", patience, with(), stop); }};
  EXPECT_FALSE(first.is_done_within(1s)) << "meanwhile its client begins to listen";
  int names = 0;
  for (const auto& each : ways_to_free)
    EXPECT_TRUE(takes_at_most(300ms, [&] {
      const lock_name name{"freed/" + std::to_string(++names)};
      auto held = each.holds(other, name, with());
      const auto granted = clock::now();
      const auto set = db().enqueue_set(name.view(), 2s);
      background waiter{[&](std::stop_token stop) { return locks_.try_acquire_for(name, patience, with(), stop); }};
      EXPECT_TRUE(eventually([&] { return db().tickets() == 3; }) && sets_cease_to_insist());
      const auto is_free = std::max(clock::now(), granted + each.at_least);
      each.frees(other, held);
      EXPECT_TRUE(waiter.get());
      const auto took = clock::now() - is_free;
      db().erase_ticket(set);
      return took;
    })) << each.what;
  first.stop();
}

// With a name that a waiting set keeps free, and one that the set waits for.
TEST_P(sets_in_turn, do_not_keep_a_name_from_who_has_another_of_theirs) {
  const auto names = parts(2);
  auto other = connect();
  const auto options = with({.fairness = fairness::fifo});
  auto held = other.acquire(names[1], options);
  background set{[&](std::stop_token stop) { return locks_.try_acquire_all_for(names, 2 * patience, options, stop); }};
  ASSERT_TRUE(eventually([&] { return db().tickets() == 2; }));
  auto both = other.try_acquire_for(names[0], patience, options);
  EXPECT_TRUE(both);
  both.reset();
  held.release();
  EXPECT_TRUE(set.get());
  EXPECT_TRUE(eventually([&] { return db().tickets() == 0; }));
}

}  // namespace
}  // namespace rowlock::test
