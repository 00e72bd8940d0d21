#include <array>
#include <atomic>

#include "server/server_test.hpp"
#include "support/test_thread.hpp"

namespace rowlock::test {
namespace {

constexpr auto before_the_next_try = 1500ms;
constexpr auto longest_pause = 1s;  // before what could not be done is tried again
constexpr auto without_a_pause = slowness * 50ms;

class waiter : public on_each_server {
 protected:
  client first_ = connect();
  client second_ = connect();
  client third_ = connect();
};
ROWLOCK_SUITE_ON_EACH_SERVER(waiter);

TEST_P(waiter, that_met_a_release_under_way_gets_the_lock_soon) {
  auto first = connect({.call_timeout = patience});
  second_.acquire("others").release();
  auto held = first.acquire("orders/42", {.lease = long_lease});
  auto gate = db().gate();
  background release{[&](const std::stop_token&) { return error_of([&] { held.release(); }); }};
  ASSERT_TRUE(eventually([&] { return db().at_gate() == 1; }));
  const stopwatch stalled;
  background one{waiting(second_)};
  ASSERT_TRUE(is_waited_for("orders/42"));
  EXPECT_FALSE(one.is_done_within(300ms)) << "it has seen the lease, and the row has been locked";
  gate.reset();
  const auto before = stalled.elapsed();
  const stopwatch watch;
  EXPECT_TRUE(is_held_by("orders/42", one.get()));
  EXPECT_LT(watch.elapsed(), before + before_the_next_try);
  const auto e = release.get();
  EXPECT_FALSE(e.has_value()) << e->what();
}

TEST_P(waiter, that_cannot_have_a_free_row_gets_it_soon_afterwards) {
  first_.acquire("orders/42").release();
  for (const auto order : {fairness::unfair, fairness::fifo}) {
    auto in_the_way = db().row_locked("orders/42");
    background one{waiting(second_, {.fairness = order})};
    ASSERT_TRUE(is_waited_for("orders/42"));
    EXPECT_FALSE(one.is_done_within(a_moment));
    in_the_way.reset();
    const stopwatch watch;
    EXPECT_TRUE(is_held_by("orders/42", one.get()));
    EXPECT_LT(watch.elapsed(), before_the_next_try);
  }
}

TEST_P(waiter, gets_a_lease_exactly_when_it_ends) {
  const auto too_late = [&] {
    const auto theirs = first_.acquire("orders/42", {.lease = 2s, .renew = false});
    const auto end = expiry("orders/42");
    auto mine = second_.acquire("orders/42");
    const auto begin = db().row("orders/42").value().acquired_at.value();
    EXPECT_GE(begin, end);
    return std::chrono::microseconds{begin - end};
  };
  EXPECT_TRUE(takes_at_most(without_a_pause, too_late));
}

TEST_P(waiter, gets_a_lease_that_nobody_releases_by_a_place_in_the_queue) {
  const auto theirs = first_.acquire("orders/42", {.lease = 2s, .renew = false});
  background one{waiting(second_, {.fairness = fairness::fifo})};
  ASSERT_TRUE(is_waited_for("orders/42"));
  background two{waiting(third_, {.fairness = fairness::fifo})};
  ASSERT_TRUE(is_waited_for("orders/42", 2));
  auto next = one.get();
  EXPECT_TRUE(is_held_by("orders/42", next));
  EXPECT_FALSE(two.is_done_within(a_moment));
  next.release();
  EXPECT_TRUE(is_held_by("orders/42", two.get()));
  EXPECT_TRUE(is_waited_for("orders/42", 0));
}

// As the beat that keeps it alive does for a moment.
TEST_P(waiter, whose_ticket_is_locked_loses_it_as_soon_as_it_is_not) {
  for (const bool is_granted : {true, false}) {
    auto held = first_.acquire("orders/42", {.lease = long_lease});
    background one{waiting(second_)};
    ASSERT_TRUE(is_waited_for("orders/42"));
    auto in_the_way = db().transaction("SELECT ticket FROM rowlock_waiter WHERE name = 'orders/42' FOR UPDATE");
    if (is_granted) {
      held.release();
      one.get().release();
    } else {
      one.stop();
      EXPECT_TRUE(throws(errc::cancelled, [&] { one.get().release(); }));
    }
    EXPECT_EQ(db().tickets("orders/42"), 1);
    in_the_way.reset();
    EXPECT_TRUE(eventually(longest_pause + slack(), [&] { return db().tickets("orders/42") == 0; }))
        << "it would expire in 6 s";
  }
}

/// Threads of two clients, each with one of these strategies, take their turns for a few names.
class crowd : public on_each_server {
 protected:
  void take_turns(const std::vector<strategy>& by) {
    std::array<client, 2> locks{connect(), connect()};
    std::vector<test_thread> all;
    for (std::size_t t = 0; t < threads; ++t)
      all.emplace_back([&, t](const std::stop_token& stop) {
        for (std::size_t i = t; !stop.stop_requested(); ++i)
          take_turn(i % names, locks.at(t % 2), by.at(t / 2 % by.size()));
      });
    let_pass(5s);
    all.clear();
    for (std::size_t n = 0; n < names; ++n) {
      EXPECT_GT(counters_.at(n), static_cast<int>(threads));
      EXPECT_EQ(counters_.at(n), turns_.at(n));
      EXPECT_TRUE(is_waited_for(name(n), 0)) << "no ticket stays";
    }
  }

