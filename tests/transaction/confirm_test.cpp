#include "transaction/transaction_test.hpp"

namespace rowlock::test {
namespace {

constexpr strategy lease_strategies[] = {strategy::unique_index, strategy::version_cas};

class confirm : public transaction_test {
 protected:
  /// Writes, confirms and commits.
  void write_confirmed(const held_lock& held) {
    write_and_confirm(held);
    tx().commit();
  }
  void expect_lost(const held_lock& held) {
    tx().begin();
    tx().statement(write_own);
    EXPECT_TRUE(throws(errc::lock_lost, [&] { tx().confirm(held); }));
    tx().rollback();
    EXPECT_EQ(value(), 0);
  }
};
ROWLOCK_SUITE_IN(confirm, each_place());
ROWLOCK_SUITE_LIKE_IN(confirm_beside_others, confirm, beside_others(each_place()));
ROWLOCK_SUITE_LIKE_IN(confirm_beside_writers, confirm, beside_writers(each_place()));
ROWLOCK_SUITE_LIKE_IN(confirm_beside_others_in_files, confirm, in_files(beside_others(each_place())));

TEST_P(confirm, passes_while_the_lock_is_held) {
  for (const auto by : lease_strategies) {
    auto held = locks().acquire("orders/42", {.strategy = by});
    write_confirmed(held);
    write_confirmed(held);
    EXPECT_NO_THROW(held.release());
  }
  EXPECT_EQ(value(), 4);
  EXPECT_TRUE(can_have("orders/42"));
}

TEST_P(confirm, refuses_what_was_released_and_stays_for_a_while) {
  auto locked = mutex{locks(), "orders/42", {.lease = 1h, .at_least = 1h}};
  locked.lock();
  locked.unlock();
  const auto end = expiry("orders/42");
  tx().begin();
  tx().statement(write_own);
  EXPECT_TRUE(throws(errc::not_held, [&] { tx().confirm(locked); }));
  tx().rollback();
  EXPECT_EQ(expiry("orders/42"), end);
}

class confirm_and_hand_over : public confirm {
 protected:
  confirm_and_hand_over() { make_rows({"orders/42"}); }

  /// Releases it while another thread of the client waits: what that one gets.
  held_lock release_to_another(held_lock held) {
    background next{[this](std::stop_token stop) { return here_.acquire("orders/42", {}, std::move(stop)); }};
    EXPECT_TRUE(eventually([&] { return here_.stats().waiting > 0; }));
    static_cast<void>(next.is_done_within(a_moment));
    held.release();
    return next.get();
  }
  client& here() { return here_; }

