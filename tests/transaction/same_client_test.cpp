#include <stdexcept>

#include "support/where.hpp"
#include "transaction/transaction_test.hpp"

// A transaction that locks what its own client had by a lease: it sees all that was done under that lease, also where
// another transaction of the client has confirmed it and commits late.

namespace rowlock::test {
namespace {

constexpr const char* the_name = "orders/42";

class same_client : public transaction_test {
 protected:
  same_client() {
    make_rows({the_name});
    tx().statement("CREATE TABLE journal (n BIGINT NOT NULL)");
  }

  static void work(caller& by) { by.statement("INSERT INTO journal (n) VALUES (1)"); }
  static void read(caller& by) { by.statement("SELECT count(*) FROM journal"); }

  held_lock acquire() { return locks().acquire(the_name, {.lease = 1h, .renew = false}); }
  /// Works in tx() and confirms the lock there, which another caller's may have read before.
  void work_and_confirm(const held_lock& held) {
    tx().begin();
    work(tx());
    tx().confirm(held);
  }
  /// The same by a lease that ends while it is confirmed: longer from try to try, until the machine is fast enough.
  /// `first` comes after each grant.
  held_lock work_and_confirm_what_expires(const std::function<void()>& first = [] {}) {
    for (std::chrono::milliseconds lease{150};; lease *= 2) {
      auto held = locks().acquire(the_name, {.lease = lease, .renew = false});
      first();
      tx().begin();
      work(tx());
      try {
        tx().confirm(held);
        EXPECT_TRUE(has_expired(the_name));
        return held;
      } catch (const error& e) {
        tx().rollback();
        if (e.code() != errc::lock_lost || lease > 5s) throw;
      }
    }
  }

  /// What a program does in a transaction that is open: it begins again when it is told to, and reads first, then, if
  /// it did so at first. How often it was told to.
  int buy(caller& by, bool reads_first = false) {
    for (int refusals = 0; refusals <= most_refusals; ++refusals) {
      try {
        if (!by.try_lock_in_for(locks(), the_name, 20s)) throw std::runtime_error{"it waits for a name that is free"};
        const auto last = by.number("SELECT coalesce(max(n), 0) FROM journal");
        by.statement("INSERT INTO journal (n) VALUES (" + std::to_string(last + 1) + ")");
        by.commit();
        return refusals;
      } catch (const error& e) {
        EXPECT_TRUE(e.is_retryable()) << e.what();
        by.rollback();
        by.begin();
        if (reads_first) read(by);
      }
    }
    return most_refusals + 1;
  }
  auto buying(caller& by, bool reads_first = false) {
    return [this, &by, reads_first](const std::stop_token& /*stop*/) { return buy(by, reads_first); };
  }

  /// Waits until the client has looked at the name a few times more, or the server keeps one of the callers waiting.
  bool waits() {
    const std::uint64_t few = is_on_server() ? 8 : 1;  // in a file it waits for the file in between
    const auto before = statements_of(locks());
    return eventually([&] { return statements_of(locks()) > before + few || db().is_kept_waiting(); });
  }
  void expect_both_in_journal() const {
    EXPECT_EQ(open_witness()->number("SELECT count(*) FROM journal"), 2);
    EXPECT_EQ(open_witness()->number("SELECT count(DISTINCT n) FROM journal"), 2) << "an update was lost";
  }
  /// The caller waits until tx() commits, also while `before` is called, and is told so often to begin again.
  void expect_bought_after_commit(
      caller& by, int refusals, bool reads_first = false, const std::function<void()>& before = [] {}) {
    background buyer{buying(by, reads_first)};
    ASSERT_TRUE(waits());
    before();
    if (!reads_first) {
      EXPECT_FALSE(buyer.is_done_within(0ms));
    }
    tx().commit();
    EXPECT_EQ(buyer.get(), refusals);
    expect_both_in_journal();
  }
  /// Of what tx() has confirmed, before or after another transaction has come to wait for it.
  void expect_bought_after_release(bool waits_before, bool reads_first) {
    SCOPED_TRACE(waits_before);
    open_witness()->statement("DELETE FROM journal");
    auto held = acquire();
    const auto other = open();
    other->begin();
    if (reads_first) read(*other);
    work_and_confirm(held);
    if (!waits_before) held.release();
    const auto release_late = [&] {
      if (!waits_before) return;
      held.release();
      ASSERT_TRUE(waits());
    };
    expect_bought_after_commit(*other, reads_first ? refusals_after_reading() : 0, reads_first, release_late);
  }
  /// Told once to begin again, and only because of what it had read itself.
  int refusals_after_reading() const { return GetParam().keeps_snapshot ? 1 : 0; }

