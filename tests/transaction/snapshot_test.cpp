#include <system_error>

#include "transaction/transaction_test.hpp"

// What is read under the lock is never older than the lock: where the transaction cannot see it, it has to begin again.

namespace rowlock::test {
namespace {

class reading_under_the_lock : public transaction_test {
 protected:
  /// As a program does that begins again whenever it is told to. What it read under the lock.
  std::int64_t increment_after(const std::string& first_statement) {
    tx().begin();
    if (!first_statement.empty()) tx().statement(first_statement);
    for (int i = 0; i < 3; ++i) {
      if (const auto read = try_to_increment()) return *read;
      tx().rollback();
      tx().begin();
    }
    ADD_FAILURE() << "it begins again and again";
    return -1;
  }

  /// What the transaction, which is open, reads in the end; nullopt: to be begun again.
  std::optional<std::int64_t> try_to_increment() try {
    // The limit is only for the test, or one that waits in vain would never end.
    if (!tx().try_lock_in_for(locks(), "orders/42", 4s)) {
      ADD_FAILURE() << "it waits for a name that is free";
      return std::nullopt;
    }
    const auto read = tx().number(read_own);
    tx().statement("UPDATE own SET n = " + std::to_string(read + 1) + " WHERE id = 1");
    tx().commit();
    return read;
  } catch (const error& e) {
    EXPECT_TRUE(e.is_retryable()) << e.what();
    ++refusals_;
    last_ = e.code();
    return std::nullopt;
  }

  int refusals_ = 0;
  std::error_code last_{};

