#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "contract/contract.hpp"
#include "support/slowness.hpp"

namespace rowlock::test {
namespace {

constexpr auto short_call = 300ms;

/// The database does not answer for a while: somebody keeps it busy.
class stalled : public contract {
 protected:
  /// Nothing frees such a lock but its release.
  static lock_options long_lease() { return with({.lease = 1h}); }

  client connect_impatient(client_options options = {}) {
    connect().close();
    options.call_timeout = short_call;
    return connect_bare(options);
  }
};
ROWLOCK_CONTRACT_SUITE(stalled, every_pair());
class stalled_of_rows : public stalled {};
ROWLOCK_CONTRACT_SUITE(stalled_of_rows, rows(every_pair()));
class stalled_of_leases : public stalled {};
ROWLOCK_CONTRACT_SUITE(stalled_of_leases, leases(every_pair()));

TEST_P(stalled, a_try_fails_in_time_and_can_be_made_again) {
  auto locks = connect_impatient();
  auto in_the_way = db().stall();
  const stopwatch watch;
  const auto e = error_of([&] { return locks.try_acquire("orders/42", with()); });
  EXPECT_LT(watch.elapsed(), short_call + slack());
  ASSERT_TRUE(e.has_value());
  EXPECT_TRUE(e->is_retryable()) << e->what();
  in_the_way.reset();
  EXPECT_TRUE(locks.try_acquire_for("orders/42", patience, with()).has_value()) << "what was given up is undone";
}

TEST_P(stalled, a_timed_form_that_never_got_an_answer_throws) {
  auto locks = connect_impatient();
  auto in_the_way = db().stall();
  const stopwatch watch;
  const auto e = error_of([&] { return locks.try_acquire_for("orders/42", 1s, with()); });
  EXPECT_GE(watch.elapsed(), 1s) << "it rides failures out";
  EXPECT_LT(watch.elapsed(), 1s + short_call + slack());
  ASSERT_TRUE(e.has_value()) << "nothing is known of the name, so it is not busy";
  EXPECT_TRUE(e->is_retryable()) << e->what();
  mutex order{locks, "orders/42", with()};
  EXPECT_TRUE(error_of([&] { return order.try_lock_for(500ms); }).has_value());
  in_the_way.reset();
  EXPECT_TRUE(locks.try_acquire_for("orders/42", patience, with()).has_value()) << "what was given up is undone";
}

TEST_P(stalled, a_wait_rides_it_out_or_is_cancelled) {
  auto locks = connect_impatient();
  const auto waiting = [&](std::stop_token stop) { return locks.acquire("orders/42", with(), stop); };
  auto in_the_way = db().stall();
  background stopped{waiting};
  EXPECT_FALSE(stopped.is_done_within(a_moment));
  const stopwatch watch;
  stopped.stop();
  EXPECT_TRUE(throws(errc::cancelled, [&] { stopped.get().release(); }));
  EXPECT_LT(watch.elapsed(), slack());
  background waiter{waiting};
  EXPECT_FALSE(waiter.is_done_within(3 * short_call));
  in_the_way.reset();
  EXPECT_TRUE(static_cast<bool>(waiter.get()));
}

TEST_P(stalled_of_rows, letting_go_takes_no_longer_than_a_call_and_is_made_up_for) {
  struct way {
    void (*lets_go)(client& locks, std::vector<held_lock>& all);
    loss_reason reason;
  };
  const way ways[] = {
      {[](client& /*locks*/, std::vector<held_lock>& all) {
         EXPECT_TRUE(error_of([&] { return all.at(0).release(), true; }).has_value());
         EXPECT_FALSE(static_cast<bool>(all.at(0))) << "empty afterwards, always";
         all.clear();
       },
       loss_reason::none},
      {[](client& /*locks*/, std::vector<held_lock>& all) { all.clear(); }, loss_reason::none},
      {[](client& locks, std::vector<held_lock>& /*all*/) { locks.release_all(); }, loss_reason::forced},
      {[](client& locks, std::vector<held_lock>& /*all*/) { locks.close(); }, loss_reason::client_closed}};
  auto other = connect();
  for (const auto& each : ways) {
    const recorder told;
    auto locks = connect_impatient({.observer = told.observer()});
    std::vector<held_lock> all;
    const std::size_t number = each.reason == loss_reason::none ? 1 : 5;
    for (std::size_t i = 0; i < number; ++i) all.push_back(locks.acquire("job/" + std::to_string(i), long_lease()));
    auto in_the_way = db().stall();
    const stopwatch watch;
    each.lets_go(locks, all);
    EXPECT_LT(watch.elapsed(), short_call + slack());
    for (const auto& held : all) EXPECT_EQ(held.why_lost(), each.reason);
    if (&each == &ways[1]) {
      EXPECT_TRUE(eventually([&] { return !told.failures().empty(); }));
    }
    in_the_way.reset();
    if (each.reason == loss_reason::client_closed) continue;  // nobody is there to make up for it
    for (std::size_t i = 0; i < number; ++i)
      EXPECT_TRUE(eventually([&] { return can_have(other, "job/" + std::to_string(i)); })) << i;
  }
}

TEST_P(stalled_of_leases, a_lease_that_cannot_be_renewed_is_lost_while_the_call_hangs) {
  auto locks = connect();  // whose calls may take longer than the lease
  const auto held = locks.acquire("orders/42", with({.lease = 1s}));
  auto in_the_way = db().stall();
  const auto end = db().row("orders/42").value().expires_at.value();
  ASSERT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
  EXPECT_TRUE(held.why_lost() == loss_reason::unreachable || held.why_lost() == loss_reason::expired)
      << to_string(held.why_lost());
  EXPECT_LT(db().now() - end, std::chrono::microseconds{3s}.count()) << "not only when the call comes back";
  in_the_way.reset();
  EXPECT_GT(connect().acquire("orders/42", with()).token(), held.token()) << "it is never renewed";
}

TEST_P(stalled_of_leases, a_lease_that_outlives_it_is_kept) {
  auto locks = connect_impatient();
  const auto held = locks.acquire("orders/42", with({.lease = 6s}));
  const auto end = db().row("orders/42").value().expires_at.value();
  const auto start = db().now();
  auto in_the_way = db().stall();
  ASSERT_TRUE(eventually([&] { return db().now() > start + std::chrono::microseconds{2500ms}.count(); }));
  in_the_way.reset();
  EXPECT_TRUE(eventually([&] { return db().row("orders/42").value().expires_at.value() > end; }));
  EXPECT_FALSE(held.lost().stop_requested());
}

}  // namespace
}  // namespace rowlock::test