 private:
  client here_ = connect({.handover_limit = std::chrono::minutes{1}});
};
ROWLOCK_SUITE_IN(confirm_and_hand_over, each_place());

TEST_P(confirm_and_hand_over, ends_with_a_lock_that_was_confirmed) {
  auto held = here().acquire("orders/42");
  write_confirmed(held);
  held = release_to_another(std::move(held));
  EXPECT_TRUE(held);
  EXPECT_EQ(here().stats().handovers, 0U) << "its row is released first";
}

// The row is the same as before it was handed over: what the transaction has seen of it proves nothing.
TEST_P(confirm_and_hand_over, refuses_a_snapshot_that_may_be_older_than_the_hand_over) {
  auto held = release_to_another(here().acquire("orders/42"));
  ASSERT_EQ(here().stats().handovers, 1U);
  if (!is_on_server() || !(GetParam().keeps_snapshot || GetParam().locks_reads)) {
    write_confirmed(held);
    EXPECT_EQ(value(), 1);
    return;
  }
  tx().begin();
  tx().statement(write_own);
  EXPECT_TRUE(throws(errc::stale_snapshot, [&] { tx().confirm(held); }));
  tx().rollback();
  held = release_to_another(std::move(held));
  EXPECT_EQ(here().stats().handovers, 1U) << "it is granted by the database";
  write_confirmed(held);
  EXPECT_EQ(value(), 1);
}

TEST_P(confirm, passes_where_the_transaction_has_read_since_more_than_once_and_for_more_than_one) {
  const auto one = locks().acquire("orders/42");
  const auto two = locks().acquire("orders/43");
  tx().begin();
  EXPECT_EQ(tx().number(read_own), 0);
  EXPECT_EQ(tx().number("SELECT count(*) FROM rowlock_lock"), 2);
  for (int i = 0; i < 2; ++i) {
    tx().confirm(one);
    tx().confirm(two);
    tx().statement(write_own);
  }
  tx().commit();
  EXPECT_EQ(value(), 2);
}

TEST_P(confirm, passes_for_a_mutex_that_the_thread_has_locked) {
  mutex order{locks(), "orders/42"};
  tx().begin();
  EXPECT_TRUE(throws(errc::not_held, [&] { tx().confirm(order); }));
  tx().commit();
  order.lock();
  tx().begin();
  EXPECT_NO_THROW(tx().confirm(order));
  background elsewhere{[&](const std::stop_token& /*stop*/) { return error_of([&] { tx().confirm(order); }); }};
  const auto e = elsewhere.get();
  ASSERT_TRUE(is_error(e, errc::not_held)) << "another thread has not locked it";
  tx().commit();
  order.unlock();
}

TEST_P(confirm_beside_others, passes_or_begins_again_where_the_lease_was_renewed_since) {
  auto held = locks().acquire("orders/42", {.lease = brisk_lease});
  for (const bool reads : {false, true}) {
    tx().begin();
    if (reads) tx().statement(read_own);
    ASSERT_TRUE(is_renewed("orders/42"));
    const auto e = error_of([&] { tx().confirm(held); });
    if (e) {
      EXPECT_TRUE((GetParam().keeps_snapshot && reads) || refuses_what_has_changed())
          << "there is no older snapshot: " << e->what();
      EXPECT_TRUE(e->is_retryable()) << e->what();
      EXPECT_NE(e->code(), errc::lock_lost) << e->what();
    }
    tx().rollback();
  }
  EXPECT_FALSE(held.lost().stop_requested()) << to_string(held.why_lost());
}

TEST_P(confirm, refuses_what_another_has_taken_over) {
  for (const auto by : lease_strategies) {
    auto held = locks().acquire("orders/42", {.strategy = by});
    db().expire("orders/42");
    const auto next = others().acquire("orders/42", {.strategy = by});
    expect_lost(held);
    EXPECT_FALSE(next.lost().stop_requested());
    write_confirmed(next);
    EXPECT_EQ(value(), 1);
    open()->statement("UPDATE own SET n = 0");
  }
}

TEST_P(confirm, refuses_what_others_have_had_freed_stolen_or_erased) {
  const std::function<void(const std::string&)> ways[] = {[&](const auto& name) {
                                                            db().expire(name);
                                                            others().acquire(name).release();
                                                          },
                                                          [&](const auto& name) {
                                                            db().expire(name);
                                                            locked_elsewhere(name)->commit();
                                                          },
                                                          [&](const auto& name) { db().vacate(name); },
                                                          [&](const auto& name) { db().steal(name); },
                                                          [&](const auto& name) { db().erase(name); }};
  for (const auto& lose : ways) {
    const auto name = "orders/" + std::to_string(&lose - ways);
    SCOPED_TRACE(name);
    const auto held = locks().acquire(name);
    lose(name);
    expect_lost(held);
  }
}

TEST_P(confirm, refuses_a_lease_that_has_ended) {
  auto held = locks().acquire("orders/42");
  db().expire("orders/42");
  expect_lost(held);
  EXPECT_TRUE(can_have("orders/42")) << "a refusal locks nothing";
  const auto ended = locks().acquire("orders/43", {.lease = 200ms, .renew = false});
  ASSERT_TRUE(eventually([&] { return ended.lost().stop_requested(); }));
  expect_lost(ended);
}

TEST_P(confirm, refuses_an_empty_handle) {
  auto held = locks().acquire("orders/42");
  held.release();
  tx().begin();
  EXPECT_TRUE(throws(errc::not_held, [&] { tx().confirm(held); }));
  EXPECT_TRUE(throws(errc::not_held, [&] { tx().confirm(held_lock{}); }));
  expect_of_use();
}

TEST_P(confirm, of_a_lock_by_for_update_is_refused_where_it_would_wait_for_itself) {
  const auto held = locks().acquire("orders/42", {.strategy = strategy::for_update});
  tx().begin();
  const auto e = error_of([&] { tx().confirm(held); });
  EXPECT_EQ(e.has_value(), is_on_server());
  if (e) {
    EXPECT_EQ(e->code(), errc::unsupported) << e->what();
    EXPECT_TRUE(mentions(e, "lock_in")) << e->what();
  }
  expect_of_use();
}

TEST_P(confirm_beside_writers, in_a_transaction_older_than_the_lock_is_refused_where_it_keeps_its_snapshot) {
  make_rows({"orders/42"});
  for (const auto* name : {"orders/42", "orders/43"}) {  // one that was there before, and a new one
    tx().begin();
    tx().statement(read_own);
    const auto held = locks().acquire(name);
    if (GetParam().keeps_snapshot) {
      EXPECT_TRUE(throws(errc::stale_snapshot, [&] { tx().confirm(held); }));
    } else {
      EXPECT_NO_THROW(tx().confirm(held));
    }
    tx().rollback();
    tx().begin();
    EXPECT_NO_THROW(tx().confirm(held));
    tx().rollback();
  }
}

TEST_P(confirm_beside_others_in_files, after_a_foreign_write_begins_again_in_a_file) {
  const auto held = locks().acquire("orders/42");
  tx().begin();
  tx().statement(read_own);
  open()->statement("UPDATE own SET n = 5 WHERE id = 2");
  EXPECT_TRUE(throws(errc::stale_snapshot, [&] { tx().confirm(held); }));
  tx().rollback();
  write_confirmed(held);
}

}  // namespace
}  // namespace rowlock::test
