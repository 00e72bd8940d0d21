#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/period.hpp"
#include "server/steps.hpp"
#include "store/jobs.hpp"
#include "support/databases.hpp"
#include "support/recorder.hpp"

// What the statements about runs of jobs do and must not do, without a client around them.

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using time = std::chrono::sys_time<duration>;

constexpr std::string_view nightly = "nightly";
constexpr std::string_view mine = "0123456789abcdef0000000000000001";
constexpr std::string_view others = "fedcba98765432100000000000000002";

/// How a lock was lost.
enum class loss : std::uint8_t { taken_over, expired, freed };

class run_statements : public on_each_database {
 protected:
  run_statements() {
    client::connect(db().url(), {.observer = silent()}).migrate();
    steps_.emplace(db().url());
    take(mine);
  }

  void take(std::string_view acquisition) {
    const auto attempt = attempt_at(nightly, acquisition, 1h);
    ASSERT_EQ(steps_->acquire({&attempt, 1}).size(), 1U);
    ASSERT_EQ(db().row(nightly).value().acquisition, std::string{acquisition});
  }
  void lose(loss how) {
    if (how == loss::expired) return db().expire(nightly);
    db().vacate(nightly);
    if (how == loss::taken_over) take(others);
  }

  static store::job_lock lock(std::int64_t token, std::string_view acquisition = mine,
                              std::string_view name = nightly) {
    return {.name = name, .acquisition = acquisition, .token = fencing_token{token}};
  }
  /// The periods of an hour; 0 is the one that contains the present.
  core::period period(int number) {
    const auto now = core::schedule{1h}.at(time{duration{now_}});
    return {now.begin + number * 1h, now.end + number * 1h};
  }
  template <class Write>
  void run(Write write) {
    const auto until = steps::limits();
    write(store::access{.sheet = steps_->sql(), .session = steps_->session(), .until = until});
  }
  void close(const store::job_lock& by) {
    run([&](const store::access& on) { store::close_runs(on, by); });
  }
  void begin(const store::job_lock& by, int in = 0, int most = 10, duration wait = {}) {
    run([&](const store::access& on) { store::begin_run(on, by, period(in), most, wait); });
  }
  void end(const store::job_lock& by, job_result result = job_result::succeeded, int in = 0) {
    run([&](const store::access& on) { store::end_run(on, by, period(in).begin, {.result = result}); });
  }
  void forget(std::size_t kept, duration retention, std::size_t number = 100) {
    run([&](const store::access& on) { store::forget_runs(on, kept, retention, number); });
  }

  /// "0.1 7 failed": the period, the attempt, the token and the result of each.
  std::vector<std::string> runs() {
    std::vector<std::string> out;
    for (const auto& each : db().runs())
      out.push_back(std::to_string((each.period_begin - period(0).begin.time_since_epoch().count()) / an_hour) + "." +
                    std::to_string(each.attempt) + " " + std::to_string(each.token) + " " +
                    each.result.value_or("open"));
    return out;
  }
  using all = std::vector<std::string>;
  static constexpr std::int64_t an_hour = std::chrono::microseconds{1h}.count();

  std::optional<steps> steps_;
  const std::int64_t now_ = db().now();
};
ROWLOCK_SUITE_ON_EACH_DATABASE(run_statements);

TEST_P(run_statements, change_nothing_by_a_lock_that_is_lost) {
  for (const auto how : {loss::taken_over, loss::expired, loss::freed}) {
    SCOPED_TRACE(static_cast<int>(how));
    db().execute("DELETE FROM rowlock_job_run");
    begin(lock(1));
    begin(lock(2));
    const auto before = runs();
    ASSERT_EQ(before, (all{"0.1 1 open", "0.2 2 open"}));
    lose(how);
    close(lock(2));
    begin(lock(3));
    begin(lock(2), 1);
    end(lock(2));
    EXPECT_EQ(runs(), before);
    if (how == loss::taken_over) db().vacate(nightly);
    take(mine);
  }
}

TEST_P(run_statements, close_open_runs_of_earlier_locks_alone) {
  begin(lock(1), -1);
  begin(lock(2));
  end(lock(2), job_result::failed);
  begin(lock(3));
  begin(lock(4));
  db().execute("UPDATE rowlock_job_run SET job = 'other' WHERE token = 1");
  close(lock(4));
  EXPECT_EQ(runs(), (all{"0.1 2 failed", "0.2 3 lost", "0.3 4 open", "-1.1 1 open"}));
}

TEST_P(run_statements, begin_no_run_after_a_success) {
  begin(lock(1));
  end(lock(1));
  begin(lock(2));
  EXPECT_EQ(runs(), all{"0.1 1 succeeded"});
  begin(lock(2), 1);
  begin(lock(3), -1);
  EXPECT_EQ(runs(), (all{"-1.1 3 open", "0.1 1 succeeded", "1.1 2 open"})) << "another period";
}

