#include "server/server_test.hpp"

// The clock that decides is set, forward and back, while locks are held and waited for.

namespace rowlock::test {
namespace {

class stepped : public on_fake_machine {
 protected:
  client locks_ = connect();
  client other_ = connect();
};
ROWLOCK_SUITE_ON_EACH_SERVER(stepped);

TEST_P(stepped, is_what_the_server_goes_by) {
  const auto before = db().now();
  machine.step(1h);
  EXPECT_GE(db().now() - before, std::chrono::microseconds{1h}.count());
  machine.step(-2h);
  EXPECT_LT(db().now(), before);
}

// Law 2: the lease is over, by the only clock that counts. Its holder hears of it at its next renewal, and not even
// before that can it commit.
TEST_P(stepped, forward_ends_leases_and_their_holders_are_told) {
  const auto held = locks_.acquire("orders/42", {.lease = 6s});
  machine.step(1h);
  const auto next = other_.try_acquire("orders/42", {.lease = 6s});
  ASSERT_TRUE(next.has_value());
  EXPECT_GT(next->token(), held.token());
  EXPECT_TRUE(eventually(6s, [&] { return held.lost().stop_requested(); })) << "a renewal comes every 2 s";
  EXPECT_TRUE(is_held_by("orders/42", *next)) << "and was no harm to them";
  EXPECT_FALSE(next->lost().stop_requested());
}

// Law 3 needs a clock that goes on here: nothing of a transaction that was rolled back is left in the row.
TEST_P(stepped, back_lets_the_token_of_a_transaction_that_was_ended_be_given_again) {
  const lock_options by_transaction{.strategy = strategy::for_update};
  locks_.acquire("orders/42", by_transaction).release();
  machine.step(-1h);
  const auto held = locks_.acquire("orders/42", by_transaction);
  db().terminate_sessions();
  const auto next = other_.acquire("orders/42", by_transaction);
  EXPECT_EQ(next.token(), held.token());
  EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
}

// A period of 366 days: its end is hardly ever in a test.
TEST_P(stepped, back_in_a_period_leaves_the_success_of_a_job_and_delays_no_retry) {
  const job_options due{.every = 24h * 366, .retries = 1, .retry_wait = 30min, .wait = 0ms};
  job mine{locks_, "nightly", due};
  job its{other_, "nightly", due};
  const auto good = [](const std::stop_token&, const held_lock&) {};
  const auto held = locks_.acquire("nightly");
  const auto begun = mine.begin(held);
  EXPECT_EQ(mine.finish(held, *begun.run, {.result = job_result::failed}).what, job_status::failed);
  EXPECT_TRUE(locks_.force_release("nightly"));
  EXPECT_EQ(its.run(good).what, job_status::too_early);
  machine.step(-1h);
  EXPECT_EQ(its.run(good).what, job_status::succeeded);
  machine.step(-1h);
  EXPECT_EQ(mine.run(good).what, job_status::already_succeeded);
}

/// A job by the clock of a server, which is set to the times of a story.
class stepped_job : public on_fake_machine {
 protected:
  using time = std::chrono::sys_time<std::chrono::microseconds>;

  static time at(std::chrono::year_month_day day, std::chrono::minutes utc) { return std::chrono::sys_days{day} + utc; }

  /// It is that time, within a second.
  void it_is(time t) {
    const auto by = t - time{std::chrono::microseconds{db().now()}};
    machine.step(std::chrono::duration_cast<std::chrono::seconds>(by));
  }
  /// What a timer that fires then comes to; the period is that of the run which it names.
  job_outcome fires(client& on, time t, const job_options& due) {
    it_is(t);
    return job{on, "nightly", due}.run([](const std::stop_token&, const held_lock&) {});
  }
  std::size_t runs() { return db().runs().size(); }

