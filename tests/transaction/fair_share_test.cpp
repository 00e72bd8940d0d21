#include <atomic>
#include <stop_token>
#include <thread>

#include "support/late_machine.hpp"
#include "support/test_thread.hpp"
#include "transaction/transaction_test.hpp"

namespace rowlock::test {
namespace {

/// Threads that acquire and release one name again and again, as leases.
class busy_threads {
 public:
  busy_threads(client& locks, int number) {
    for (int i = 0; i < number; ++i)
      all_.emplace_back([&locks, this](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          locks.acquire("orders/42").release();
          ++cycles_;
        }
      });
  }
  bool are_busy() const { return cycles_ > 20; }

 private:
  std::atomic<int> cycles_{0};
  std::vector<test_thread> all_;
};

/// Beside leases that come and go without a pause.
class transaction_beside_leases : public transaction_test {
 protected:
  // In a file all who write wait for each other, so its calls have the usual limit, as those of others() have not.
  client leases_ = connect();
  // A tenure of another client, and what a busy machine adds.
  const duration soon_ = client_options{}.handover_limit + slack();

  // A transaction that cannot give back what it has locked may find the name taken just then, and has to begin again:
  // in a file, and on MySQL above READ COMMITTED.
  bool locks_at_last() {
    return eventually([&] {
      tx().begin();
      bool is_locked = false;
      const auto why = error_of([&] { is_locked = tx().try_lock_in_for(locks(), "orders/42", patience).has_value(); });
      is_locked ? tx().commit() : tx().rollback();
      EXPECT_TRUE(!why || why->is_retryable()) << why->what();
      return is_locked;
    });
  }
  void expect_turns(client& of, int number) {
    busy_threads busy{of, number};
    ASSERT_TRUE(eventually([&] { return busy.are_busy(); }));
    for (int i = 0; i < 10; ++i) {
      const late_machine machine;
      const stopwatch watch;
      EXPECT_TRUE(locks_at_last());
      EXPECT_LT(watch.elapsed(), soon_ + 10 * machine.by());
    }
  }
};
ROWLOCK_SUITE_IN(transaction_beside_leases, beside_others(usual_places()));

TEST_P(transaction_beside_leases, has_its_turn_with_lock_in) { expect_turns(leases_, 2); }

TEST_P(transaction_beside_leases, has_its_turn_among_many) { expect_turns(leases_, 8); }

TEST_P(transaction_beside_leases, has_its_turn_optimistically) {
  busy_threads busy{leases_, 2};
  ASSERT_TRUE(eventually([&] { return busy.are_busy(); }));
  for (int i = 0; i < 5; ++i) {
    const late_machine machine;
    const stopwatch watch;
    tx().optimistically_without_result(locks(), "orders/42", [&] { tx().statement(write_own); });
    EXPECT_LT(watch.elapsed(), soon_ + 10 * machine.by());
  }
  EXPECT_EQ(value(), 5);
}

TEST_P(transaction_beside_leases, has_its_turn_beside_its_own_client) {
  expect_turns(locks(), 2);
  expect_turns(locks(), 8);
}

// No thread relies on it, as while a lease is being granted or released.
TEST_P(transaction_beside_leases, waits_in_turn_for_what_its_own_client_has_let_go) {
  locks().acquire("orders/42", {.lease = 1min, .at_least = 1min}).release();
  background waiter{[&](const std::stop_token& /*stop*/) { return locks_at_last(); }};
  EXPECT_TRUE(eventually([&] { return db().tickets() == 1; }));
  others().force_release("orders/42");
  EXPECT_TRUE(waiter.get());
}

}  // namespace
}  // namespace rowlock::test
