#include <atomic>
#include <future>
#include <stdexcept>
#include <string>
#include <vector>

#include "contract/contract.hpp"

namespace rowlock::test {
namespace {

constexpr auto* nightly = "nightly";
constexpr auto period = 24h * 366;  // its end comes once in a year, so hardly ever in a test

class doing_jobs : public two_clients {
 protected:
  static job_options due(job_options options = {}) {
    options.every = period;
    options.lock = with(std::move(options.lock));
    return options;
  }
  static job::work failing(const std::string& why) {
    return [why](const std::stop_token&, const held_lock&) { throw std::runtime_error{why}; };
  }
  job::work counting() {
    return [this](const std::stop_token&, const held_lock&) { ++done_; };
  }
  static void wait_for(const std::stop_token& stop) {
    while (!stop.stop_requested()) std::this_thread::sleep_for(1ms);
  }
  std::int64_t successes() { return db().number("SELECT count(*) FROM rowlock_job_run WHERE succeeded = 1"); }
  /// In so many periods, the last of which is over.
  void succeed_in_periods(int number) {
    for (int i = 0; i < number; ++i) {
      EXPECT_EQ((job{locks_, nightly, due()}.run(counting()).what), job_status::succeeded);
      db().age_runs(period);
    }
  }
  /// Another sweeper may still be at work.
  static bool sweeps(sweeper& one) {
    return eventually([&] {
      static_cast<void>(one.sweep_once());
      return one.statistics().sweeps > 0;
    });
  }

  std::atomic<int> done_{0};
};
ROWLOCK_CONTRACT_SUITE(doing_jobs, leases(usual_pairs()));

// --- a period --------------------------------------------------------------------------------------------------------

TEST_P(doing_jobs, is_done_once_in_a_period_by_whichever_client) {
  auto here = connect({.application = "here"});
  job mine{here, nightly, due()};
  job its{other_, nightly, due()};
  EXPECT_TRUE(mine.history().empty());
  const auto first = mine.run(counting());
  EXPECT_EQ(first.what, job_status::succeeded);
  const auto second = its.run(counting());
  EXPECT_EQ(second.what, job_status::already_succeeded);
  EXPECT_EQ(mine.run(counting()).what, job_status::already_succeeded);
  EXPECT_EQ(done_, 1);
  const auto runs = its.history();
  ASSERT_EQ(runs.size(), 1U);
  for (const auto& run : {runs[0], *first.run, *second.run}) {
    EXPECT_EQ(run.job, lock_name{nightly});
    EXPECT_EQ(run.attempt, 1);
    EXPECT_EQ(run.period_end - run.period_begin, period);
    EXPECT_EQ(run.owner.substr(0, 5), "here:");
    EXPECT_NE(run.owner.find(":" + run.host + ":"), std::string::npos);
    EXPECT_FALSE(run.host.empty());
    EXPECT_GE(run.started_at, run.period_begin);
    EXPECT_LT(run.started_at, run.period_end);
    ASSERT_TRUE(run.finished_at.has_value());
    EXPECT_GE(*run.finished_at, run.started_at);
    EXPECT_EQ(run.result, job_result::succeeded);
    EXPECT_GT(run.token.value(), 0);
  }
}

TEST_P(doing_jobs, is_done_again_in_the_next_period_and_not_in_an_earlier_one_that_has_a_success) {
  job mine{locks_, nightly, due()};
  EXPECT_EQ(mine.run(counting()).what, job_status::succeeded);
  db().age_runs(period);
  EXPECT_EQ(mine.run(counting()).what, job_status::succeeded);
  EXPECT_EQ(done_, 2);
  db().execute(
      "DELETE FROM rowlock_job_run WHERE token = (SELECT t FROM (SELECT min(token) AS t FROM rowlock_job_run) o)");
  db().age_runs(-period);  // as if the clock was set back by a period
  EXPECT_EQ(mine.run(counting()).what, job_status::succeeded) << "the other one is of the next period";
  EXPECT_EQ(mine.run(counting()).what, job_status::already_succeeded);
  EXPECT_EQ(done_, 3);
  EXPECT_EQ(mine.history().size(), 2U);
  EXPECT_EQ(mine.history(1).size(), 1U);
  EXPECT_GT(mine.history()[0].period_begin, mine.history()[1].period_begin);
}

TEST_P(doing_jobs, by_many_at_once_is_done_by_one) {
  constexpr int number = 4;
  std::vector<client> clients;
  for (int i = 0; i < number; ++i) clients.push_back(connect());
  std::atomic<int> succeeded{0};
  std::atomic<int> found{0};
  on_threads(number, [&](int i) {
    job one{clients[static_cast<std::size_t>(i)], nightly, due()};
    const auto what = one.run(counting()).what;
    if (what == job_status::succeeded) ++succeeded;
    if (what == job_status::already_succeeded) ++found;
  });
  EXPECT_EQ(done_, 1);
  EXPECT_EQ(succeeded, 1);
  EXPECT_EQ(found, number - 1);
}

TEST_P(doing_jobs, is_not_waited_for_without_time) {
  job mine{locks_, nightly, due({.wait = 0ms})};
  const auto held = other_.acquire(nightly, with());
  EXPECT_EQ(mine.run(counting()).what, job_status::not_acquired);
  EXPECT_EQ(done_, 0);
  EXPECT_TRUE(mine.history().empty());
}

// --- shortly before the next period ----------------------------------------------------------------------------------

/// A period whose end is less than half of it away, but not in the next minutes.
class jobs_before_a_period : public doing_jobs {
 protected:
  static constexpr duration margin = 10min;