  static constexpr const char* read_locks = "SELECT count(*) FROM rowlock_lock";
};
ROWLOCK_SUITE_IN(reading_under_the_lock, each_place());

TEST_P(reading_under_the_lock, without_a_read_before_needs_no_second_beginning) {
  for (int i = 0; i < 3; ++i) {
    const auto other = locked_elsewhere();
    other->statement(write_own);
    other->commit();
    EXPECT_EQ(increment_after(""), 2 * i + 1);
  }
  EXPECT_EQ(refusals_, 0) << last_.message();
  EXPECT_EQ(value(), 6);
}

TEST_P(reading_under_the_lock, with_a_read_before_and_nobody_in_between_needs_no_second_beginning) {
  make_rows({"orders/42"});
  EXPECT_EQ(increment_after(read_own), 0);
  EXPECT_EQ(increment_after(read_locks), 1);
  EXPECT_EQ(refusals_, 0) << last_.message();
  EXPECT_EQ(value(), 2);
}

/// Somebody bought and let go after the transaction's first read and before its lock.
class stale_reading : public reading_under_the_lock {
 protected:
  void buy_by_transaction() {
    const auto other = locked_elsewhere();
    other->statement(write_own);
    other->commit();
  }
  void buy_by_lease(strategy by) {
    const auto held = others().acquire("orders/42", {.strategy = by});
    open()->statement(write_own);
  }
  void expect_fresh(const std::string& first_statement, const std::function<void()>& buy) {
    const auto before = value();
    tx().begin();
    tx().statement(first_statement);
    buy();
    auto read = try_to_increment();
    if (GetParam().keeps_snapshot) {
      EXPECT_FALSE(read.has_value()) << "it cannot see what was bought";
      EXPECT_EQ(last_, errc::stale_snapshot) << last_.message();
    } else {
      EXPECT_EQ(refusals_, 0) << "it sees what was bought: " << last_.message();
    }
    if (!read) {
      tx().rollback();
      read = increment_after("");
    }
    EXPECT_EQ(read, before + 1);
    EXPECT_EQ(value(), before + 2);
  }
};
ROWLOCK_SUITE_LIKE_IN(stale_reading_beside_writers, stale_reading, beside_writers(each_place()));
ROWLOCK_SUITE_LIKE_IN(stale_reading_beside_others, stale_reading, beside_others(each_place()));

TEST_P(stale_reading_beside_writers, of_its_own_table_or_of_the_lock_table_is_refused) {
  make_rows({"orders/42"});
  for (const auto* first : {read_own, read_locks}) {
    expect_fresh(first, [&] { buy_by_transaction(); });
    for (const auto by : all_strategies) expect_fresh(first, [&] { buy_by_lease(by); });
  }
}

TEST_P(stale_reading_beside_writers, of_a_name_that_was_not_there_is_refused) {
  expect_fresh(read_own, [&] { buy_by_transaction(); });
}

TEST_P(stale_reading_beside_writers, of_a_name_that_was_held_is_refused) {
  for (const auto by : all_strategies) {
    auto held = others().acquire("orders/42", {.strategy = by});
    expect_fresh(read_own, [&] {
      open()->statement(write_own);
      held.release();
    });
  }
}

TEST_P(stale_reading_beside_writers, of_a_name_that_had_expired_is_refused) {
  const auto held = others().acquire("orders/42", {.lease = 1h, .renew = false});
  db().expire("orders/42");
  expect_fresh(read_own, [&] { open()->statement(write_own); });
}

// The row is made over another connection, where a transaction with a snapshot cannot see it.
TEST_P(stale_reading_beside_others, before_the_row_was_made_ends_with_the_lock) {
  EXPECT_EQ(increment_after(read_own), 0);
  EXPECT_EQ(value(), 1);
}

TEST_P(stale_reading_beside_writers, while_it_waits_is_refused) {
  make_rows({"orders/42"});
  const auto other = open();
  if (is_on_server()) {
    other->begin();
    other->lock_in(others(), "orders/42");
  }
  auto held = is_on_server() ? held_lock{} : others().acquire("orders/42");
  tx().begin();
  tx().statement(read_own);
  background waiter{[&](const std::stop_token& /*stop*/) { return try_to_increment(); }};
  EXPECT_FALSE(waiter.is_done_within(a_moment));
  other->statement(write_own);
  if (held) {
    held.release();
  } else {
    other->commit();
  }
  auto read = waiter.get();
  EXPECT_EQ(read.has_value(), !GetParam().keeps_snapshot);
  if (!read) {
    tx().rollback();
    read = increment_after("");
  }
  EXPECT_EQ(read, 1);
  EXPECT_EQ(value(), 2);
}

class with_strict_snapshots : public reading_under_the_lock {
 protected:
  void SetUp() override {
    if (tx().text("SHOW VARIABLES LIKE 'innodb_snapshot_isolation'").empty()) GTEST_SKIP() << "there are none";
    tx().statement("SET SESSION innodb_snapshot_isolation = ON");
    ASSERT_TRUE(refuses_what_has_changed());
  }
};
ROWLOCK_SUITE_IN(with_strict_snapshots, on("mysql", each_place()));

TEST_P(with_strict_snapshots, a_wait_ends_with_the_lock_or_is_to_be_begun_again) {
  const auto other = open();
  for (const bool reads : {false, true}) {
    const auto before = value();
    other->begin();
    other->lock_in(others(), "orders/42");
    tx().begin();
    if (reads) tx().statement("SELECT n FROM own WHERE id = 2");
    background waiter{[&](const std::stop_token& /*stop*/) {
      std::optional<std::int64_t> read;
      const auto e = error_of([&] { read = try_to_increment(); });
      EXPECT_TRUE(!e || e->code() == errc::stale_snapshot) << e->what();
      return read;
    }};
    EXPECT_FALSE(waiter.is_done_within(a_moment));
    other->statement(write_own);
    other->commit();
    if (!waiter.get()) {
      tx().rollback();
      increment_after("");
    }
    EXPECT_EQ(value(), before + 2);
  }
}

TEST_P(with_strict_snapshots, confirm_says_that_the_transaction_is_older_than_the_lock) {
  make_rows({"orders/42"});
  tx().begin();
  tx().statement(read_own);
  const auto held = locks().acquire("orders/42");
  const auto e = error_of([&] { tx().confirm(held); });
  EXPECT_TRUE(e ? e->code() == errc::stale_snapshot : !GetParam().keeps_snapshot);
  tx().rollback();
  EXPECT_FALSE(held.lost().stop_requested());
  tx().begin();
  EXPECT_NO_THROW(tx().confirm(held));
  tx().commit();
}

}  // namespace
}  // namespace rowlock::test
