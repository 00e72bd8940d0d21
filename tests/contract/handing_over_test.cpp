#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "contract/contract.hpp"
#include "support/slowness.hpp"
#include "support/takes_at_most.hpp"
#include "support/test_thread.hpp"
#include "support/tier.hpp"

// A lease passes between the threads of one client. What its row says meanwhile, and what other clients get.

namespace rowlock::test {
namespace {

class handing_over : public two_clients {
 protected:
  static constexpr const char* name = "orders/42";

  /// So long that a slow machine does not end a hand-over.
  client connect_at_length(client_options options = {}) {
    options.handover_limit = 1min;
    return connect(options);
  }

  static std::uint64_t handovers(const client& of) { return of.stats().handovers; }

  /// Waits on a thread of its own, until it sleeps: what it gets.
  using waiter = std::unique_ptr<background<held_lock>>;
  static waiter start_to_wait(client& locks, const lock_options& options = with()) {
    const auto waiting = locks.stats().waiting;
    auto out = std::make_unique<background<held_lock>>(
        [&locks, options](std::stop_token stop) { return locks.acquire(name, options, std::move(stop)); });
    EXPECT_TRUE(eventually([&] { return locks.stats().waiting > waiting; }));
    static_cast<void>(out->is_done_within(a_moment));
    return out;
  }

  /// The visits of many threads, each while it holds the lock.
  struct account {
    void add(const held_lock& held) {
      if (held.token() <= last) ++out_of_order;
      last = held.token();
      ++visits;
      ++cycles;
    }
    void expect_exact() const {
      EXPECT_EQ(visits, cycles);
      EXPECT_EQ(out_of_order, 0);
    }
    int visits = 0;  // guarded by the lock, as is:
    fencing_token last{};
    std::atomic<int> cycles{0};
    std::atomic<int> out_of_order{0};
  };

  /// Another thread waits for the lock, and gets it with the release by this one.
  static held_lock pass_on(client& locks, held_lock& held, const lock_options& to = with()) {
    const auto next = start_to_wait(locks, to);
    held.release();
    return next->get();
  }

