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

TEST_P(force_release_by_another_role, does_not_end_its_sessions_and_names_them) {
  db().let_see_locks(db().guest());
  auto guest = connect_guest();
  auto locks = connect();
  const auto held = locks.acquire("orders/42", {.strategy = strategy::for_update});
  const auto session = locks.find("orders/42").value().thread;
  const auto e = error_of([&] { return guest.force_release("orders/42"); });
  ASSERT_TRUE(
      is_error(e, errc::permission_denied,
               {.is_retryable = false,
                .outcome_is_unknown = false,
                .connection_is_unusable = false,
                .says = {session, "\"orders/42\"", is_on("postgresql") ? "pg_signal_backend" : "CONNECTION ADMIN"}}));
  EXPECT_FALSE(held.lost().stop_requested());
  EXPECT_TRUE(guest.find("orders/42").has_value());
}

TEST_P(force_release_by_another_role, frees_its_leases_and_ends_its_sessions_where_that_was_granted) {
  auto locks = connect();
  for (const auto by : {strategy::unique_index, strategy::for_update}) {
    const bool has_session = by == strategy::for_update;
    if (has_session) db().let_end_sessions(db().guest());
    auto guest = connect_guest();
    const auto held =
        has_session ? locks.acquire("orders/42", {.strategy = by}) : locks.acquire("orders/42", {.lease = 3s});
    EXPECT_TRUE(guest.force_release("orders/42"));
    EXPECT_TRUE(guest.try_acquire("orders/42").has_value());
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_EQ(held.why_lost(), has_session ? loss_reason::session_ended : loss_reason::forced);
  }
}

class force_release_of_what_others_do : public on_each_server {
 protected:
  client locks_ = connect();
  client desk_ = connect();
};
ROWLOCK_SUITE_LIKE_ON_SERVERS(force_release_of_what_others_do_not_on_postgresql, force_release_of_what_others_do,
                              not_on("postgresql", servers()));
ROWLOCK_SUITE_LIKE_ON_SERVERS(force_release_of_what_others_do_on_postgresql, force_release_of_what_others_do,
                              on("postgresql", servers()));

// As a program of a version before this one writes it: the row says nothing of the session, or what another has left.
TEST_P(force_release_of_what_others_do_not_on_postgresql,
       in_a_transaction_that_does_not_say_which_session_it_has_ends_nobodys) {
  const auto innocent = locks_.acquire("orders/43", {.strategy = strategy::for_update});
  auto session = locks_.find("orders/43").value().thread;
  locks_.acquire("orders/42", {.strategy = strategy::for_update}).release();
  db().execute("UPDATE rowlock_lock SET thread = '" + session + " from 1' WHERE name = 'orders/42'");
  const auto older = db().transaction("UPDATE rowlock_lock SET version = version + 1 WHERE name = 'orders/42'");
  const auto info = desk_.find("orders/42");
  ASSERT_TRUE(info.has_value());
  EXPECT_EQ(info->thread, "");
  const auto e = error_of([&] { return desk_.force_release("orders/42"); });
  ASSERT_TRUE(is_error(e, errc::database_error, {.says = {"innodb_trx"}}));
  EXPECT_FALSE(innocent.lost().stop_requested());
}

TEST_P(force_release_of_what_others_do_on_postgresql,
       in_transactions_of_an_administrators_that_pin_a_lease_is_refused) {
  auto held = locks_.acquire("orders/42", {.lease = 1h});
  const auto one = db().row_pinned("orders/42");
  const auto another = db().row_pinned("orders/42");
  const auto e = error_of([&] { return desk_.force_release("orders/42"); });
  ASSERT_TRUE(e.has_value());
  EXPECT_TRUE(mentions(e, "\"orders/42\"")) << e->what();
  EXPECT_EQ(e->code(), errc::permission_denied) << e->what();
  EXPECT_FALSE(held.lost().stop_requested());
}

TEST_P(force_release_of_what_others_do_not_on_postgresql, for_a_moment_only_is_waited_for) {
  const auto held = locks_.acquire("orders/42", {.lease = 1h});
  auto short_one = db().row_locked("orders/42");
  background force{[&](const std::stop_token&) { return desk_.force_release("orders/42"); }};
  EXPECT_FALSE(force.is_done_within(a_moment));
  short_one.reset();
  EXPECT_TRUE(force.get());
  EXPECT_FALSE(db().row("orders/42").value().owner.has_value());
}

}  // namespace
}  // namespace rowlock::test
