#include <stop_token>

#include "support/slowness.hpp"
#include "transaction/transaction_test.hpp"

namespace rowlock::test {
namespace {

class waiting_lock_in : public transaction_test {
 protected:
  /// A wait in this transaction, on a thread of its own. Waits until it has settled down.
  auto wait_for(std::chrono::milliseconds time) {
    return [this, time](const std::stop_token& /*stop*/) { return tx().try_lock_in_for(locks(), "orders/42", time); };
  }
};
ROWLOCK_SUITE_IN(waiting_lock_in, each_place());
ROWLOCK_SUITE_LIKE_IN(waiting_lock_in_on_servers, waiting_lock_in, on_servers(each_place()));
ROWLOCK_SUITE_LIKE_IN(waiting_lock_in_beside_others, waiting_lock_in, beside_others(each_place()));
ROWLOCK_SUITE_LIKE_IN(waiting_lock_in_in_files, waiting_lock_in, in_files(each_place()));

TEST_P(waiting_lock_in, ends_in_time_behind_a_lease) {
  const auto held = others().acquire("orders/42");
  tx().begin();
  const stopwatch watch;
  const auto e = error_of([&] { EXPECT_FALSE(tx().try_lock_in_for(locks(), "orders/42", 300ms).has_value()); });
  if (GetParam().locks_file) {
    EXPECT_TRUE(!e || e->code() == errc::contention) << e->what();
  } else {
    EXPECT_FALSE(e.has_value()) << e->what();
    EXPECT_GE(watch.elapsed(), 300ms);
  }
  EXPECT_LT(watch.elapsed(), 300ms + on_this_machine(5s));
  EXPECT_EQ(tx().number(read_own), 0) << "the transaction is of use";
  tx().commit();
}

TEST_P(waiting_lock_in_beside_others, ends_in_time_behind_a_transaction) {
  const auto other = locked_elsewhere();
  tx().begin();
  if (is_on_server()) tx().statement("UPDATE own SET n = n + 1 WHERE id = 2");
  constexpr auto wait = 1100ms;  // long enough to wait in the database
  const stopwatch watch;
  EXPECT_FALSE(tx().try_lock_in_for(locks(), "orders/42", wait).has_value());
  EXPECT_GE(watch.elapsed(), wait);
  EXPECT_LT(watch.elapsed(), wait + on_this_machine(5s));
  tx().commit();
  other->commit();
  EXPECT_EQ(value(2), is_on_server() ? 1 : 0);
}

TEST_P(waiting_lock_in, of_no_time_tries_once) {
  make_rows({"orders/43"});
  const auto held = others().acquire("orders/42");
  tx().begin();
  for (const auto wait : {0ms, -1ms, std::chrono::milliseconds::min()}) {
    const stopwatch watch;
    EXPECT_FALSE(tx().try_lock_in_for(locks(), "orders/42", wait).has_value());
    EXPECT_LT(watch.elapsed(), on_this_machine(5s));
  }
  EXPECT_TRUE(tx().try_lock_in_for(locks(), "orders/43", 0ms).has_value());
  tx().commit();
}

// Law 8: whatever it waits for, and wherever.
TEST_P(waiting_lock_in_beside_others, ends_when_it_is_stopped) {
  const auto held = others().acquire("orders/42");
  const auto other = locked_elsewhere("orders/43");
  for (const auto* name : {"orders/42", "orders/43"}) {
    SCOPED_TRACE(name);
    tx().begin();
    background waiter{
        [&](std::stop_token stop) { return error_of([&] { tx().lock_in(locks(), name, {}, std::move(stop)); }); }};
    EXPECT_FALSE(waiter.is_done_within(a_moment));
    waiter.stop();
    const auto e = waiter.get();
    ASSERT_TRUE(is_error(e, errc::cancelled));
    EXPECT_EQ(tx().number(read_own), 0) << "the transaction is of use";
    tx().commit();
  }
  tx().begin();
  background waiter{
      [&](std::stop_token stop) { return tx().try_lock_in_for(locks(), "orders/42", 1h, {}, std::move(stop)); }};
  EXPECT_FALSE(waiter.is_done_within(a_moment));
  waiter.stop();
  EXPECT_FALSE(waiter.get().has_value());
  tx().commit();
  other->rollback();
}

TEST_P(waiting_lock_in_beside_others, has_it_when_the_lock_is_released) {
  for (const auto by : {strategy::unique_index, strategy::for_update}) {
    // There the transaction may have to begin again.
    if (by == strategy::for_update && GetParam().locks_reads && refuses_what_has_changed()) continue;
    auto held = others().acquire("orders/42", {.strategy = by});
    tx().begin();
    background waiter{[&](const std::stop_token& /*stop*/) {
      if (by == strategy::for_update) return tx().lock_in(locks(), "orders/42").token();
      return tx().try_lock_in_for(locks(), "orders/42", std::chrono::milliseconds::max()).value().token();
    }};
    EXPECT_FALSE(waiter.is_done_within(a_moment));
    const auto token = held.token();
    held.release();
    EXPECT_GT(waiter.get(), token);
    EXPECT_FALSE(can_have("orders/42"));
    tx().commit();
  }
}

TEST_P(waiting_lock_in_beside_others, has_it_when_the_lease_ends) {
  const auto held = others().acquire("orders/42", {.lease = 400ms, .renew = false});
  tx().begin();
  background waiter{wait_for(30s)};
  const auto lock = waiter.get();
  ASSERT_TRUE(lock.has_value());
  EXPECT_GT(lock->token(), held.token());
  tx().commit();
}

// Its first statement is lock_in, as above READ COMMITTED it must be.
TEST_P(waiting_lock_in_beside_others, has_it_when_a_name_that_was_let_go_of_early_need_not_stay_any_more) {
  auto held = others().acquire("orders/42", {.lease = 1h, .at_least = 1s});
  const auto end = db().row("orders/42").value().acquired_at.value() + std::chrono::microseconds{1s}.count();
  held.release();
  tx().begin();
  EXPECT_TRUE(tx().try_lock_in_for(locks(), "orders/42", patience).has_value());
  EXPECT_GE(db().now(), end);
  tx().commit();
}

TEST_P(waiting_lock_in_beside_others, has_it_when_the_other_transaction_ends) {
  if (GetParam().locks_reads && refuses_what_has_changed()) GTEST_SKIP() << "it may have to begin again";
  for (const bool commits : {true, false}) {
    const auto other = open();
    other->begin();
    const auto before = other->lock_in(others(), "orders/42");
    tx().begin();
    background waiter{wait_for(30s)};
    EXPECT_FALSE(waiter.is_done_within(a_moment));
    other->statement(write_own);
    commits ? other->commit() : other->rollback();
    const auto lock = waiter.get();
    ASSERT_TRUE(lock.has_value());
    EXPECT_GT(lock->token(), before.token());
    EXPECT_EQ(tx().number(read_own), 1) << "what was written under the lock before";
    tx().commit();
  }
}

// While it waits in the database, the other one locks the name once more, and is rolled back: of its last token only
// the clock knows.
TEST_P(waiting_lock_in_on_servers, has_a_greater_token_than_was_given_since_its_statement_began) {
  if (is_on("postgresql") && GetParam().keeps_snapshot) GTEST_SKIP() << "it does not wait in the database at first";
  const auto other = locked_elsewhere();
  tx().begin();
  background waiter{wait_for(30s)};
  ASSERT_TRUE(eventually([&] { return db().is_kept_waiting(); }));
  const auto last = other->lock_in(others(), "orders/42").token();
  other->rollback();
  const auto lock = waiter.get();
  ASSERT_TRUE(lock.has_value());
  EXPECT_GT(lock->token(), last);
  tx().commit();
}

TEST_P(waiting_lock_in_in_files, does_not_wait_for_what_it_is_in_the_way_of) {
  auto held = others().acquire("orders/42");
  tx().begin();
  tx().statement(write_own);
  EXPECT_TRUE(throws(errc::contention, [&] { tx().lock_in(locks(), "orders/42"); }));
  tx().commit();
  EXPECT_EQ(value(), 1) << "the transaction is of use";
  EXPECT_NO_THROW(held.release());
}

/// Two that want what the other one has.
class crossed_transactions : public transaction_test {};
ROWLOCK_SUITE_IN(crossed_transactions, on_servers(each_place()));

TEST_P(crossed_transactions, are_told_of_the_deadlock) {
  make_rows({"orders/42", "orders/43"});
  const auto other = open();
  tx().begin();
  other->begin();
  tx().lock_in(locks(), "orders/42");
  other->lock_in(others(), "orders/43");
  const auto cross = [](caller& by, client& with, const lock_name& name) -> std::optional<error> {
    auto e = error_of([&] { return by.lock_in(with, name); });
    e ? by.rollback() : by.commit();
    return e;
  };
  const stopwatch watch;
  background second{[&](const std::stop_token& /*stop*/) { return cross(*other, others(), "orders/42"); }};
  const auto here = cross(tx(), locks(), "orders/43");
  const auto there = second.get();
  EXPECT_LT(watch.elapsed(), 10s);
  EXPECT_NE(here.has_value(), there.has_value()) << "one of them goes on";
  const auto& e = here ? here : there;
  ASSERT_TRUE(is_error(e, errc::deadlock, {.is_retryable = true, .connection_is_unusable = false}));
  EXPECT_TRUE(can_have("orders/42"));
  EXPECT_TRUE(can_have("orders/43"));
}

/// The holder is the one who asks.
class own_lock : public transaction_test {};
ROWLOCK_SUITE_IN(own_lock, usual_places());

TEST_P(own_lock, of_the_thread_would_be_waited_for_in_vain) {
  mutex order{locks(), "orders/42"};
  order.lock();
  tx().begin();
  EXPECT_TRUE(throws(errc::would_deadlock, [&] { tx().lock_in(locks(), "orders/42"); }));
  EXPECT_TRUE(throws(errc::would_deadlock,
                     [&] { static_cast<void>(tx().try_lock_in_for(locks(), "orders/42", std::chrono::hours{1})); }));
  expect_of_use();
  order.unlock();
  tx().begin();
  EXPECT_NO_THROW(tx().lock_in(locks(), "orders/42"));
  tx().commit();
}

TEST_P(own_lock, of_a_named_holder_would_be_waited_for_in_vain) {
  const auto job = holder::named("job-7");
  auto held = locks().acquire("orders/42", {.as = job});
  tx().begin();
  EXPECT_TRUE(throws(errc::would_deadlock, [&] { tx().lock_in(locks(), "orders/42", {.as = job}); }));
  const std::vector<lock_name> names{"orders/43", "orders/44"};
  const auto together = locks().acquire_all(names, {.as = job});
  EXPECT_TRUE(throws(errc::would_deadlock, [&] { tx().lock_in(locks(), "orders/44", {.as = job}); }));
  EXPECT_FALSE(tx().try_lock_in(locks(), "orders/42", {.as = holder::named("job-8")}).has_value())
      << "another one may well let go";
  EXPECT_FALSE(tx().try_lock_in(locks(), "orders/42").has_value());
  tx().rollback();
  EXPECT_NO_THROW(held.release());
}

TEST_P(own_lock, of_another_thread_or_client_is_only_busy) {
  mutex order{locks(), "orders/42"};
  background elsewhere{[&](const std::stop_token& /*stop*/) {
    mutex same{locks(), "orders/43"};
    same.lock();
    return can_lock_in();
  }};
  EXPECT_TRUE(elsewhere.get());
  order.lock();
  background thread{[&](const std::stop_token& /*stop*/) { return can_lock_in(); }};
  EXPECT_FALSE(thread.get());
  tx().begin();
  EXPECT_FALSE(tx().try_lock_in(others(), "orders/42").has_value());
  tx().rollback();
  order.unlock();
}

}  // namespace
}  // namespace rowlock::test
