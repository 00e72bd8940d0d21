#include <memory>
#include <optional>
#include <string>

#include "postgresql/server_test.hpp"
#include "postgresql/steps.hpp"

namespace rowlock::test {
namespace {

constexpr auto long_lease = 60s;
constexpr auto soon = 10s;

/// Somebody's transaction has a row locked: as a foreign key to it would, or for good.
class pinned_row : public server_test {
 protected:
  [[nodiscard]] std::unique_ptr<obstacle> pin() {
    return db().transaction("SELECT FROM rowlock_lock WHERE name = 'orders/42' FOR KEY SHARE");
  }
};

TEST_F(pinned_row, is_released_when_the_pin_is_gone) {
  const recorder told;
  auto locks = connect({.observer = told.observer()});
  auto held = locks.acquire("orders/42", {.lease = long_lease});
  const auto lost = held.lost();
  auto in_the_way = pin();
  EXPECT_NO_THROW(held.release());
  EXPECT_FALSE(is_vacant("orders/42")) << "a pin keeps the owner there";
  in_the_way.reset();
  EXPECT_TRUE(eventually(soon, [&] { return is_vacant("orders/42"); }));
  EXPECT_FALSE(lost.stop_requested());
  EXPECT_TRUE(told.failures().empty());
}

TEST_F(pinned_row, is_released_by_a_destructor_when_the_pin_is_gone) {
  const recorder told;
  auto locks = connect({.observer = told.observer()});
  std::unique_ptr<obstacle> in_the_way;
  {
    const auto held = locks.acquire("orders/42", {.lease = long_lease});
    in_the_way = pin();
  }
  EXPECT_FALSE(is_vacant("orders/42"));
  in_the_way.reset();
  EXPECT_TRUE(eventually(soon, [&] { return is_vacant("orders/42"); }));
  EXPECT_TRUE(told.failures().empty());
}

TEST_F(pinned_row, is_released_by_closing_when_the_pin_is_gone) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", {.lease = long_lease});
  auto in_the_way = pin();
  held.release();
  let_pass(2s);  // by now it is tried but rarely
  in_the_way.reset();
  locks.close();
  EXPECT_TRUE(is_vacant("orders/42"));
}

TEST_F(pinned_row, of_a_released_lock_is_given_to_no_one_before) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", {.lease = long_lease});
  auto in_the_way = pin();
  held.release();
  background waiter{[&](std::stop_token stop) { return connect().acquire("orders/42", {}, stop).token(); }};
  EXPECT_FALSE(waiter.is_done_within(a_moment));
  in_the_way.reset();
  EXPECT_GT(waiter.get(), fencing_token{});
}

TEST_F(pinned_row, is_renewed) {
  auto locks = connect();
  const auto held = locks.acquire("orders/42", {.lease = 3s});
  const auto in_the_way = pin();
  EXPECT_TRUE(is_renewed("orders/42"));
  EXPECT_FALSE(held.lost().stop_requested());
}

TEST_F(pinned_row, is_extended) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", {.lease = long_lease});
  const auto in_the_way = pin();
  EXPECT_NO_THROW(held.extend(2 * long_lease));
}

TEST_F(pinned_row, that_is_vacant_is_busy_until_the_pin_is_gone) {
  auto locks = connect();
  locks.acquire("orders/42").release();
  auto in_the_way = pin();
  const stopwatch watch;
  EXPECT_FALSE(locks.try_acquire("orders/42").has_value());
  EXPECT_LT(watch.elapsed(), 1s) << "a try does not wait for it";
  background waiter{[&](std::stop_token stop) { return locks.acquire("orders/42", {}, stop); }};
  EXPECT_FALSE(waiter.is_done_within(a_moment));
  in_the_way.reset();
  EXPECT_TRUE(is_held_by("orders/42", waiter.get()));
}

TEST_F(pinned_row, does_not_delay_other_names) {
  auto locks = connect();
  locks.acquire("orders/42").release();
  const auto in_the_way = db().row_locked("orders/42");
  EXPECT_TRUE(locks.try_acquire("orders/43").has_value());
}

class locked_row : public server_test {};

TEST_F(locked_row, is_renewed_when_it_is_free_within_the_lease) {
  auto locks = connect();
  const auto held = locks.acquire("orders/42", {.lease = 5s});
  auto in_the_way = db().row_locked("orders/42");
  let_pass(2500ms);
  in_the_way.reset();
  EXPECT_TRUE(is_renewed("orders/42"));
  EXPECT_FALSE(held.lost().stop_requested());
}

TEST_F(locked_row, does_not_delay_the_renewal_of_others) {
  auto locks = connect();
  const auto held = locks.acquire("orders/42", {.lease = 3s});
  const auto beside = locks.acquire("orders/43", {.lease = 3s});
  const auto in_the_way = db().row_locked("orders/42");
  EXPECT_TRUE(is_renewed("orders/43"));
  EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); })) << "its lease cannot be renewed";
  EXPECT_FALSE(beside.lost().stop_requested());
}

TEST_F(locked_row, cannot_be_extended_and_is_still_held) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", {.lease = long_lease});
  auto in_the_way = db().row_locked("orders/42");
  EXPECT_TRUE(throws(errc::call_timed_out, [&] { held.extend(long_lease); }));
  in_the_way.reset();
  EXPECT_NO_THROW(held.extend(long_lease));
}

TEST_F(locked_row, is_released_when_it_is_free) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", {.lease = long_lease});
  auto in_the_way = db().row_locked("orders/42");
  EXPECT_NO_THROW(held.release());
  in_the_way.reset();
  EXPECT_TRUE(eventually(soon, [&] { return is_vacant("orders/42"); }));
}

/// A try that was refused, in a transaction that is still open.
class refused_try : public server_test {
 protected:
  template <class Look>
  void while_it_is_open(Look look) {
    steps other{db().url()};
    const strategies::attempt one{.name = "orders/42",
                                  .owner = "other:1:1:1",
                                  .thread = "1",
                                  .acquisition = "other",
                                  .note = {},
                                  .lease = long_lease};
    other.session().exclusively(
        [&] {
          EXPECT_EQ(other.acquire({&one, 1}).at(0).what, strategies::verdict::busy);
          look();
        },
        steps::limits());
  }
};

TEST_F(refused_try, does_not_delay_a_renewal) {
  auto locks = connect();
  const auto held = locks.acquire("orders/42", {.lease = 2s});
  while_it_is_open([&] { EXPECT_TRUE(is_renewed("orders/42")); });
  EXPECT_FALSE(held.lost().stop_requested());
}

TEST_F(refused_try, does_not_delay_a_release) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", {.lease = long_lease});
  while_it_is_open([&] {
    held.release();
    EXPECT_TRUE(is_vacant("orders/42"));
  });
}

TEST_F(refused_try, writes_nothing) {
  auto locks = connect();
  const auto held = locks.acquire("orders/42", {.lease = long_lease});
  while_it_is_open([&] {
    const auto with_a_number =
        "SELECT count(*) FROM pg_stat_activity WHERE backend_xid IS NOT NULL AND usename = '" + db().name() + "'";
    EXPECT_EQ(db().number(with_a_number), 0) << "a transaction that locks or changes a row has a number";
  });
}

}  // namespace
}  // namespace rowlock::test
