#include "server/server_test.hpp"

// The guard over failovers. Another history in the guard's row is what a promoted standby finds there; failovers of
// real servers are in tests/cluster.

namespace rowlock::test {
namespace {

constexpr auto quarantine = 2s;
const lock_options brief{.lease = 1500ms};

class guard : public on_each_server {
 protected:
  guard() { static_cast<void>(operator_.set_guard(quarantine)); }

  /// What clients that connect from now on find, and others as soon as they look.
  void fail_over() { db().execute("UPDATE rowlock_guard SET incarnation = 'former'"); }
  /// Without a moment in which it might grant.
  client connect_after_failover(const client_options& options = {}) {
    fail_over();
    return connect_to(db().url(), options);
  }

  client operator_ = connect();
};
ROWLOCK_SUITE_ON_EACH_SERVER(guard);

TEST_P(guard, is_off_until_it_is_switched_on) {
  EXPECT_EQ(operator_.guard().quarantine, quarantine);
  EXPECT_FALSE(operator_.guard().incarnation.empty());
  const auto off = operator_.set_guard(std::nullopt);
  EXPECT_FALSE(off.quarantine || off.left);
  EXPECT_TRUE(connect().try_acquire("orders/42", {.lease = long_lease}).has_value());
}

TEST_P(guard, is_not_switched_off_in_a_quarantine) {
  fail_over();
  const auto e = error_of([&] { return operator_.set_guard(std::nullopt); });
  EXPECT_TRUE(is_error(e, errc::invalid_option, {.says = {"a quarantine is on for "}}));
  EXPECT_TRUE(operator_.guard().left.has_value());
  static_cast<void>(operator_.end_quarantine());
  EXPECT_FALSE(operator_.set_guard(std::nullopt).quarantine.has_value());
}

TEST_P(guard, grants_nothing_until_the_quarantine_is_over) {
  auto locks = connect_after_failover();
  const stopwatch watch;
  EXPECT_FALSE(locks.try_acquire("orders/42", brief).has_value());
  const auto seen = locks.guard();
  ASSERT_TRUE(seen.left.has_value());
  EXPECT_LE(*seen.left, quarantine);
  EXPECT_GT(locks.stats().quarantine, 0s);
  const auto held = locks.acquire("orders/42", brief);
  EXPECT_GE(watch.elapsed() + a_moment, quarantine);
  EXPECT_FALSE(locks.guard().left.has_value());
  EXPECT_TRUE(locks.try_acquire("orders/43", brief).has_value());
}

TEST_P(guard, lets_holders_that_the_server_knows_go_on) {
  auto before = connect();
  auto held = before.acquire("orders/42", brief);
  auto locks = connect_after_failover();
  EXPECT_FALSE(locks.try_acquire("orders/43", brief).has_value());
  EXPECT_TRUE(is_renewed("orders/42"));
  EXPECT_NO_THROW(held.extend(brief.lease));
  EXPECT_NO_THROW(held.release());
  EXPECT_TRUE(is_vacant("orders/42"));
}

TEST_P(guard, tells_a_forgotten_holder_why) {
  auto before = connect();
  auto held = before.acquire("orders/42", brief);
  auto locks = connect_after_failover();
  static_cast<void>(before.guard());  // as a client does that has lost its sessions
  db().vacate("orders/42");
  EXPECT_FALSE(locks.try_acquire("orders/42", brief).has_value());
  EXPECT_TRUE(eventually([&] { return held.why_lost() != loss_reason::none; }));
  EXPECT_EQ(held.why_lost(), loss_reason::forgotten);
}

TEST_P(guard, holds_for_every_form_of_a_grant) {
  static_cast<void>(operator_.set_guard(4 * quarantine));
  auto reader = connect();
  auto share = reader.acquire_shared("shared", {.lease = 3 * quarantine});
  auto locks = connect_after_failover({.handover = false});
  const std::vector<lock_name> names{"a", "b"};
  EXPECT_FALSE(locks.try_acquire_any(names, brief).has_value());
  EXPECT_FALSE(locks.try_acquire_all(names, brief).has_value());
  EXPECT_FALSE(locks.try_acquire_shared("orders/42", brief).has_value());
  EXPECT_FALSE(locks.try_acquire_shared("shared", brief).has_value());
  EXPECT_FALSE(locks.try_acquire("orders/42", {.strategy = strategy::version_cas, .lease = 1s}).has_value());
  EXPECT_FALSE(locks.try_acquire_for("orders/42", 100ms, {.lease = 1s, .fairness = fairness::fifo}).has_value());
  const auto too_long =
      error_of([&] { return locks.try_acquire("orders/42", {.strategy = strategy::for_update}).has_value(); });
  EXPECT_TRUE(mentions(too_long, "transaction_limit"));
  auto brief_ones = connect_to(db().url(), {.transaction_limit = 1s});
  EXPECT_FALSE(brief_ones.try_acquire("orders/42", {.strategy = strategy::for_update}).has_value());
  EXPECT_FALSE(share.try_upgrade());
  EXPECT_NO_THROW(share.release());
  EXPECT_TRUE(locks.list().empty());
}

TEST_P(guard, is_found_without_a_new_connection) {
  auto locks = connect();
  locks.acquire("orders/42", brief).release();
  let_pass(200ms);  // longer ago than what is not doubted
  fail_over();
  EXPECT_FALSE(locks.try_acquire("orders/42", brief).has_value());
  EXPECT_TRUE(locks.guard().left.has_value());
  EXPECT_TRUE(locks.try_acquire_for("orders/42", soon, brief).has_value());
}

TEST_P(guard, that_is_changed_in_a_quarantine_does_not_end_it) {
  auto locks = connect_after_failover();
  EXPECT_FALSE(locks.try_acquire("orders/42", brief).has_value());
  EXPECT_TRUE(locks.set_guard(2 * quarantine).left.has_value());
  EXPECT_FALSE(locks.try_acquire("orders/42", brief).has_value());
}

TEST_P(guard, ends_a_quarantine_for_operators) {
  auto locks = connect_after_failover();
  EXPECT_FALSE(locks.try_acquire("orders/42", brief).has_value());
  EXPECT_FALSE(operator_.end_quarantine().left.has_value());
  static_cast<void>(locks.guard());
  EXPECT_TRUE(locks.try_acquire("orders/42", brief).has_value());
}

TEST_P(guard, refuses_what_outlasts_a_quarantine) {
  auto locks = connect();
  for (const auto& options : {lock_options{.lease = quarantine + 1ms}, lock_options{.lease = 1s, .at_least = 3s}}) {
    const auto e = error_of([&] { return locks.try_acquire("orders/42", options).has_value(); });
    EXPECT_TRUE(is_error(e, errc::invalid_option, {.says = {"2000 ms"}}));
  }
  auto held = locks.acquire("orders/42", brief);
  EXPECT_TRUE(throws(errc::invalid_option, [&] { held.extend(quarantine + 1ms); }));
  EXPECT_TRUE(static_cast<bool>(held));
}

TEST_P(guard, renews_older_leases_for_no_longer_than_a_quarantine) {
  static_cast<void>(operator_.set_guard(std::nullopt));
  auto locks = connect();
  const auto held = locks.acquire("orders/42", {.lease = 6s});
  static_cast<void>(operator_.set_guard(quarantine));
  EXPECT_TRUE(operator_.guard().left.has_value()) << "a longer lease is out";
  static_cast<void>(locks.guard());
  EXPECT_TRUE(eventually([&] { return expiry("orders/42") - db().now() < duration{quarantine}.count(); }));
  EXPECT_TRUE(is_renewed("orders/42"));
  EXPECT_LE(expiry("orders/42") - db().now(), duration{quarantine}.count());
  EXPECT_TRUE(static_cast<bool>(held));
}

TEST_P(guard, refuses_a_former_primary) {
  auto locks = connect_after_failover();
  locks.acquire("orders/42", brief).release();
  db().execute("UPDATE rowlock_guard SET term = 1");
  db().end_sessions();
  EXPECT_TRUE(eventually([&] {
    const auto e = error_of([&] { return locks.try_acquire("orders/42", brief).has_value(); });
    return mentions(e, "former primary");
  }));
}

TEST_P(guard, refuses_programs_that_do_not_know_it) {
  EXPECT_EQ(db().number("SELECT max(serves_from) FROM rowlock_migration"), 2);
  static_cast<void>(operator_.set_guard(std::nullopt));
  EXPECT_EQ(db().number("SELECT max(serves_from) FROM rowlock_migration"), 1);
}

TEST_P(guard, refuses_a_quarantine_that_is_too_short_or_too_long_and_to_be_relaxed_without_one) {
  for (const duration length : {duration{999ms}, duration{std::chrono::hours{24 * 30} + 1s}})
    EXPECT_TRUE(throws(errc::invalid_option, [&] { static_cast<void>(operator_.set_guard(length)); }));
  EXPECT_TRUE(throws(errc::invalid_option, [&] { static_cast<void>(operator_.set_guard({}, {.relaxed = true})); }));
}

TEST_P(guard, is_relaxed_where_a_crash_is_noticed) {
  const auto relax = [&] { return operator_.set_guard(quarantine, {.relaxed = true}); };
  if (GetParam().name != "postgresql") {
    EXPECT_TRUE(throws(errc::unsupported, [&] { static_cast<void>(relax()); }));
    EXPECT_FALSE(operator_.guard().relaxed);
    return;
  }
  auto locks = connect();
  static_cast<void>(operator_.set_guard(quarantine));
  EXPECT_TRUE(locks.try_acquire("orders/41", brief).has_value());
  const auto term = operator_.guard().term;
  EXPECT_TRUE(relax().relaxed);
  EXPECT_TRUE(locks.try_acquire("orders/42", brief).has_value()) << "no quarantine begins, and it is noticed at once";
  db().execute("DELETE FROM rowlock_witness");  // as a crash does
  db().end_sessions();
  EXPECT_TRUE(eventually([&] { return succeeds([&] { return locks.guard().left.has_value(); }); }));
  EXPECT_FALSE(locks.try_acquire("orders/43", brief).has_value());
  const auto seen = locks.guard();
  EXPECT_TRUE(seen.relaxed);
  EXPECT_EQ(seen.term, term + 2);
  EXPECT_TRUE(locks.try_acquire_for("orders/43", soon, brief).has_value());
  EXPECT_FALSE(operator_.set_guard(quarantine).relaxed);
}

TEST_P(guard, needs_the_rights_of_its_operator) {
  auto guest = connect_to(db().url_of_guest("SELECT, INSERT, UPDATE, DELETE"));
  db().execute("REVOKE UPDATE ON rowlock_migration FROM " + db().guest());
  EXPECT_TRUE(throws(errc::permission_denied, [&] { static_cast<void>(guest.set_guard(quarantine)); }));
}

TEST(guard_of_a_file, is_not_needed) {
  auto locks = client::connect("sqlite::memory:");
  locks.migrate();
  EXPECT_FALSE(locks.guard().quarantine.has_value());
  for (const bool relaxed : {false, true})
    EXPECT_TRUE(
        throws(errc::unsupported, [&] { static_cast<void>(locks.set_guard(quarantine, {.relaxed = relaxed})); }));
}

}  // namespace
}  // namespace rowlock::test