  job_options in_the_last_half(job_options options = {}) {
    const duration now{db().now()};
    options.every = 4 * margin;
    while (options.every - now % options.every < margin || options.every - now % options.every > options.every / 2)
      options.every += 1s;
    if (!options.early_by) options.early_by = options.every / 2;
    options.lock = with();
    return options;
  }
  job_outcome begin(client& by, const job_options& options, duration asked_ago = {}) {
    job one{by, nightly, options};
    const auto held = by.acquire(nightly, with());
    return one.begin(held, asked_ago);
  }
};
ROWLOCK_CONTRACT_SUITE(jobs_before_a_period, leases(usual_pairs()));

TEST_P(jobs_before_a_period, are_due_soon) {
  const auto options = in_the_last_half();
  job mine{locks_, nightly, options};
  ASSERT_EQ(mine.run(counting()).what, job_status::succeeded) << "it runs at once in a period without a success";
  EXPECT_EQ(begin(other_, options).what, job_status::already_succeeded) << "that run began just before";
  db().let_runs_begin_earlier(24h);
  const auto end = mine.history().at(0).period_end;
  const auto before = db().now();
  const auto soon = begin(other_, options);
  const auto after = db().now();
  EXPECT_EQ(soon.what, job_status::due_soon);
  EXPECT_LE(soon.again_in.count(), end.time_since_epoch().count() - before);
  EXPECT_GE(soon.again_in.count(), end.time_since_epoch().count() - after);
  EXPECT_EQ(soon.run.value().result, job_result::succeeded);
  const auto long_ago = begin(other_, options, 24h);
  EXPECT_EQ(long_ago.what, job_status::already_succeeded) << "it was asked for early in the period, and waited";
  EXPECT_GT(long_ago.again_in, 0s);
  EXPECT_LE(long_ago.again_in, soon.again_in);
}

TEST_P(jobs_before_a_period, are_due_soon_where_no_more_runs_may_begin) {
  const auto options = in_the_last_half();
  job mine{locks_, nightly, options};
  EXPECT_THROW(mine.run(failing("no luck")), std::runtime_error);
  EXPECT_EQ(begin(other_, options).what, job_status::attempts_used_up);
  db().let_runs_begin_earlier(24h);
  const auto soon = begin(other_, options);
  EXPECT_EQ(soon.what, job_status::due_soon);
  EXPECT_EQ(soon.run.value().result, job_result::failed);
  auto more = options;
  more.retries = 1;
  EXPECT_EQ(begin(other_, more).what, job_status::begun) << "one is left in this period";
}

TEST_P(jobs_before_a_period, are_not_waited_for_if_that_is_switched_off) {
  for (const auto& early_by : {std::optional<duration>{0s}, std::optional<duration>{1min}}) {
    const auto options = in_the_last_half({.early_by = early_by});
    job mine{locks_, nightly, options};
    mine.run(counting());
    db().let_runs_begin_earlier(24h);
    EXPECT_EQ(begin(other_, options).what, job_status::already_succeeded);
  }
}

TEST_P(jobs_before_a_period, are_waited_for_without_the_lock_until_the_call_is_stopped) {
  auto options = in_the_last_half();
  options.wait = 0s;
  job mine{locks_, nightly, options};
  ASSERT_EQ(mine.run(counting()).what, job_status::succeeded);
  db().let_runs_begin_earlier(24h);
  std::stop_source end;
  const auto released = db().row(nightly).value().version;
  auto waiting = std::async(std::launch::async, [&] { return mine.run(counting(), end.get_token()).what; });
  EXPECT_TRUE(eventually([&] {  // it has looked, and has released the lock
    const auto row = db().row(nightly);
    return row && row->version > released && !row->owner;
  }));
  EXPECT_TRUE(other_.try_acquire(nightly, with()).has_value());
  EXPECT_EQ(waiting.wait_for(0s), std::future_status::timeout);
  end.request_stop();
  const auto out = waiting.get();
  EXPECT_TRUE(out == job_status::not_acquired || out == job_status::due_soon) << out;  // the wait is about to begin
  EXPECT_EQ(done_, 1);
}

// A period of two seconds is over soon.
TEST_P(jobs_before_a_period, run_when_it_has_begun_by_the_clock_of_the_database) {
  job mine{locks_, nightly, {.every = 2s, .early_by = 1s, .wait = 0s, .lock = with()}};
  std::chrono::sys_time<duration> end;
  job_outcome next;
  std::int64_t asked = 0;
  do {  // until a call was made just before a period, and not after a pause of this process
    db().execute("DELETE FROM rowlock_job_run");
    end = mine.run(counting()).run.value().period_end;
    db().let_runs_begin_earlier(24h);
    do {
      asked = db().now();
      next = mine.run(counting());
    } while (next.what == job_status::already_succeeded);
  } while (asked >= end.time_since_epoch().count());
  EXPECT_EQ(next.what, job_status::succeeded);
  EXPECT_EQ(next.run.value().period_begin, end);
  EXPECT_GE(next.run.value().started_at, end);
}

// --- failures --------------------------------------------------------------------------------------------------------

TEST_P(doing_jobs, that_fails_is_run_again_up_to_the_retries) {
  job mine{locks_, nightly, due({.retries = 2})};
  const auto last = mine.run([&](const std::stop_token&, const held_lock&) {
    if (++done_ < 3) throw std::runtime_error{"no luck"};
  });
  EXPECT_EQ(last.what, job_status::succeeded);
  EXPECT_EQ(last.run.value().attempt, 3);
  const auto runs = mine.history();
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_EQ(runs[1].result, job_result::failed);
  EXPECT_EQ(runs[1].output, "no luck");
  EXPECT_EQ(runs[2].attempt, 1);
  EXPECT_ANY_THROW(db().execute("UPDATE rowlock_job_run SET result = 'succeeded', succeeded = 1"))
      << "the database itself keeps it from a second success in a period";
  EXPECT_EQ(successes(), 1);
}

TEST_P(doing_jobs, that_always_fails_ends_with_its_exception_and_is_not_run_by_another) {
  job mine{locks_, nightly, due({.retries = 1})};
  job its{other_, nightly, due({.retries = 1})};
  EXPECT_THROW(mine.run(failing("no luck")), std::runtime_error);
  const auto other = its.run(counting());
  EXPECT_EQ(other.what, job_status::attempts_used_up);
  EXPECT_EQ(other.run.value().attempt, 2);
  EXPECT_EQ(done_, 0);
  EXPECT_EQ(mine.history().size(), 2U);
  EXPECT_EQ(successes(), 0);
}

TEST_P(doing_jobs, that_has_failed_may_be_run_by_another_after_the_wait) {
  job mine{locks_, nightly, due({.retries = 0})};
  EXPECT_THROW(mine.run(failing("no luck")), std::runtime_error);
  job patient{other_, nightly, due({.retries = 2, .retry_wait = 1h, .wait = 0ms})};
  const auto early = patient.run(counting());
  EXPECT_EQ(early.what, job_status::too_early);
  EXPECT_GT(early.again_in, 59min);
  EXPECT_LE(early.again_in, 1h);
  EXPECT_EQ(early.run.value().attempt, 1);
  job its{other_, nightly, due({.retries = 2, .retry_wait = 50ms})};
  EXPECT_EQ(its.run(counting()).what, job_status::succeeded);
  EXPECT_EQ(done_, 1);
}

// The database's clock was set back, and the last run ended later than now.
TEST_P(doing_jobs, waits_for_no_run_that_ended_in_the_future) {
  job mine{locks_, nightly, due({.retries = 1, .retry_wait = 1h, .wait = 0ms})};
  job its{other_, nightly, due({.retries = 0})};
  EXPECT_THROW(its.run(failing("no luck")), std::runtime_error);
  EXPECT_EQ(mine.run(counting()).what, job_status::too_early);
  db().execute("UPDATE rowlock_job_run SET finished_at = period_end");
  EXPECT_EQ(mine.run(counting()).what, job_status::succeeded);
  EXPECT_EQ(done_, 1);
}

TEST_P(doing_jobs, that_takes_too_long_is_stopped_and_recorded) {
  job mine{locks_, nightly, due({.timeout = 50ms})};
  const auto out = mine.run([](const std::stop_token& stop, const held_lock&) {
    wait_for(stop);
    throw error{errc::cancelled, "stopped"};
  });
  EXPECT_EQ(out.what, job_status::timed_out);
  EXPECT_EQ(mine.history().at(0).result, job_result::timed_out);
  EXPECT_EQ(successes(), 0);
}

TEST_P(doing_jobs, that_is_stopped_by_its_caller_has_failed) {
  job mine{locks_, nightly, due({.retries = 3})};
  std::stop_source end;
  EXPECT_THROW(mine.run(
                   [&](const std::stop_token& stop, const held_lock&) {
                     end.request_stop();
                     wait_for(stop);
                     throw error{errc::cancelled, "stopped"};
                   },
                   end.get_token()),
               error);
  ASSERT_EQ(mine.history().size(), 1U);
  EXPECT_EQ(mine.history()[0].result, job_result::failed);
}

// --- losses ----------------------------------------------------------------------------------------------------------

// A process that was paused for longer than its lease: another has taken over, and it is not aware of that.
TEST_P(doing_jobs, whose_lease_has_ended_records_no_success_whatever_another_client_has_done_since) {
  const struct {
    const char* does;
    bool holds;
    bool begins;
  } others[] = {{"nothing", false, false}, {"holds the name", true, false}, {"has begun", true, true}};
  for (const auto& another : others) {
    SCOPED_TRACE(another.does);
    const lock_name name{another.does};
    job mine{locks_, name, due({.retries = 1})};
    job its{other_, name, due({.retries = 1})};
    const auto held = locks_.acquire(name, with());
    const auto begun = mine.begin(held);
    ASSERT_EQ(begun.what, job_status::begun);
    EXPECT_EQ(its.history().at(0).result, job_result::running);
    db().expire(name.view());
    EXPECT_EQ(its.history().at(0).result, job_result::lost);
    held_lock theirs;
    job_outcome next;
    if (another.holds) theirs = other_.acquire(name, with());
    if (another.begins) {
      next = its.begin(theirs);
      ASSERT_EQ(next.what, job_status::begun);
      EXPECT_EQ(next.run.value().attempt, 2);
    }
    const auto late = mine.finish(held, *begun.run, {});
    EXPECT_EQ(late.what, job_status::lost);
    EXPECT_EQ(late.run.value().result, job_result::lost);
    EXPECT_EQ(mine.begin(held).what, job_status::lost);
    EXPECT_EQ(successes(), 0);
    if (!another.begins) continue;
    EXPECT_EQ(its.finish(theirs, *next.run, {}).what, job_status::succeeded);
    EXPECT_EQ(mine.finish(held, *begun.run, {}).what, job_status::lost);
    EXPECT_EQ(successes(), 1);
  }
}

TEST_P(doing_jobs, that_loses_its_lock_is_stopped_and_lost) {
  job mine{locks_, nightly, due({.lock = {.lease = 3s}})};
  const auto out = mine.run([&](const std::stop_token& stop, const held_lock&) {
    EXPECT_TRUE(other_.force_release(nightly));
    wait_for(stop);
  });
  EXPECT_EQ(out.what, job_status::lost);
  EXPECT_EQ(successes(), 0);
  EXPECT_EQ(mine.history().at(0).result, job_result::lost);
}

TEST_P(doing_jobs, whose_process_has_died_is_run_again) {
  auto dying = connect();
  {
    job mine{dying, nightly, due({.retries = 1})};
    const auto held = dying.acquire(nightly, with());
    const auto begun = mine.begin(held);
    ASSERT_EQ(begun.what, job_status::begun);
    dying.close();
    EXPECT_TRUE(throws(errc::client_closed, [&] { return mine.finish(held, *begun.run, {}); }));
  }
  job its{other_, nightly, due({.retries = 1})};
  const auto out = its.run(counting());
  EXPECT_EQ(out.what, job_status::succeeded);
  EXPECT_EQ(out.run.value().attempt, 2);
  const auto runs = its.history();
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[1].result, job_result::lost);
  EXPECT_TRUE(runs[1].finished_at.has_value());
}

TEST_P(doing_jobs, begins_one_run_under_one_lock_and_records_its_first_end) {
  const struct {
    job_ending how;
    std::string recorded;
  } endings[] = {
      {{.result = job_result::failed, .exit_status = 3, .output = "x\xff" + std::string(2000, 'y')},
       std::string(1024, 'y')},
      {{.result = job_result::killed, .signal = 9, .output = {"caf\xc3\xa9 \xff \0 end", 13}}, "caf\xc3\xa9 ? ? end"}};
  for (const auto& [how, recorded] : endings) {
    const lock_name name{to_string(how.result)};
    job mine{locks_, name, due({.retries = 5})};
    const auto held = locks_.acquire(name, with());
    const auto first = mine.begin(held);
    const auto second = mine.begin(held);
    EXPECT_EQ(second.what, job_status::begun);
    EXPECT_EQ(second.run.value().attempt, first.run.value().attempt);
    const auto ended = mine.finish(held, *first.run, how);
    EXPECT_EQ(ended.what, job_status::failed);
    EXPECT_EQ(mine.finish(held, *first.run, {}).what, job_status::failed) << "the first end counts";
    EXPECT_EQ(mine.begin(held).what, job_status::failed);
    const auto all = mine.history();
    ASSERT_EQ(all.size(), 1U);
    for (const auto& run : {*ended.run, all[0]}) {
      EXPECT_EQ(run.result, how.result);
      EXPECT_EQ(run.exit_status, how.exit_status);
      EXPECT_EQ(run.signal, how.signal);
      EXPECT_EQ(run.output, recorded);
    }
  }
}

// --- the rest --------------------------------------------------------------------------------------------------------

TEST_P(doing_jobs, of_all_names_are_listed) {
  for (const auto* name : {"b", "a", "a1"}) {
    job one{locks_, name, due({.retries = 1})};
    EXPECT_THROW(one.run(failing("no luck")), std::runtime_error);
  }
  const auto all = list_job_runs(other_, 1);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].job, lock_name{"a"});
  EXPECT_EQ(all[0].attempt, 2);
  EXPECT_EQ(all[2].job, lock_name{"b"});
  EXPECT_EQ(list_job_runs(other_, 10).size(), 6U);
  EXPECT_EQ((job{locks_, "a", due()}.history().size()), 2U);
}

