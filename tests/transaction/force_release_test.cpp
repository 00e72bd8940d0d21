#include "transaction/transaction_test.hpp"

// What becomes of a caller's transaction when an operator frees the name that it has, or relies on.

namespace rowlock::test {
namespace {

class forced : public transaction_test {
 protected:
  static constexpr auto short_call = 300ms;

  /// Whatever the driver throws, too.
  static bool fails(const std::function<void()>& call) try {
    call();
    return false;
  } catch (const std::exception&) {
    return true;
  }
  // The function for it of Connector/C++ does not tell.
  void commit_fails() {
    EXPECT_TRUE(fails([&] { is_on("mysql") ? tx().statement("COMMIT") : tx().commit(); }));
    drop_tx();
    EXPECT_EQ(value(), 0) << "nothing of it is there";
  }
  /// Of a transaction in a file nobody but its owner can make an end.
  void waits_in_vain() {
    auto desk = connect({.call_timeout = short_call});
    const stopwatch watch;
    EXPECT_TRUE(throws(errc::call_timed_out, [&] { desk.force_release("orders/42"); }));
    EXPECT_GE(watch.elapsed(), short_call / 2);
    EXPECT_NO_THROW(tx().commit());
    EXPECT_EQ(value(), 1);
  }
};
ROWLOCK_SUITE_IN(forced, each_place());
ROWLOCK_SUITE_LIKE_IN(forced_on_postgresql, forced, on("postgresql", each_place()));
ROWLOCK_SUITE_LIKE_IN(forced_on_servers, forced, on_servers(each_place()));

TEST_P(forced, lease_is_not_confirmed_any_more_whoever_has_the_name_now) {
  for (const bool is_taken : {false, true}) {
    const auto held = locks().acquire("orders/42");
    EXPECT_TRUE(others().force_release("orders/42"));
    const auto next = is_taken ? others().acquire("orders/42") : held_lock{};
    tx().begin();
    EXPECT_TRUE(throws(errc::lock_lost, [&] { tx().confirm(held); }));
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_EQ(held.why_lost(), loss_reason::forced) << to_string(held.why_lost());
    tx().rollback();
    if (!is_taken) continue;
    EXPECT_NO_THROW(write_and_confirm(next));
    tx().commit();
    EXPECT_EQ(value(), 1);
  }
}

TEST_P(forced, transaction_of_the_callers_is_undone_with_its_session) {
  const auto had = begin_and_lock_in();
  tx().statement(write_own);
  if (!is_on_server()) return waits_in_vain();
  EXPECT_EQ(others().find("orders/42").value().thread.substr(0, 8), "session ");
  EXPECT_TRUE(others().force_release("orders/42"));
  const auto next = others().try_acquire("orders/42");
  ASSERT_TRUE(next.has_value()) << "at once";
  EXPECT_GT(next->token(), had.token());
  commit_fails();
}

TEST_P(forced, transaction_that_has_pinned_a_lease_is_undone_where_the_server_tells_which_one_it_is) {
  const auto held = locks().acquire("orders/42", {.lease = 1h});
  write_and_confirm(held);
  if (!is_on_server()) return waits_in_vain();
  if (is_on("mysql")) {
    const auto e = error_of([&] { return others().force_release("orders/42"); });
    ASSERT_TRUE(is_error(e, errc::database_error, {.says = {"innodb_trx"}}));
    EXPECT_NO_THROW(tx().commit());
    EXPECT_TRUE(others().force_release("orders/42")) << "when it is over";
  } else {
    EXPECT_TRUE(others().force_release("orders/42"));
    commit_fails();
  }
  EXPECT_TRUE(can_have("orders/42"));
}

TEST_P(forced_on_postgresql, pins_of_a_lease_are_found_where_there_are_several_and_it_was_renewed) {
  const auto held = locks().acquire("orders/42", {.lease = 3s});
  const auto other = open();
  for (auto* const each : {&tx(), other.get()}) {
    each->begin();
    each->statement("UPDATE own SET n = n + 1 WHERE id = " + std::string{each == other.get() ? "1" : "2"});
    each->confirm(held);
  }
  ASSERT_TRUE(is_renewed("orders/42"));
  EXPECT_TRUE(others().force_release("orders/42"));
  EXPECT_TRUE(can_have("orders/42"));
  EXPECT_TRUE(fails([&] { other->commit(); }));
  commit_fails();
  EXPECT_EQ(value(2), 0);
}

TEST_P(forced_on_postgresql, lease_that_has_run_out_while_it_was_pinned_is_free_with_the_end_of_its_transaction) {
  const auto held = locks().acquire("orders/42", {.lease = 1s, .renew = false});
  write_and_confirm(held);
  ASSERT_TRUE(has_expired("orders/42"));
  ASSERT_FALSE(can_have("orders/42"));
  EXPECT_TRUE(others().force_release("orders/42"));
  EXPECT_TRUE(can_have("orders/42"));
  commit_fails();
}

TEST_P(forced_on_servers, name_with_the_token_of_a_lease_is_left_to_a_transaction_that_came_later) {
  const auto released = others().acquire("orders/42").token();
  const auto expired = others().acquire("orders/43", {.renew = false});
  db().expire("orders/43");
  for (const auto& [name, token] : {std::pair{"orders/42", released}, std::pair{"orders/43", expired.token()}}) {
    auto held = locks().acquire(name, {.strategy = strategy::for_update});
    EXPECT_FALSE(others().force_release(name, token)) << name;
    EXPECT_NO_THROW(held.release()) << name;
  }
  begin_and_lock_in();
  tx().statement(write_own);
  EXPECT_FALSE(others().force_release("orders/42", released));
  tx().commit();
  EXPECT_EQ(value(), 1);
}

class forced_pin : public forced {
 protected:
  /// Frees the lease. When this returns it has seen who pins it.
  std::unique_ptr<background<bool>> begin_to_force(fencing_token token) {
    EXPECT_TRUE(others().find("orders/42").has_value()) << "it has looked at its tables";
    const auto before = statements_of(others());
    auto out = std::make_unique<background<bool>>(
        [this, token](const std::stop_token& /*stop*/) { return others().force_release("orders/42", token); });
    EXPECT_TRUE(eventually([&] { return statements_of(others()) > before + 2; }));
    return out;
  }
};
ROWLOCK_SUITE_IN(forced_pin, on("postgresql", each_place()));

TEST_P(forced_pin, ends_with_the_lease_even_where_that_runs_out_meanwhile) {
  const auto held = locks().acquire("orders/42", {.lease = 1h, .renew = false});
  write_and_confirm(held);
  const auto force = begin_to_force(held.token());
  db().expire("orders/42");
  EXPECT_TRUE(force->get());
  EXPECT_TRUE(can_have("orders/42"));
  commit_fails();
}

// As a renewal does, a statement of another session writes the row beside the pin: that is seen, too.
TEST_P(forced_pin, ends_with_the_lease_that_another_session_changes_just_then) {
  const auto held = locks().acquire("orders/42", {.lease = 1h, .renew = false});
  auto pinning = open();  // later than the other session, which is listed first therefore
  pinning->begin();
  pinning->statement(write_own);
  pinning->confirm(held);
  tx().begin();
  tx().statement("UPDATE rowlock_lock SET expires_at = clock_timestamp()");
  const auto force = begin_to_force(held.token());
  tx().commit();
  EXPECT_TRUE(force->get());
  EXPECT_TRUE(can_have("orders/42"));
  EXPECT_TRUE(fails([&] { pinning->commit(); }));
}

TEST_P(forced_on_servers, name_with_a_token_that_is_not_the_transactions_is_left_alone_where_that_is_known) {
  const auto had = begin_and_lock_in();
  tx().statement(write_own);
  const bool is_known = others().find("orders/42").value().token != fencing_token{};
  EXPECT_EQ(others().force_release("orders/42", fencing_token{had.token().value() - 1}), !is_known);
  if (!is_known) return commit_fails();
  EXPECT_NO_THROW(tx().commit());
  EXPECT_EQ(value(), 1);
}

}  // namespace
}  // namespace rowlock::test