 private:
  static constexpr int most_refusals = 3;
};
ROWLOCK_SUITE_LIKE_IN(same_client_beside_writers, same_client, on_servers(beside_writers(each_place())));
ROWLOCK_SUITE_LIKE_IN(same_client_on_mysql_that_keeps_no_snapshot, same_client,
                      where(on("mysql", each_place()), [](const place& p) { return p.isolation == "read committed"; }));
ROWLOCK_SUITE_LIKE_IN(same_client_on_servers, same_client, on_servers(each_place()));
ROWLOCK_SUITE_LIKE_IN(same_client_on_postgresql, same_client, on("postgresql", each_place()));
ROWLOCK_SUITE_LIKE_IN(same_client_beside_others, same_client, beside_others(each_place()));

TEST_P(same_client_beside_others, waits_for_a_transaction_that_has_confirmed_what_expires) {
  const auto held = work_and_confirm_what_expires();
  const auto other = open();
  other->begin();
  expect_bought_after_commit(*other, 0);
}

TEST_P(same_client_on_postgresql, that_waits_already_waits_on_when_the_lease_expires) {
  const auto held = acquire();
  work_and_confirm(held);
  const auto other = open();
  other->begin();
  expect_bought_after_commit(*other, 0, false, [&] {
    db().expire(the_name);
    ASSERT_TRUE(waits());
  });
}

TEST_P(same_client_on_servers, waits_for_a_transaction_that_has_confirmed_what_is_released) {
  for (const bool waits_before : {true, false}) expect_bought_after_release(waits_before, false);
}

TEST_P(same_client_beside_writers, that_has_read_before_begins_again_once_where_the_lease_expires) {
  std::unique_ptr<caller> other;
  const auto held = work_and_confirm_what_expires([&] {
    other = open();
    other->begin();
    read(*other);
  });
  expect_bought_after_commit(*other, refusals_after_reading(), true);
}

TEST_P(same_client_beside_writers, that_has_read_before_begins_again_once_where_the_lease_is_released) {
  for (const bool waits_before : {true, false}) expect_bought_after_release(waits_before, true);
}

// No transaction that is open has confirmed it: the work under the lease was committed before the release, which was
// skipped. An earlier one on the same connection may have.
TEST_P(same_client_beside_writers, that_has_read_before_begins_again_once_where_a_release_comes_late) {
  for (const bool has_confirmed : {false, true}) {
    open_witness()->statement("DELETE FROM journal");
    auto held = acquire();
    const auto other = open();
    other->begin();
    if (has_confirmed) {
      other->confirm(held);
      other->commit();
      other->begin();
    }
    read(*other);
    work(tx());
    background buyer{buying(*other, true)};
    ASSERT_TRUE(waits());
    auto in_the_way = server().row_locked(the_name);
    held.release();
    ASSERT_TRUE(waits());
    in_the_way.reset();
    const auto refusals = buyer.get();
    EXPECT_GE(refusals, refusals_after_reading()) << "has confirmed: " << has_confirmed;
    EXPECT_LE(refusals, refusals_after_reading() + 1) << "one more, if it began again before the row was vacated";
    expect_both_in_journal();
  }
}

// As before, but for so long that it waits in the database, and has the row before anybody can vacate it.
TEST_P(same_client_beside_writers,
       that_has_read_before_begins_again_where_it_had_to_wait_for_a_late_release_in_the_database) {
  auto held = acquire();
  const auto other = open();
  other->begin();
  other->confirm(held);
  other->commit();
  other->begin();
  read(*other);
  work(tx());
  auto in_the_way = server().row_locked(the_name);
  held.release();
  background buyer{buying(*other, true)};
  ASSERT_TRUE(eventually([&] { return db().is_kept_waiting(); }));
  in_the_way.reset();
  const auto refusals = buyer.get();
  EXPECT_GE(refusals, refusals_after_reading());
  EXPECT_LE(refusals, 2 * refusals_after_reading()) << "the row may have been vacated after it has read again";
  expect_both_in_journal();
}

// Nobody tells of it: by its session it does not keep what it has seen.
TEST_P(same_client_on_mysql_that_keeps_no_snapshot, but_for_a_single_transaction_begins_again_once) {
  auto held = acquire();
  const auto other = open();
  other->statement("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
  other->begin();
  read(*other);
  work_and_confirm(held);
  held.release();
  expect_bought_after_commit(*other, 1, true);
}

// It goes on with what it has confirmed itself, but not with what another transaction has confirmed as well.
TEST_P(same_client_on_postgresql, that_has_confirmed_the_lease_too_does_not_overtake_the_other) {
  for (const bool commits_before : {true, false}) {
    auto held = acquire();
    const auto other = open();
    other->begin();
    other->confirm(held);
    work_and_confirm(held);
    if (commits_before) tx().commit();
    held.release();
    const bool is_free = !GetParam().keeps_snapshot && commits_before;
    const auto e = error_of(
        [&] { EXPECT_EQ(other->try_lock_in_for(locks(), the_name, is_free ? patience : 100ms).has_value(), is_free); });
    EXPECT_FALSE(e.has_value()) << e->what();
    other->rollback();
    if (!commits_before) tx().rollback();
    EXPECT_TRUE(can_have_soon(the_name));
  }
}

// In the end it waits in the database, so that the server sees it.
TEST_P(same_client_on_servers, whose_transactions_wait_for_each_other_is_told_of_the_deadlock) {
  const auto other = open();
  other->begin();
  other->statement("UPDATE own SET n = 1 WHERE id = 2");
  auto held = acquire();
  work_and_confirm(held);
  held.release();
  background waiter{[&](const std::stop_token& /*stop*/) {
    auto e = error_of([&] { return other->try_lock_in_for(locks(), the_name, patience); });
    other->rollback();
    return e.has_value();
  }};
  bool is_told = false;
  try {
    tx().statement("UPDATE own SET n = 2 WHERE id = 2");
    tx().commit();
  } catch (const std::exception&) {
    is_told = true;
    tx().rollback();
  }
  EXPECT_TRUE(waiter.get() || is_told);
}

}  // namespace
}  // namespace rowlock::test