TEST_P(doing_jobs, are_found_by_their_results_behind_many_others) {
  job mine{locks_, nightly, due({.retries = 9})};
  EXPECT_EQ(mine.run(counting()).what, job_status::succeeded);
  db().age_runs(period);
  for (int i = 0; i < 3; ++i)
    EXPECT_THROW(job(locks_, nightly, due({.retries = i})).run(failing("no luck")), std::runtime_error);
  const auto held = locks_.acquire(nightly, with());
  ASSERT_EQ(mine.begin(held).what, job_status::begun);
  const auto last = job{other_, nightly, due()}.history(1, runs_of::each_result);
  ASSERT_EQ(last.size(), 3U);
  EXPECT_EQ(last[0].result, job_result::running);
  EXPECT_EQ(last[1].result, job_result::failed);
  EXPECT_EQ(last[1].attempt, 3);
  EXPECT_EQ(last[2].result, job_result::succeeded);
  EXPECT_EQ(list_job_runs(other_, 2, runs_of::each_result).size(), 4U);
  EXPECT_EQ(list_job_runs(other_, 2).size(), 2U);
}

TEST_P(doing_jobs, are_forgotten_by_the_sweeper_but_for_the_last_ones) {
  succeed_in_periods(3);
  std::uint64_t forgotten = 0;
  const auto leaves = [&](const sweeper_options& how, std::size_t runs) {
    sweeper one{locks_, how};
    const bool has_swept = sweeps(one);
    forgotten += one.statistics().runs;
    return has_swept && list_job_runs(locks_, 10).size() == runs;
  };
  EXPECT_TRUE(leaves({.kept_runs = 1, .run_retention = 2 * period}, 2)) << "two have ended later";
  EXPECT_TRUE(leaves({.kept_runs = 1, .run_retention = 24h}, 1));
  EXPECT_TRUE(leaves({.kept_runs = 0, .run_retention = 24h * 3000}, 1));
  EXPECT_EQ(forgotten, 2U);
}