TEST_P(run_statements, begin_one_run_under_one_lock_in_a_period) {
  begin(lock(1));
  begin(lock(1));
  EXPECT_EQ(runs(), all{"0.1 1 open"});
  end(lock(1), job_result::failed);
  begin(lock(1));
  EXPECT_EQ(runs(), all{"0.1 1 failed"});
  begin(lock(1), 1);
  EXPECT_EQ(runs(), (all{"0.1 1 failed", "1.1 1 open"}));
}

TEST_P(run_statements, begin_as_many_runs_as_may_be) {
  for (const std::int64_t token : {1, 2, 3, 4}) begin(lock(token), 0, 3);
  EXPECT_EQ(runs(), (all{"0.1 1 open", "0.2 2 open", "0.3 3 open"}));
  begin(lock(5), 1, 3);
  EXPECT_EQ(runs().size(), 4U);
}

TEST_P(run_statements, begin_no_run_for_a_time_after_one_that_has_ended) {
  begin(lock(1));
  end(lock(1), job_result::failed);
  begin(lock(2), 0, 10, 1h);
  EXPECT_EQ(runs().size(), 1U);
  begin(lock(2), 1, 10, 1h);
  EXPECT_EQ(runs().size(), 2U) << "another period";
  db().execute("UPDATE rowlock_job_run SET finished_at = period_end WHERE token = 1");
  begin(lock(3), 0, 10, 1h);
  EXPECT_EQ(runs().size(), 3U) << "it has ended before the clock was set back";
}

TEST_P(run_statements, end_their_own_run_and_once) {
  begin(lock(1));
  begin(lock(2));
  begin(lock(2), 1);
  end(lock(2), job_result::failed);
  EXPECT_EQ(runs(), (all{"0.1 1 open", "0.2 2 failed", "1.1 2 open"}));
  end(lock(2), job_result::succeeded);
  EXPECT_EQ(runs(), (all{"0.1 1 open", "0.2 2 failed", "1.1 2 open"}));
  close(lock(2));
  end(lock(1), job_result::succeeded);
  EXPECT_EQ(runs(), (all{"0.1 1 lost", "0.2 2 failed", "1.1 2 open"})) << "it was closed";
}

TEST_P(run_statements, forget_old_runs_and_not_the_last) {
  for (const int hours : {-4, -3, -2, 0}) begin(lock(10 + hours), hours);
  forget(4, 0s);
  EXPECT_EQ(runs().size(), 4U);
  forget(0, 4h + 1min);
  EXPECT_EQ(runs().size(), 4U) << "the first has ended three hours ago, or up to four";
  forget(1, 0s, 1);
  EXPECT_EQ(runs(), (all{"-3.1 7 open", "-2.1 8 open", "0.1 10 open"}));
  forget(2, 0s);
  EXPECT_EQ(runs(), (all{"-2.1 8 open", "0.1 10 open"}));
  forget(0, 0s);
  EXPECT_EQ(runs(), all{"0.1 10 open"}) << "its period has not ended";
}

TEST_P(run_statements, forget_none_of_the_last_of_each_job) {
  begin(lock(1), -5);
  begin(lock(2), -4);
  db().execute("UPDATE rowlock_job_run SET job = 'another'");
  begin(lock(3), -3);
  begin(lock(4), -2);
  begin(lock(5), -2);
  forget(2, 0s);
  EXPECT_EQ(runs(), (all{"-5.1 1 open", "-4.1 2 open", "-2.1 4 open", "-2.2 5 open"}));
  forget(1, 0s);
  EXPECT_EQ(runs(), (all{"-4.1 2 open", "-2.2 5 open"}));
}

// So no other client is granted the name until what they have written is committed, even if the lease ends meanwhile.
TEST_P(run_statements, keep_the_row_of_the_lock_until_they_are_committed) {
  if (GetParam().name == "sqlite") GTEST_SKIP() << "one connection writes at a time";
  const auto free_rows = [&] {
    return db().number(
        "SELECT count(*) FROM (SELECT name FROM rowlock_lock WHERE name = 'nightly' FOR UPDATE SKIP LOCKED) s");
  };
  begin(lock(5));
  const std::vector<std::function<void()>> all_writes{[&] { close(lock(7)); }, [&] { begin(lock(7), 1); },
                                                      [&] { end(lock(5), job_result::failed); }};
  auto& session = steps_->session();
  for (const auto& write : all_writes) {
    SCOPED_TRACE(&write - all_writes.data());
    EXPECT_EQ(free_rows(), 1);
    session.begin(steps::limits());
    write();
    EXPECT_EQ(free_rows(), 0);
    session.rollback(steps::limits());
  }
}

}  // namespace
}  // namespace rowlock::test
