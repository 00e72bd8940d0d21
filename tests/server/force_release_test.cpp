#include <optional>
#include <string>

#include "server/server_test.hpp"

namespace rowlock::test {
namespace {

/// A role that may take locks and nothing else, and locks of another role's.
class force_release_by_another_role : public on_each_server {
 protected:
  force_release_by_another_role() { connect().close(); }

  client connect_guest() const { return connect_to(url_); }

 private:
  void SetUp() override { url_ = db().url_of_guest("SELECT, INSERT, UPDATE, DELETE"); }

  std::string url_;
};
ROWLOCK_SUITE_ON_EACH_SERVER(force_release_by_another_role);

TEST_P(force_release_by_another_role, frees_its_leases) {
  auto guest = connect_guest();
  auto locks = connect();
  const auto held = locks.acquire("orders/42", {.lease = 3s});
  EXPECT_TRUE(guest.force_release("orders/42"));
  EXPECT_TRUE(guest.try_acquire("orders/42").has_value());
  EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
  EXPECT_EQ(held.why_lost(), loss_reason::forced);
}

TEST_P(force_release_by_another_role, does_not_end_its_sessions_and_names_them) {
  db().let_see_locks(db().guest());
  auto guest = connect_guest();
  auto locks = connect();
  const auto held = locks.acquire("orders/42", {.strategy = strategy::for_update});
  const auto session = locks.find("orders/42").value().thread;
  const auto e = error_of([&] { return guest.force_release("orders/42"); });
  ASSERT_TRUE(e.has_value());
  EXPECT_EQ(e->code(), errc::permission_denied) << e->what();
  EXPECT_FALSE(e->is_retryable());
  EXPECT_FALSE(e->outcome_is_unknown());
  EXPECT_FALSE(e->connection_is_unusable());
  EXPECT_TRUE(mentions(e, session)) << e->what();
  EXPECT_TRUE(mentions(e, "\"orders/42\"")) << e->what();
  EXPECT_TRUE(mentions(e, is_on("postgresql") ? "pg_signal_backend" : "CONNECTION ADMIN")) << e->what();
  EXPECT_FALSE(held.lost().stop_requested());
  EXPECT_TRUE(guest.find("orders/42").has_value());
}

TEST_P(force_release_by_another_role, ends_its_sessions_where_that_was_granted) {
  auto locks = connect();
  db().let_end_sessions(db().guest());
  auto guest = connect_guest();
  const auto held = locks.acquire("orders/42", {.strategy = strategy::for_update});
  EXPECT_TRUE(guest.force_release("orders/42"));
  EXPECT_TRUE(guest.try_acquire("orders/42").has_value());
  EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
  EXPECT_EQ(held.why_lost(), loss_reason::session_ended);
}

class force_release_of_what_others_do : public on_each_server {};
class force_release_of_what_others_do_not_on_postgresql : public force_release_of_what_others_do {};
ROWLOCK_SUITE_ON_SERVERS(force_release_of_what_others_do_not_on_postgresql, not_on("postgresql", servers()));
class force_release_of_what_others_do_on_postgresql : public force_release_of_what_others_do {};
ROWLOCK_SUITE_ON_SERVERS(force_release_of_what_others_do_on_postgresql, on("postgresql", servers()));

// As a program of a version before this one writes it: the row says nothing of the session, or what another has left.
TEST_P(force_release_of_what_others_do_not_on_postgresql,
       in_a_transaction_that_does_not_say_which_session_it_has_ends_nobodys) {
  auto locks = connect();
  auto desk = connect();
  const auto innocent = locks.acquire("orders/43", {.strategy = strategy::for_update});
  auto session = locks.find("orders/43").value().thread;
  locks.acquire("orders/42", {.strategy = strategy::for_update}).release();
  db().execute("UPDATE rowlock_lock SET thread = '" + session + " from 1' WHERE name = 'orders/42'");
  const auto older = db().transaction("UPDATE rowlock_lock SET version = version + 1 WHERE name = 'orders/42'");
  const auto info = desk.find("orders/42");
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->thread, "");
  const auto e = error_of([&] { return desk.force_release("orders/42"); });
  ASSERT_TRUE(e.has_value());
  EXPECT_EQ(e->code(), errc::database_error) << e->what();
  EXPECT_TRUE(mentions(e, "innodb_trx")) << e->what();
  EXPECT_FALSE(innocent.lost().stop_requested());
}

TEST_P(force_release_of_what_others_do_on_postgresql,
       in_transactions_of_an_administrators_that_pin_a_lease_is_refused) {
  auto locks = connect();
  auto desk = connect();
  auto held = locks.acquire("orders/42", {.lease = 1h});
  const auto one = db().row_pinned("orders/42");
  const auto another = db().row_pinned("orders/42");
  const auto e = error_of([&] { return desk.force_release("orders/42"); });
  ASSERT_TRUE(e.has_value());
  EXPECT_TRUE(mentions(e, "\"orders/42\"")) << e->what();
  EXPECT_EQ(e->code(), errc::permission_denied) << e->what();
  EXPECT_FALSE(held.lost().stop_requested());
}

TEST_P(force_release_of_what_others_do_not_on_postgresql, for_a_moment_only_is_waited_for) {
  auto locks = connect();
  auto desk = connect();
  const auto held = locks.acquire("orders/42", {.lease = 1h});
  auto short_one = db().row_locked("orders/42");
  background force{[&](const std::stop_token&) { return desk.force_release("orders/42"); }};
  EXPECT_FALSE(force.is_done_within(a_moment));
  short_one.reset();
  EXPECT_TRUE(force.get());
  EXPECT_FALSE(db().row("orders/42").value().owner.has_value());
}

}  // namespace
}  // namespace rowlock::test