TEST_P(doing_jobs, are_forgotten_in_one_sweep_however_many_they_are) {
  constexpr int number = 7;
  succeed_in_periods(number);
  sweeper one{locks_, {.batch = 2, .kept_runs = 1, .run_retention = 24h}};
  EXPECT_TRUE(sweeps(one));
  EXPECT_EQ(list_job_runs(locks_, 10).size(), 1U);
  EXPECT_EQ(one.statistics().runs, number - 1U);
  EXPECT_EQ(locks_.stats().swept_runs, number - 1U);
}

TEST_P(doing_jobs, refuses_options_and_locks_that_do_not_fit) {
  const job_options refused[] = {{.every = 999ms},
                                 {.every = 24h * 367},
                                 {.every = 1h, .at = 3min},
                                 {.time_zone = "Europe/Nowhere"},
                                 {.early_by = -1ms},
                                 {.every = 1h, .early_by = 31min},
                                 {.retries = -1},
                                 {.retry_wait = -1ms},
                                 {.every = 1h, .timeout = 61min},
                                 {.lock = {.as = holder::named("me")}}};
  for (const auto& options : refused)
    EXPECT_TRUE(throws(errc::invalid_option, [&] { job{locks_, nightly, options}; })) << &options - refused;
  EXPECT_TRUE(throws(errc::unsupported, [&] { job{locks_, nightly, {.lock = {.strategy = strategy::for_update}}}; }));
  job mine{locks_, nightly, due()};
  const auto other = locks_.acquire("another", with());
  EXPECT_TRUE(throws(errc::invalid_option, [&] { return mine.begin(other); }));
  EXPECT_TRUE(throws(errc::not_held, [&] { return mine.begin(held_lock{}); }));
  const auto by_transaction = locks_.acquire(nightly, {.strategy = strategy::for_update});
  EXPECT_TRUE(throws(errc::unsupported, [&] { return mine.begin(by_transaction); }));
}

}  // namespace
}  // namespace rowlock::test