  /// Threads that have the lock by turns until they are told to stop.
  static std::vector<test_thread> hammering(client& locks, int threads, std::chrono::milliseconds turn = 0ms) {
    std::vector<test_thread> out;
    for (int i = 0; i < threads; ++i)
      out.emplace_back([&locks, turn](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          auto held = locks.acquire(name, with());
          std::this_thread::sleep_for(turn);
          held.release();
        }
      });
    return out;
  }
};
ROWLOCK_CONTRACT_SUITE(handing_over, leases(usual_pairs()));

// It comes when a tenure has just begun, and what the tenure needs is reserved.
TEST_P(handing_over, ends_before_the_turn_of_another_client_comes_twice) {
  constexpr std::chrono::milliseconds limit = 1s;
  auto locks = connect({.handover_limit = limit});
  const auto acquisition = [&] {
    const auto row = db().row(name);
    return row ? row->acquisition : std::nullopt;
  };
  const auto crowd = hammering(locks, 3, limit / 14);
  ASSERT_TRUE(eventually([&] { return handovers(locks) > 2; }));
  EXPECT_TRUE(takes_at_most(limit + 300ms, [&] {
    const auto before = acquisition();
    EXPECT_TRUE(eventually([&] { return acquisition() && acquisition() != before; }));
    const auto seen = handovers(locks);
    EXPECT_TRUE(eventually([&] { return handovers(locks) > seen + 2; }));
    const stopwatch watch;
    other_.acquire(name, with()).release();
    return watch.elapsed();
  }));
}

TEST_P(handing_over, of_many_threads_costs_few_statements_and_loses_no_count_and_no_order_of_tokens) {
  auto locks = connect();  // without an observer: of millions of events
  constexpr int threads = 32;
  const int enough = many(1'000'000, 20'000 / slowness);
  account all;
  on_threads(threads, [&](int /*i*/) {
    while (all.cycles < enough) all.add(locks.acquire(name, with()));
  });
  all.expect_exact();
  const auto visits = static_cast<std::uint64_t>(all.visits);
  const auto stats = locks.stats();
  EXPECT_GT(stats.handovers, static_cast<std::uint64_t>(enough) / 2);
  EXPECT_LT(sent(locks), visits / 2) << "a quarter of what releases cost";
  for (const auto& each : stats.strategies) {
    EXPECT_EQ(each.acquired, each.strategy == GetParam().strategy ? visits : 0U);
    EXPECT_EQ(each.released, each.acquired);
  }
  EXPECT_EQ(stats.held, 0U);
  const auto next = other_.acquire(name, with());
  EXPECT_GT(next.token(), all.last);
}

TEST_P(handing_over, and_waiting_cost_no_statement) {
  auto locks = connect_at_length();
  auto held = locks.acquire(name, with());
  held = pass_on(locks, held);  // reserves
  const auto before = sent(locks);
  for (int i = 0; i < 10; ++i) held = pass_on(locks, held);
  EXPECT_EQ(sent(locks), before);
  EXPECT_EQ(handovers(locks), 11U);
  EXPECT_EQ(db().tickets(), 0);
}

TEST_P(handing_over, is_not_done_if_it_is_switched_off_nor_beyond_its_limit) {
  for (const auto& options : {client_options{.handover = false}, client_options{.handover_limit = 10ms}}) {
    auto locks = connect(options);
    auto held = locks.acquire(name, with());
    auto next = start_to_wait(locks);  // which takes longer than the limit
    EXPECT_TRUE(eventually([&] { return db().tickets() == 1; })) << "it waits like other clients";
    held.release();
    EXPECT_GT(next->get().token(), fencing_token{});
    EXPECT_EQ(handovers(locks), 0U);
  }
}

TEST_P(handing_over, is_done_between_equal_leases_only) {
  auto locks = connect_at_length();
  const auto passes = [&](const lock_options& from, const lock_options& to,
                          const std::function<void(held_lock&)>& meanwhile) {
    const auto before = handovers(locks);
    auto held = locks.acquire(name, with(from));
    auto next = start_to_wait(locks, with(to));
    meanwhile(held);
    held.release();
    next->get().release();
    return handovers(locks) > before;
  };
  const auto nothing = [](held_lock& /*held*/) {};
  EXPECT_TRUE(passes({}, {}, nothing));
  EXPECT_TRUE(passes({.note = "n"}, {.note = "n"}, nothing));
  EXPECT_FALSE(passes({}, {.note = "n"}, nothing));
  EXPECT_FALSE(passes({.note = "n"}, {}, nothing));
  EXPECT_FALSE(passes({}, {.lease = 31s}, nothing));
  EXPECT_FALSE(passes({.renew = false}, {}, nothing));
  EXPECT_FALSE(passes({}, {.renew = false}, nothing));
  EXPECT_FALSE(passes({.hold_limit = 1h}, {}, nothing));
  EXPECT_FALSE(passes({}, {.hold_limit = 1h}, nothing));
  EXPECT_FALSE(passes({.at_least = 1ms}, {}, nothing));
  EXPECT_FALSE(passes({}, {.at_least = 1ms}, nothing));
  EXPECT_FALSE(passes({}, {.fairness = fairness::fifo}, nothing));
  EXPECT_FALSE(passes({}, {}, [](held_lock& held) { held.extend(30s); }));
  EXPECT_TRUE(passes({.fairness = fairness::fifo}, {}, nothing)) << "who waits decides";
}

// A conversion writes a token of its own, which is greater than those that were reserved before.
TEST_P(handing_over, is_not_done_after_a_conversion_and_tokens_go_on_growing) {
  auto locks = connect_at_length();
  auto first = locks.acquire(name, with());
  auto converted = pass_on(locks, first);
  ASSERT_GT(handovers(locks), 0U);
  converted.downgrade();
  ASSERT_TRUE(converted.try_upgrade());
  const auto token = converted.token();
  EXPECT_GT(pass_on(locks, converted).token(), token);
}

TEST_P(handing_over, goes_past_nobody_who_waits_in_turn) {
  auto locks = connect_at_length();
  auto held = locks.acquire(name, with());
  auto fair = start_to_wait(locks, with({.fairness = fairness::fifo}));
  ASSERT_TRUE(eventually([&] { return db().tickets() == 1; }));
  auto unfair = start_to_wait(locks);
  held.release();
  auto first = fair->get();
  EXPECT_FALSE(unfair->is_done_within(a_moment));
  EXPECT_EQ(handovers(locks), 0U);
  first.release();
  EXPECT_GT(unfair->get().token(), fencing_token{});
}

TEST_P(handing_over, gives_way_to_other_clients) {
  auto locks = connect();
  const auto crowd = hammering(locks, 16);
  for (const auto by : {fairness::unfair, fairness::fifo}) {
    for (int i = 0; i < many(10, 3); ++i) {
      const auto before = handovers(locks);
      ASSERT_TRUE(eventually([&] { return handovers(locks) > before + 100; }));
      const auto began = std::chrono::steady_clock::now();
      other_.acquire(name, with({.fairness = by})).release();
      EXPECT_LT(std::chrono::steady_clock::now() - began, 5s) << i;
    }
  }
}

TEST_P(handing_over, between_crowds_of_two_clients_starves_neither) {
  std::array<client, 2> clients{connect(), connect()};
  account all;
  std::array<std::atomic<int>, 2> of_each{};
  const int enough = many(2000, 300);
  on_threads(16, [&](int i) {
    const auto mine = static_cast<std::size_t>(i % 2);
    while (std::min(of_each[0].load(), of_each[1].load()) < enough) {
      all.add(clients.at(mine).acquire(name, with()));
      ++of_each.at(mine);
    }
  });
  all.expect_exact();
}

TEST_P(handing_over, shows_the_present_holder) {
  auto locks = connect_at_length();
  const auto first = with({.as = holder::named("first")});
  const auto second = with({.as = holder::named("second")});
  auto held = locks.acquire(name, first);
  held = pass_on(locks, held, second);
  ASSERT_EQ(handovers(locks), 1U);
  for (const auto& seen : {locks.find(name).value(), locks.list().at(0)}) {
    EXPECT_EQ(seen.thread, second.as->text());
    EXPECT_EQ(seen.token, held.token());
  }
  const auto from_afar = other_.find(name).value();
  EXPECT_EQ(from_afar.owner, locks.find(name)->owner);
  EXPECT_EQ(from_afar.thread, first.as->text()) << "to whom it was granted";
  EXPECT_GE(from_afar.token, held.token()) << "reserved";
  EXPECT_FALSE(locks.force_release(name, fencing_token{held.token().value() - 1}));
  EXPECT_TRUE(locks.force_release(name, held.token())) << "what it shows, it frees";
  EXPECT_EQ(held.why_lost(), loss_reason::forced);
}

TEST_P(handing_over, ends_when_another_client_frees_it) {
  auto locks = connect_at_length();
  const auto options = with({.lease = 3s});
  auto held = locks.acquire(name, options);
  held = pass_on(locks, held, options);
  ASSERT_TRUE(other_.force_release(name, other_.find(name).value().token));
  const auto taken = other_.acquire(name, with());
  EXPECT_GT(taken.token(), held.token());
  EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); })) << "at its next renewal";
  EXPECT_TRUE(throws(errc::lock_lost, [&] { held.release(); }));
}