  client locks_ = connect();
  client other_ = connect();
};
ROWLOCK_SUITE_ON_EACH_SERVER(stepped_job);

using std::chrono::February;
using std::chrono::March;
using std::chrono::October;

// tests/unit/period_test.cpp has the periods of more zones.
TEST_P(stepped_job, by_local_time_succeeds_once_a_day_also_where_half_past_two_is_skipped_or_comes_twice) {
  const job_options due{.every = 24h, .at = 2h + 30min, .time_zone = "Europe/Berlin", .early_by = 0s, .wait = 10s};
  const auto skipped = std::chrono::year{2027} / March / 28;
  const auto twice = std::chrono::year{2027} / October / 31;
  constexpr auto succeeded = job_status::succeeded;
  constexpr auto already = job_status::already_succeeded;
  struct {
    std::chrono::year_month_day day;
    std::chrono::minutes time;
    job_status what;
    std::chrono::minutes begin;
    std::chrono::minutes end;
  } const firings[] = {{skipped, 0h + 59min, succeeded, -22h - 30min, 1h},  // ends where 2:30 would have been
                       {skipped, 1h + 1min, succeeded, 1h, 24h + 30min},    // 3:01 in summer time
                       {skipped, 24h + 29min, already, 1h, 24h + 30min},    // 2:29 the next day
                       {skipped, 24h + 31min, succeeded, 24h + 30min, 48h + 30min},
                       {twice, 0h + 29min, succeeded, -23h - 30min, 30min},
                       {twice, 0h + 31min, succeeded, 30min, 25h + 30min},
                       {twice, 1h + 31min, already, 30min, 25h + 30min},  // it is 2:31 again
                       {twice, 25h + 29min, already, 30min, 25h + 30min},
                       {twice, 25h + 31min, succeeded, 25h + 30min, 49h + 30min}};
  for (const auto& each : firings) {
    SCOPED_TRACE(&each - firings);
    const auto out = fires((&each - firings) % 2 == 0 ? locks_ : other_, at(each.day, each.time), due);
    EXPECT_EQ(out.what, each.what);
    EXPECT_EQ(out.run.value().period_begin, at(each.day, each.begin));
    EXPECT_EQ(out.run.value().period_end, at(each.day, each.end));
  }
  EXPECT_EQ(runs(), 6U);
}

TEST_P(stepped_job, has_a_period_on_a_leap_day) {
  for (const std::string zone : {"", "Europe/Berlin"}) {
    db().execute("DELETE FROM rowlock_job_run");
    const job_options due{.every = 24h, .time_zone = zone, .wait = 10s};
    const auto leap_day = std::chrono::year{2028} / February / 29;
    for (const auto noon : {at(leap_day, -12h), at(leap_day, 12h), at(leap_day, 36h)}) {
      EXPECT_EQ(fires(locks_, noon, due).what, job_status::succeeded);
      const auto second = fires(other_, noon + 1h, due);
      EXPECT_EQ(second.what, job_status::already_succeeded);
      EXPECT_EQ(second.run.value().period_end - second.run.value().period_begin, 24h);
    }
    EXPECT_EQ(runs(), 3U);
  }
}

TEST_P(stepped_job, has_no_second_success_when_the_clock_is_set_back_by_an_hour_into_an_earlier_period) {
  const job_options due{.every = 1h, .wait = 10s};
  const auto day = std::chrono::year{2027} / March / 3;
  const auto first = fires(locks_, at(day, 10min), due);
  EXPECT_EQ(first.what, job_status::succeeded);
  const auto second = fires(locks_, at(day, 1h + 10min), due);
  EXPECT_EQ(second.what, job_status::succeeded);
  for (auto* const each : {&locks_, &other_}) {
    const auto back = fires(*each, at(day, 11min), due);
    EXPECT_EQ(back.what, job_status::already_succeeded);
    EXPECT_EQ(back.run.value().token, first.run.value().token);
    const auto again = fires(*each, at(day, 1h + 11min), due);
    EXPECT_EQ(again.what, job_status::already_succeeded);
    EXPECT_EQ(again.run.value().token, second.run.value().token);
  }
  EXPECT_EQ(runs(), 2U);
}

// The run is of the period in which it began, whatever the clock shows at its end.
TEST_P(stepped_job, that_runs_while_the_clock_is_set_succeeds_in_the_period_in_which_it_began) {
  const job_options due{.every = 1h, .wait = 10s, .lock = {.lease = 3h}};
  const auto day = std::chrono::year{2027} / March / 3;
  const auto of_both = at(day, 5h + 10min);
  for (const auto step : {-1h, 1h}) {
    db().execute("DELETE FROM rowlock_job_run");
    it_is(of_both);
    job mine{locks_, "nightly", due};
    const auto out = mine.run([&](const std::stop_token&, const held_lock&) { it_is(of_both + step); });
    EXPECT_EQ(out.what, job_status::succeeded) << step.count();
    EXPECT_EQ(out.run.value().period_begin, at(day, 5h));
    EXPECT_EQ(fires(other_, of_both + 1min, due).what, job_status::already_succeeded) << step.count();
    EXPECT_EQ(fires(other_, of_both + step, due).what, job_status::succeeded) << step.count();
    EXPECT_EQ(runs(), 2U);
  }
}

// The clocks of a quorum's databases are never compared: one that steps ends one member.
TEST_P(stepped, forward_takes_a_member_from_a_quorum_and_not_the_name) {
  const auto second = GetParam().open();
  const auto third = GetParam().open();
  const auto connect_all = [&] {
    std::vector<client> out;
    for (const auto& url : {db().url(), second->url(), third->url()}) {
      out.push_back(connect_to(url));
      out.back().migrate();
    }
    return out;
  };
  auto our_clients = connect_all();
  auto their_clients = connect_all();
  quorum_lock ours{{our_clients.begin(), our_clients.end()}, "orders/42", {.lease = 6s}};
  quorum_lock theirs{{their_clients.begin(), their_clients.end()}, "orders/42", {.lease = 6s}};
  const auto held = ours.acquire();
  ASSERT_TRUE(eventually([&] { return held.members().size() == 3; }));
  machine.step(1h);
  EXPECT_FALSE(theirs.try_acquire());
  EXPECT_TRUE(eventually(6s, [&] { return held.members().size() == 2; })) << "a renewal comes every 2 s";
  EXPECT_EQ(held.members().front().database, 1U);
  EXPECT_FALSE(held.lost().stop_requested());
  EXPECT_FALSE(theirs.try_acquire());
}

TEST_P(stepped, forward_leaves_a_lease_that_outlasts_it_also_if_a_release_has_granted_it) {
  for (const auto order : {fairness::fifo, fairness::unfair}) {
    auto held = locks_.acquire("orders/42", {.lease = 2h});
    machine.step(1h);
    EXPECT_FALSE(other_.try_acquire("orders/42").has_value());
    EXPECT_FALSE(held.lost().stop_requested());
    background waiter{waiting(other_, {.lease = 2h, .fairness = order})};
    ASSERT_TRUE(is_waited_for("orders/42"));
    ASSERT_TRUE(eventually([&] { return is_marked(); }));
    held.release();
    const auto mine = waiter.get();
    machine.step(2s);
    EXPECT_FALSE(locks_.try_acquire("orders/42").has_value());
    EXPECT_FALSE(mine.lost().stop_requested());
  }
}

TEST_P(stepped, back_gives_no_name_to_two_and_lets_no_token_fall_behind) {
  auto held = locks_.acquire("orders/42", {.lease = 3s});
  const auto token = held.token();
  machine.step(-1h);
  EXPECT_FALSE(other_.try_acquire("orders/42").has_value());
  EXPECT_FALSE(eventually(4s, [&] { return held.lost().stop_requested(); })) << "it is renewed";
  EXPECT_FALSE(other_.try_acquire("orders/42").has_value());
  held.release();
  const auto next = other_.try_acquire("orders/42", {.lease = 3s});
  ASSERT_TRUE(next.has_value());
  EXPECT_GT(next->token(), token);
}

// A dead holder's lease ends later by as much as the clock was set back, and no sooner when it comes forward again.
TEST_P(stepped, back_and_forth_ends_a_dead_holders_lease_when_it_said) {
  const auto dead = locks_.acquire("orders/42", {.lease = 10min, .renew = false});
  machine.step(-1h);
  EXPECT_FALSE(other_.try_acquire("orders/42").has_value());
  machine.step(1h + 9min);
  EXPECT_FALSE(other_.try_acquire("orders/42").has_value());
  machine.step(2min);
  const auto next = other_.try_acquire("orders/42");
  ASSERT_TRUE(next.has_value());
  EXPECT_GT(next->token(), dead.token());
}

TEST_P(stepped, tokens_grow_whichever_way_it_goes) {
  auto last = locks_.acquire("orders/42").token();
  for (const std::chrono::seconds by : {-3600s, 7200s, -1800s, -86400s, 86400s}) {
    machine.step(by);
    for (const auto how : {strategy::unique_index, strategy::version_cas, strategy::for_update}) {
      const auto token = locks_.acquire("orders/42", {.strategy = how}).token();
      EXPECT_GT(token, last) << by.count() << ' ' << to_string(how);
      last = token;
    }
  }
}

TEST_P(stepped, back_lets_no_token_of_a_swept_name_fall_behind) {
  sweeper sweeps{locks_, {.every = 24h, .retention = 1min}};
  const std::vector ways{strategy::unique_index, strategy::version_cas, strategy::for_update};
  // Sessions that are opened while the clock is ahead would wait for it in SLEEP().
  for (const auto how : ways) locks_.acquire("orders/41", {.strategy = how}).release();
  for (const auto how : ways) {
    machine.step(2h);
    const auto last = locks_.acquire("orders/42", {.strategy = how}).token();
    locks_.acquire("orders/43").release();
    machine.step(10min);
    ASSERT_TRUE(eventually([&] { return sweeps.sweep_once() > 0; }));
    ASSERT_FALSE(db().row("orders/42"));
    machine.step(-2h - 10min);
    EXPECT_GT(locks_.acquire("orders/42", {.strategy = how}).token(), last) << to_string(how);
  }
}

TEST_P(stepped, forward_lets_a_waiter_in_and_back_lets_it_wait) {
  auto held = locks_.acquire("orders/42", {.lease = 1h, .renew = false});
  background waiter{[&](std::stop_token stop) { return other_.acquire("orders/42", {}, stop).token(); }};
  ASSERT_TRUE(is_waited_for("orders/42"));
  machine.step(-10min);
  EXPECT_FALSE(waiter.is_done_within(a_moment));
  const auto token = held.token();
  machine.step(2h);
  EXPECT_GT(waiter.get(), token);
}

}  // namespace
}  // namespace rowlock::test
