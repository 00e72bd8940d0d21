#include "contract/queueing.hpp"
#include "support/slowness.hpp"
#include "support/takes_at_most.hpp"
#include "support/tier.hpp"

namespace rowlock::test {
namespace {

// Its thread does not come to it while a test lasts.
constexpr sweeper_options by_hand{.every = 24h};

class sweeping : public queueing {
 protected:
  bool is_there(std::string_view which) { return db().row(which).has_value(); }

  /// Nobody has had it for two hours.
  void use_long_ago(client& locks, const std::string& which) {
    locks.acquire(which, with()).release();
    db().age(which, 2h);
  }

  sweeper sweeps_{locks_, by_hand};
};
ROWLOCK_CONTRACT_SUITE(sweeping, usual_pairs());

// --- what goes and what stays ----------------------------------------------------------------------------------------

TEST_P(sweeping, deletes_what_nobody_has_had_for_the_retention_and_nothing_else) {
  db().add_unused(2'345);
  use_long_ago(locks_, "orders/1");
  locks_.acquire("orders/2", with()).release();
  locks_.acquire("orders/3", with()).release();
  db().age("orders/3", 59min);
  const auto held = locks_.acquire("orders/4", with());
  for (const auto* name : {"unused/0", "unused/1"}) db().steal(name);
  db().age("unused/1", 3h);  // its holder has died
  EXPECT_EQ(sweeps_.sweep_once(), 2'345U);
  for (const auto* name : {"orders/1", "unused/1", "unused/2"}) EXPECT_FALSE(is_there(name)) << name;
  for (const auto* name : {"orders/2", "orders/3", "orders/4", "unused/0"}) EXPECT_TRUE(is_there(name)) << name;
  EXPECT_EQ(db().rows(), 5) << "those, and the sweeper's own";
  EXPECT_FALSE(held.lost().stop_requested());
  EXPECT_EQ(sweeps_.sweep_once(), 0U);
  const auto done = sweeps_.statistics();
  EXPECT_EQ(done.rows, 2'345U);
  EXPECT_EQ(done.sweeps, 2U);
  EXPECT_EQ(done.failures, 0U);
  EXPECT_EQ(done.stand_bys, 0U);
  EXPECT_GT(done.longest_call, 0us);
}

TEST_P(sweeping, goes_by_the_retention_it_is_given) {
  locks_.acquire("orders/1", with()).release();
  db().age("orders/1", 61s);
  sweeper hourly{locks_, by_hand};
  EXPECT_EQ(hourly.sweep_once(), 0U);
  hourly.stop();
  sweeper by_the_minute{locks_, {.every = 24h, .retention = 1min, .batch = 1}};
  EXPECT_TRUE(eventually([&] { return by_the_minute.sweep_once() == 1; })) << "the other has stopped";
  EXPECT_FALSE(is_there("orders/1"));
}

// Its row looks as if nobody had had it for hours: a lock by for_update writes no expiry.
TEST_P(sweeping, leaves_a_holder_alone_however_old_the_row_is) {
  auto locks = connect({.transaction_limit = 60s});
  if (GetParam().has_lease) {
    const auto held = locks.acquire(name, with());
    sweeper sweeps{locks, by_hand};
    EXPECT_EQ(sweeps.sweep_once(), 0U);
    return;
  }
  use_long_ago(locks, name);
  auto held = locks.acquire(name, with());
  sweeper sweeps{locks, {.every = 24h, .retention = 2min}};
  EXPECT_EQ(sweeps.sweep_once(), 0U);
  EXPECT_TRUE(is_there(name));
  EXPECT_FALSE(held.lost().stop_requested());
  EXPECT_FALSE(can_have(other_, name));
  EXPECT_NO_THROW(held.release());
}

// Its row looks as old as before: a lock by for_update writes no expiry.
TEST_P(sweeping, leaves_a_name_that_somebody_has_had_since) {
  use_long_ago(locks_, name);
  locks_.acquire(name, with()).release();
  EXPECT_EQ(sweeps_.sweep_once(), 0U);
  EXPECT_TRUE(is_there(name));
}

TEST_P(sweeping, does_not_set_tokens_back) {
  auto held = locks_.acquire(name, with());
  const auto before = held.token();
  held.release();
  db().age(name, 2h);
  ASSERT_EQ(sweeps_.sweep_once(), 1U);
  ASSERT_FALSE(is_there(name));
  EXPECT_GT(locks_.acquire(name, with()).token(), before);
}

TEST_P(sweeping, leaves_behind_the_greatest_version_that_it_has_deleted) {
  use_long_ago(locks_, "orders/1");
  use_long_ago(locks_, "orders/2");
  const auto least = db().row("orders/1")->version;
  const auto greatest = least + 1'000;
  db().set_version("orders/2", greatest);
  EXPECT_EQ(db().floor(), 0);
  ASSERT_EQ(sweeps_.sweep_once(), 2U);
  EXPECT_EQ(db().floor(), greatest);
  use_long_ago(locks_, "orders/3");
  db().set_version("orders/3", least);
  ASSERT_EQ(sweeps_.sweep_once(), 1U);
  EXPECT_EQ(db().floor(), greatest) << "it never falls";
  EXPECT_EQ(locks_.list().size(), 1U) << "the sweeper's own";
  EXPECT_EQ(db().shares(), 0);
}

// As where the clock was set back behind what was deleted.
TEST_P(sweeping, makes_no_name_below_what_was_deleted) {
  const auto floor = db().now() + 3'600'000'000;
  db().raise_floor(floor);
  locks_.acquire("one", with()).release();
  locks_.acquire("in turn", fair()).release();
  locks_.acquire_shared("shared").release();
  std::vector<std::string> made{"one", "in turn", "shared"};
  if (GetParam().has_lease) {
    const std::vector<lock_name> any{"any", "any other"};
    locks_.acquire_any(any, with()).release();
    const std::vector<lock_name> all{"all", "all others"};
    locks_.acquire_all(all, with()).release();
    made.insert(made.end(), {"any", "all", "all others"});
  }
  for (const auto& each : made) EXPECT_GT(db().row(each).value().version, floor) << each;
  std::vector<std::unique_ptr<background<fencing_token>>> crowd;
  for (int i = 0; i < 16; ++i)
    crowd.push_back(std::make_unique<background<fencing_token>>([&, i](std::stop_token stop) {
      return locks_.acquire("crowd/" + std::to_string(i % 12), with(), std::move(stop)).token();
    }));
  for (const auto& each : crowd) EXPECT_GT(each->get().value(), floor);
}

// The clock was set back, or the token grew faster than it: a new row would begin behind it.
TEST_P(sweeping, leaves_a_row_whose_token_is_ahead_of_the_clock) {
  use_long_ago(locks_, name);
  const auto ahead = db().now() + 3'600'000'000;
  db().set_version(name, ahead);
  EXPECT_EQ(sweeps_.sweep_once(), 0U);
  EXPECT_GT(locks_.acquire(name, with()).token().value(), ahead);
}

TEST_P(sweeping, beside_those_who_lock_disturbs_nobody_and_keeps_tokens_in_order) {
  db().add_unused(many(3'000, 300));
  sweeper sweeps{other_, by_hand};
  background sweeping_on{[&](const std::stop_token& stop) {
    std::size_t swept = 0;
    while (!stop.stop_requested()) swept += sweeps.sweep_once();
    return swept;
  }};
  fencing_token last{};
  for (int i = 0; i < 100; ++i) {
    auto held = locks_.acquire(name, with());
    ASSERT_GT(held.token(), last);
    last = held.token();
    EXPECT_NO_THROW(held.release());
    db().age(name, 2h);
    if (i % 20 != 19) continue;
    ASSERT_TRUE(eventually([&] { return !is_there(name); })) << "it is swept at last";
  }
  sweeping_on.stop();
  EXPECT_GT(sweeping_on.get(), 0U);
}

// --- those who wait --------------------------------------------------------------------------------------------------

TEST_P(sweeping, deletes_the_tickets_of_the_dead_but_not_of_one_that_may_only_be_stopped) {
  db().enqueue("stopped");
  db().kill_waiters(30s);
  EXPECT_EQ(sweeps_.sweep_once(), 0U) << "it has its place again when it goes on";
  EXPECT_EQ(db().tickets(), 1);
  const auto held = locks_.acquire(name, fair());
  db().enqueue(name);
  db().kill_waiters(61s);
  db().enqueue("orders/43");
  const auto living = wait_behind(locks_, "living");
  EXPECT_EQ(sweeps_.sweep_once(), 2U);
  EXPECT_EQ(sweeps_.statistics().tickets, 2U);
  EXPECT_EQ(db().tickets(), 2);
  EXPECT_EQ(queue(locks_), names{"living"});
}

TEST_P(sweeping, tells_those_who_wait_for_a_name_that_is_free) {
  db().enqueue(name);
  db().enqueue(name);
  db().enqueue("orders/43");
  const auto held = locks_.acquire("orders/43", with());
  sweeps_.sweep_once();
  const bool can_tell = db().url().starts_with("postgresql");
  // Of a transaction that has the name nothing can be seen.
  EXPECT_EQ(sweeps_.statistics().announced, !can_tell ? 0U : GetParam().holds_by_transaction ? 2U : 1U);
}

// --- more than one ---------------------------------------------------------------------------------------------------

TEST_P(sweeping, is_done_by_one_while_others_stand_by) {
  db().add_unused(10);
  auto first = std::make_unique<sweeper>(locks_, by_hand);
  sweeper second{other_, by_hand};
  EXPECT_EQ(first->sweep_once(), 10U);
  db().add_unused(10);
  EXPECT_EQ(second.sweep_once(), 0U);
  EXPECT_EQ(second.statistics().stand_bys, 1U);
  EXPECT_EQ(second.statistics().sweeps, 0U);
  EXPECT_EQ(first->sweep_once(), 10U);
  first.reset();
  EXPECT_TRUE(eventually([&] {
    second.sweep_once();
    return second.statistics().sweeps > 0;
  })) << "it takes over";
}

TEST_P(sweeping, goes_on_after_its_lock_was_lost) {
  sweeps_.sweep_once();
  locks_.release_all();
  sweeps_.sweep_once();
  EXPECT_EQ(sweeps_.statistics().sweeps, 2U);
}

// --- the thread ------------------------------------------------------------------------------------------------------

TEST_P(sweeping, is_done_by_a_thread_again_and_again) {
  db().add_unused(100);
  const sweeper sweeps{locks_, {.every = 1s}};
  EXPECT_TRUE(eventually([&] { return db().rows() == 1; }));
  db().add_unused(100);
  EXPECT_TRUE(eventually([&] { return db().rows() == 1; }));
  EXPECT_TRUE(eventually([&] { return sweeps.statistics().rows >= 200; })) << "it counts what it has done afterwards";
  EXPECT_EQ(sweeps.statistics().rows, 200U);
}

TEST_P(sweeping, survives_what_the_database_refuses_and_says_so) {
  db().drop_tables();
  const sweeper sweeps{locks_, {.every = 1s}};
  ASSERT_TRUE(eventually([&] { return !told_.sweep_failures().empty(); }));
  EXPECT_EQ(told_.sweep_failures().front().cause.code(), errc::schema_missing);
  EXPECT_GT(sweeps.statistics().failures, 0U);
  locks_.migrate();
  EXPECT_TRUE(eventually([&] { return sweeps.statistics().sweeps > 0; }));
}

TEST_P(sweeping, stops_at_once_between_sweeps) {
  auto sweeps = std::make_unique<sweeper>(locks_, sweeper_options{.every = 24h});
  sweeps->sweep_once();
  EXPECT_TRUE(takes_at_most(on_this_machine(100ms), [&] {
    const stopwatch watch;
    sweeps.reset();
    const auto took = watch.elapsed();
    sweeps = std::make_unique<sweeper>(locks_, sweeper_options{.every = 24h});
    return took;
  }));
}

TEST_P(sweeping, stops_at_once_in_the_middle_of_one) {
  const int unused = many(20'000, 5'000);
  db().add_unused(unused);
  sweeper sweeps{locks_, {.every = 24h, .batch = 10}};
  background one{[&](const std::stop_token& /*stop*/) { return sweeps.sweep_once(); }};
  ASSERT_TRUE(eventually([&] { return sweeps.statistics().rows > 0; }));
  const stopwatch watch;
  sweeps.stop();
  EXPECT_LE(watch.elapsed(), slack());
  EXPECT_LT(one.get(), static_cast<std::uint64_t>(unused));
  EXPECT_GT(db().rows(), 1);
  EXPECT_EQ(sweeps.sweep_once(), 0U) << "it has been stopped for good";
}

TEST_P(sweeping, stops_at_once_where_the_database_does_not_answer) {
  db().add_unused(10);
  sweeps_.sweep_once();
  db().add_unused(10);
  const auto nothing_is_written = db().stall();
  background one{[&](const std::stop_token& /*stop*/) { return sweeps_.sweep_once(); }};
  EXPECT_FALSE(one.is_done_within(a_moment));
  const stopwatch watch;
  sweeps_.stop();
  EXPECT_LE(watch.elapsed(), slack()) << "call_timeout is longer";
  std::uint64_t deleted = 0;
  const auto e = error_of([&] { return deleted = one.get(); });
  EXPECT_TRUE(!e || e->code() == errc::call_timed_out) << "the wait for a lock was over just before: " << e->what();
  EXPECT_EQ(deleted, 0U);
}

TEST_P(sweeping, ends_with_its_client) {
  sweeps_.sweep_once();
  sweeper next{other_, by_hand};
  { const auto gone = std::move(locks_); }
  EXPECT_TRUE(throws(errc::client_closed, [&] { sweeps_.sweep_once(); }));
  EXPECT_NO_THROW(sweeps_.stop());
  next.sweep_once();
  EXPECT_EQ(next.statistics().sweeps, 1U) << "the lock went with the client";
}

TEST_P(sweeping, is_not_begun_with_a_retention_that_could_set_tokens_back) {
  EXPECT_TRUE(throws(errc::invalid_option, [&] { const sweeper sweeps{locks_, {.retention = 59s}}; }));
}

}  // namespace
}  // namespace rowlock::test