TEST_P(handing_over, renews_what_lasts) {
  auto locks = connect_at_length();
  const auto lease = on_this_machine(1s);
  const auto options = with({.lease = lease});
  auto held = locks.acquire(name, options);
  for (int i = 0; i < 10; ++i) {
    held = pass_on(locks, held, options);
    EXPECT_EQ(held.why_lost(), loss_reason::none);
  }
  EXPECT_GT(handovers(locks), 2U) << "a renewal that is under way ends one";
  EXPECT_FALSE(eventually(2 * lease, [&] { return held.lost().stop_requested(); }));
}

TEST_P(handing_over, keeps_what_a_holder_has_more_than_once) {
  auto locks = connect_at_length();
  const auto shared = with({.as = holder::named("job")});
  auto held = locks.acquire(name, with());
  auto one = start_to_wait(locks, shared);
  auto two = start_to_wait(locks, shared);
  held.release();
  auto first = one->get();
  auto second = two->get();  // the same, once more
  EXPECT_EQ(first.token(), second.token());
  EXPECT_EQ(handovers(locks), 1U);
  auto third = start_to_wait(locks);
  first.release();
  EXPECT_FALSE(third->is_done_within(a_moment)) << "it is held yet";
  second.release();
  EXPECT_GT(third->get().token(), fencing_token{});
  EXPECT_EQ(handovers(locks), 2U);
}

TEST_P(handing_over, is_reported_as_a_release_and_an_acquisition) {
  const recorder told;
  auto locks = connect_at_length({.observer = told.observer()});
  auto held = locks.acquire(name, with());
  std::vector<std::int64_t> tokens{held.token().value()};
  for (int i = 0; i < 5; ++i) {
    held = pass_on(locks, held);
    tokens.push_back(held.token().value());
  }
  held.release();
  locks.close();
  std::vector<std::int64_t> acquired;
  std::vector<std::int64_t> released;
  for (const auto& each : told.all<events::acquired>()) acquired.push_back(each.token.value());
  for (const auto& each : told.all<events::released>()) released.push_back(each.token.value());
  EXPECT_EQ(acquired, tokens);
  EXPECT_EQ(released, tokens);
}

TEST_P(handing_over, leaves_nothing_behind_whoever_gives_up) {
  const int rounds = many(2000, 200);
  on_threads(8, [&](int i) {
    std::minstd_rand dice{static_cast<unsigned>(i)};
    for (int r = 0; r < rounds; ++r) {
      std::stop_source stop;
      test_thread stopping;
      if (r % 3 == 0)
        stopping = test_thread{[stop, after = dice() % 500]() mutable {
          std::this_thread::sleep_for(std::chrono::microseconds{after});
          stop.request_stop();
        }};
      try {
        const auto held = r % 3 == 0 ? std::optional{locks_.acquire(name, with(), stop.get_token())}
                                     : locks_.try_acquire_for(name, std::chrono::microseconds{dice() % 500}, with());
      } catch (const error& e) {  // a busy machine may not even connect within so short a time
        EXPECT_TRUE(r % 3 == 0 ? e.code() == errc::cancelled : e.is_retryable()) << e.what();
      }
    }
  });
  EXPECT_EQ(locks_.stats().held, 0U);
  EXPECT_TRUE(eventually([&] { return can_have(other_, name); }));
}

TEST_P(handing_over, falls_back_to_a_release_while_the_database_hangs) {
  auto locks = connect({.handover_limit = 1min, .call_timeout = 1s});
  auto held = locks.acquire(name, with());
  auto next = start_to_wait(locks);
  auto obstacle = db().stall();
  const auto began = std::chrono::steady_clock::now();
  held = {};  // which releases, as far as it can
  EXPECT_LT(std::chrono::steady_clock::now() - began, 3s);
  obstacle.reset();
  EXPECT_TRUE(next->is_done_within(10s)) << "it is released in the background";
}

}  // namespace
}  // namespace rowlock::test