 private:
  static constexpr std::size_t names = 3;
  static constexpr std::size_t threads = 8;

  static std::string name(std::size_t n) { return "counter/" + std::to_string(n); }
  void take_turn(std::size_t n, client& locks, strategy by) {
    auto held = locks.acquire(name(n), {.strategy = by, .fairness = fairness::fifo});
    ++counters_.at(n);
    held.release();
    ++turns_.at(n);
  }

  std::array<int, names> counters_{};  // each guarded by its name
  std::array<std::atomic<int>, names> turns_{};
};
ROWLOCK_SUITE_ON_EACH_SERVER(crowd);

TEST_P(crowd, is_served_in_turn_without_a_failure) { take_turns({strategy::unique_index}); }

TEST_P(crowd, of_all_strategies_is_served_in_turn_without_a_failure) {
  take_turns({strategy::unique_index, strategy::version_cas, strategy::for_update});
}

/// A wait that is asked to stop, wherever it is, and with calls that might take long.
class stopped_wait : public on_each_server_by_proxy {
 protected:
  client connect_slow() {
    auto locks = connect_by_proxy({.connect_timeout = 20s, .call_timeout = 20s});
    locks.acquire("others").release();
    return locks;
  }
  /// Stops a wait when it has come to a place: `prepare` is called before it begins, `leave` after its end.
  template <class Prepare, class Arrive, class Leave>
  void expect_end_at_once(Prepare prepare, Arrive arrive, Leave leave) {
    EXPECT_TRUE(takes_at_most(without_a_pause, [&] {
      prepare();
      background one{waiting(locks_)};
      arrive(one);
      const stopwatch watch;
      one.stop();
      EXPECT_TRUE(throws(errc::cancelled, [&] { one.get().release(); }));
      const auto time = watch.elapsed();
      leave();
      return time;
    }));
  }

  client locks_ = connect_slow();
  client other_ = connect();
};
ROWLOCK_SUITE_ON_EACH_SERVER(stopped_wait);

TEST_P(stopped_wait, ends_at_once_while_it_sleeps) {
  const auto theirs = other_.acquire("orders/42", {.lease = long_lease});
  expect_end_at_once([] {}, [&](auto& /*one*/) { EXPECT_TRUE(is_waited_for("orders/42")); },
                     [&] { EXPECT_TRUE(is_waited_for("orders/42", 0)); });
}

TEST_P(stopped_wait, ends_at_once_inside_the_database) {
  locks_.acquire("orders/42").release();
  std::unique_ptr<obstacle> gate;
  expect_end_at_once([&] { gate = db().gate(); },
                     [&](auto& /*one*/) { EXPECT_TRUE(eventually([&] { return db().at_gate() == 1; })); },
                     [&] {
                       gate.reset();
                       EXPECT_TRUE(eventually([&] { return is_vacant("orders/42") && db().at_gate() == 0; }));
                     });
}

TEST_P(stopped_wait, ends_at_once_where_nothing_comes_back_and_while_it_connects) {
  for (const bool is_connected : {true, false})
    expect_end_at_once(
        [&] {
          if (!is_connected) proxy().cut();
          proxy().black_hole(true);
        },
        [](auto& one) { EXPECT_FALSE(one.is_done_within(a_moment)); },
        [&] {
          proxy().black_hole(false);
          EXPECT_TRUE(eventually([&] { return is_vacant("orders/42"); }));
        });
}

TEST_P(stopped_wait, ends_at_once_in_the_queue_where_nothing_comes_back) {
  const auto theirs = other_.acquire("orders/42", {.lease = long_lease});
  expect_end_at_once([] {},
                     [&](auto& one) {
                       EXPECT_TRUE(is_waited_for("orders/42"));
                       proxy().black_hole(true);
                       EXPECT_FALSE(one.is_done_within(3 * a_moment));
                     },
                     [&] {
                       proxy().black_hole(false);
                       EXPECT_TRUE(is_waited_for("orders/42", 0));
                     });
}

TEST_P(stopped_wait, by_its_deadline_ends_half_a_second_later_at_most_where_nothing_comes_back) {
  for (const auto limit : {100ms, 700ms}) {
    const auto measure = [&] {
      locks_.acquire("others").release();
      proxy().black_hole(true);
      const stopwatch watch;
      const auto e = error_of([&] { return locks_.try_acquire_for("orders/42", limit).has_value(); });
      const auto time = watch.elapsed();
      proxy().black_hole(false);
      EXPECT_GE(time, limit);
      EXPECT_TRUE(e.has_value() && e->is_retryable()) << "it never had an answer";
      EXPECT_TRUE(eventually([&] { return is_vacant("orders/42"); }));
      return time;
    };
    EXPECT_TRUE(takes_at_most(limit + slowness * 500ms, measure));
  }
}

}  // namespace
}  // namespace rowlock::test
