#include <atomic>
#include <exception>

#include "server/server_test.hpp"
#include "support/slowness.hpp"
#include "support/test_thread.hpp"

// version_cas never waits for a lock on the row, and goes by more than the version. What it does in a file of SQLite,
// where no row can be locked: contract/.

namespace rowlock::test {
namespace {

class version_cas : public on_each_server {
 protected:
  static lock_options by_version(lock_options options = {}) {
    options.strategy = strategy::version_cas;
    return options;
  }

  /// As a renewal does that comes just in time and is committed late: the lease ends while the row is locked. false: it
  /// ended before, since the machine was slower than the lease was long.
  bool renew_at_the_last_moment(std::chrono::milliseconds lease) try {
    const bool is_postgresql = is_on("postgresql");
    const std::string clock = is_postgresql ? "clock_timestamp()" : "SYSDATE(6)";
    const auto set = [](const std::string& expiry) {
      return "UPDATE rowlock_lock SET expires_at = " + expiry + " WHERE name = 'orders/42'; ";
    };
    const auto left = std::to_string(lease.count());
    const auto seconds = std::to_string(static_cast<double>(lease.count()) * 0.0012);
    db().execute("START TRANSACTION; " +
                 set(clock + " + INTERVAL " + (is_postgresql ? "'" + left + " ms'" : left + "000 MICROSECOND")) +
                 "COMMIT; START TRANSACTION; " + set("expires_at") + "SELECT CASE WHEN expires_at > " + clock +
                 " THEN 1 ELSE (SELECT 1 UNION SELECT 2) END FROM rowlock_lock WHERE name = 'orders/42'; " +  // fails
                 (is_postgresql ? "SELECT pg_sleep(" + seconds + "); " : "DO SLEEP(" + seconds + "); ") +
                 set(clock + " + INTERVAL " + (is_postgresql ? "'1 hour'" : "1 HOUR")) + "COMMIT");
    return true;
  } catch (const std::exception&) {
    db().execute("ROLLBACK");
    return false;
  }
  void expect_no_grant_beside_late_renewals(std::chrono::milliseconds lease, bool& are_in_time) {
    auto holder = connect();
    const auto held = holder.acquire("orders/42", {.lease = long_lease});
    std::atomic<int> refusals{0};
    std::atomic<int> grants{0};
    std::vector<test_thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&](const std::stop_token& stop) {
        auto locks = connect();
        while (!stop.stop_requested()) ++(locks.try_acquire("orders/42", by_version()) ? grants : refusals);
      });
    ASSERT_TRUE(eventually([&] { return refusals > 10; }));
    are_in_time = true;
    for (int i = 0; i < 12 && are_in_time; ++i) are_in_time = renew_at_the_last_moment(lease);
    threads.clear();
    if (!are_in_time) return;
    EXPECT_EQ(grants, 0);
    EXPECT_GT(refusals, 100);
    EXPECT_TRUE(is_held_by("orders/42", held));
  }

  client locks_ = connect();
  client other_ = connect();
};
ROWLOCK_SUITE_ON_EACH_SERVER(version_cas);

TEST_P(version_cas, is_busy_at_once_where_a_row_is_locked_and_not_delayed_where_that_of_another_name_is) {
  enum state { vacant, expired, leased };
  for (const auto which : {vacant, expired, leased}) {
    SCOPED_TRACE(which);
    auto held = other_.acquire("orders/42", {.lease = long_lease});
    const auto last = held.token();
    if (which == vacant) held.release();
    if (which == expired) db().expire("orders/42");
    const auto before = db().row("orders/42").value().version;
    auto in_the_way = db().row_locked("orders/42");
    for (int i = 0; i < 5; ++i) {
      const stopwatch watch;
      EXPECT_FALSE(locks_.try_acquire("orders/42", by_version()).has_value());
      EXPECT_LT(watch.elapsed(), on_this_machine(1s));
    }
    const stopwatch watch;
    EXPECT_TRUE(locks_.try_acquire("orders/43", by_version()).has_value());
    EXPECT_LT(watch.elapsed(), on_this_machine(1s));
    EXPECT_EQ(db().row("orders/42").value().version, before);
    in_the_way.reset();
    const auto next = locks_.try_acquire("orders/42", by_version());
    EXPECT_EQ(next.has_value(), which != leased);
    EXPECT_TRUE(!next || next->token() > last);
  }
}

TEST_P(version_cas, waits_no_longer_than_asked_for_a_row_that_is_locked) {
  locks_.acquire("orders/42", by_version()).release();
  auto in_the_way = db().row_locked("orders/42");
  const stopwatch watch;
  EXPECT_FALSE(locks_.try_acquire_for("orders/42", 300ms, by_version()).has_value());
  EXPECT_GE(watch.elapsed(), 300ms);
  EXPECT_LT(watch.elapsed(), 300ms + on_this_machine(1s));
  background waiter{[&](std::stop_token stop) { return locks_.acquire("orders/42", by_version(), stop); }};
  EXPECT_FALSE(waiter.is_done_within(a_moment));
  in_the_way.reset();
  EXPECT_TRUE(is_held_by("orders/42", waiter.get()));
}

// A renewal does not change the version: whoever has read the row as expired must look at the time once more.
TEST_P(version_cas, is_not_granted_what_was_renewed_since_it_was_read) {
  bool are_in_time = false;
  for (auto lease = 100ms; !are_in_time && lease < 2s; lease *= 2) {
    expect_no_grant_beside_late_renewals(lease, are_in_time);
    if (HasFatalFailure()) return;
  }
  EXPECT_TRUE(are_in_time);
}

TEST_P(version_cas, of_many_at_once_grants_one) {
  constexpr int rounds = 10;
  constexpr int threads = 8;
  for (int i = 0; i < rounds; ++i) {
    const auto name = "job/" + std::to_string(i / 2);  // missing, then vacant
    std::atomic<int> granted{0};
    std::atomic<int> finished{0};
    on_threads(threads, [&](int /*i*/) {
      const auto held = locks_.try_acquire(name, by_version());
      if (held) ++granted;
      ++finished;
      static_cast<void>(eventually([&] { return finished == threads; }));
    });
    EXPECT_EQ(granted, 1) << "round " << i;
  }
}

}  // namespace
}  // namespace rowlock::test
