#include <atomic>

#include "server/server_test.hpp"
#include "support/test_thread.hpp"

namespace rowlock::test {
namespace {

/// Somebody's transaction has a row locked: as a foreign key to it would, or for good.
class pinned_row : public on_each_server {
 protected:
  [[nodiscard]] std::unique_ptr<obstacle> pin() { return db().row_pinned("orders/42"); }

  client locks_ = connect();
};
ROWLOCK_SUITE_ON_EACH_SERVER(pinned_row);

TEST_P(pinned_row, or_a_locked_one_is_released_when_it_is_free) {
  const recorder told;
  auto locks = connect({.observer = told.observer()});
  for (const bool is_pinned : {true, false})
    for (const bool by_destructor : {false, true}) {
      SCOPED_TRACE(testing::Message() << is_pinned << by_destructor);
      auto held = locks.acquire("orders/42", {.lease = long_lease});
      const auto lost = held.lost();
      auto in_the_way = is_pinned ? pin() : db().row_locked("orders/42");
      EXPECT_NO_THROW(by_destructor ? static_cast<void>(held = held_lock{}) : held.release());
      EXPECT_FALSE(is_vacant("orders/42")) << "the owner is there until then";
      in_the_way.reset();
      EXPECT_TRUE(eventually(soon, [&] { return is_vacant("orders/42"); }));
      EXPECT_FALSE(lost.stop_requested());
    }
  EXPECT_TRUE(told.failures().empty());
}

TEST_P(pinned_row, is_released_by_closing_when_the_pin_is_gone) {
  auto held = locks_.acquire("orders/42", {.lease = long_lease});
  auto in_the_way = pin();
  held.release();
  let_pass(2s);  // by now it is tried but rarely
  in_the_way.reset();
  locks_.close();
  EXPECT_TRUE(is_vacant("orders/42"));
}

TEST_P(pinned_row, of_a_released_lock_is_given_to_no_one_before) {
  auto held = locks_.acquire("orders/42", {.lease = long_lease});
  auto in_the_way = pin();
  held.release();
  background waiter{[&](std::stop_token stop) { return connect().acquire("orders/42", {}, stop).token(); }};
  EXPECT_FALSE(waiter.is_done_within(a_moment));
  in_the_way.reset();
  EXPECT_GT(waiter.get(), fencing_token{});
}

TEST_P(pinned_row, is_renewed_and_extended) {
  if (!db().pins_let_renew()) GTEST_SKIP() << "here no lock of a row lets others change what is no key";
  auto held = locks_.acquire("orders/42", {.lease = 3s});
  const auto in_the_way = pin();
  EXPECT_TRUE(is_renewed("orders/42"));
  EXPECT_FALSE(held.lost().stop_requested());
  EXPECT_NO_THROW(held.extend(long_lease));
}

TEST_P(pinned_row, that_is_vacant_is_busy_until_the_pin_is_gone) {
  locks_.acquire("orders/42").release();
  auto in_the_way = pin();
  const stopwatch watch;
  EXPECT_FALSE(locks_.try_acquire("orders/42").has_value());
  EXPECT_LT(watch.elapsed(), on_this_machine(1s)) << "a try does not wait for it";
  background waiter{waiting(locks_)};
  EXPECT_FALSE(waiter.is_done_within(a_moment));
  in_the_way.reset();
  EXPECT_TRUE(is_held_by("orders/42", waiter.get()));
}

TEST_P(pinned_row, does_not_delay_other_names) {
  locks_.acquire("orders/42").release();
  const auto in_the_way = db().row_locked("orders/42");
  EXPECT_TRUE(locks_.try_acquire("orders/43").has_value());
}

class locked_row : public pinned_row {};
ROWLOCK_SUITE_ON_EACH_SERVER(locked_row);

TEST_P(locked_row, is_renewed_when_it_is_free_within_the_lease) {
  const auto held = locks_.acquire("orders/42", {.lease = 5s});
  auto in_the_way = db().row_locked("orders/42");
  let_pass(2500ms);
  in_the_way.reset();
  EXPECT_TRUE(is_renewed("orders/42"));
  EXPECT_FALSE(held.lost().stop_requested());
}

TEST_P(locked_row, does_not_delay_the_renewal_of_others) {
  const auto held = locks_.acquire("orders/42", {.lease = 3s});
  const auto beside = locks_.acquire("orders/43", {.lease = 3s});
  const auto in_the_way = db().row_locked("orders/42");
  EXPECT_TRUE(is_renewed("orders/43"));
  EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); })) << "its lease cannot be renewed";
  EXPECT_FALSE(beside.lost().stop_requested());
}

TEST_P(locked_row, cannot_be_extended_and_is_still_held) {
  auto held = locks_.acquire("orders/42", {.lease = long_lease});
  auto in_the_way = db().row_locked("orders/42");
  EXPECT_TRUE(throws(errc::call_timed_out, [&] { held.extend(2 * long_lease); }));
  in_the_way.reset();
  EXPECT_NO_THROW(held.extend(long_lease));
}

// As by a statement of another client, until it is committed: nobody holds the name.
TEST_P(locked_row, that_is_free_soon_is_no_reason_to_be_refused) {
  const auto beside_a_short_lock = [&](auto&& call) {
    auto in_the_way = db().row_locked("orders/42");
    background one{[&](const std::stop_token&) { return succeeds(call); }};
    static_cast<void>(one.is_done_within(30ms));
    in_the_way.reset();
    return one.get();
  };
  // Another time where this thread did not run for so long that the call was over.
  const auto happens = [&](auto call) { return eventually(soon, [&] { return beside_a_short_lock(call); }); };
  locks_.acquire("orders/42").release();
  for (const auto by : {strategy::unique_index, strategy::version_cas})
    EXPECT_TRUE(happens([&] { return locks_.try_acquire("orders/42", {.strategy = by}).has_value(); }))
        << to_string(by);
  EXPECT_TRUE(happens([&] { return locks_.try_acquire_all({"orders/42", "orders/43"}).has_value(); }));
  const auto beside = locks_.acquire("orders/43", {.lease = long_lease});
  for (const lock_options& how : {lock_options{}, {.strategy = strategy::version_cas}, {.fairness = fairness::fifo}})
    EXPECT_TRUE(happens([&] { return locks_.try_acquire_any({"orders/42", "orders/43"}, how).has_value(); }));
  auto held = locks_.acquire("orders/42", {.lease = long_lease});
  EXPECT_TRUE(happens([&] { return held.extend(long_lease), true; }));
}

/// Tries that are refused, all the time.
class refused_tries : public on_each_server {};
ROWLOCK_SUITE_ON_EACH_SERVER(refused_tries);

TEST_P(refused_tries, do_not_keep_a_lock_from_being_renewed_and_released) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", {.lease = 2s});
  std::atomic<int> refusals{0};
  std::atomic<int> grants{0};
  std::vector<test_thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&](const std::stop_token& stop) {
      auto other = connect();
      while (!stop.stop_requested()) ++(other.try_acquire("orders/42") ? grants : refusals);
    });
  EXPECT_TRUE(eventually([&] { return refusals > 100; }));
  EXPECT_TRUE(is_renewed("orders/42"));
  EXPECT_FALSE(held.lost().stop_requested()) << to_string(held.why_lost());
  EXPECT_EQ(grants, 0);
  EXPECT_NO_THROW(held.release());
  EXPECT_TRUE(eventually(soon, [&] { return grants > 0; }));
}

}  // namespace
}  // namespace rowlock::test
