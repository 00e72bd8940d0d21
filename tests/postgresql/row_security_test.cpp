#include <algorithm>

#include "server/server_test.hpp"
#include "support/postgresql_database.hpp"

namespace rowlock::test {
namespace {

class row_security : public only_on<postgresql_database> {
 protected:
  std::string set_up_guest(const std::string& script) {
    connect().close();
    const auto url = db().url_of_guest("SELECT, INSERT, UPDATE, DELETE");
    db().execute(script);
    return url;
  }
  static std::string about_privileges(client& locks) {
    const auto all = locks.diagnose();
    return std::find_if(all.begin(), all.end(), [](const finding& f) { return f.subject == "privileges"; })->sentence;
  }
  /// Every session that is there now sees no rows from now on; one that begins later does.
  void hide_rows_from_sessions() {
    std::string pids;
    for (const auto pid : db().sessions()) pids.append(pids.empty() ? "" : ", ").append(std::to_string(pid));
    db().execute(
        "DROP POLICY IF EXISTS hiding ON rowlock_lock; CREATE POLICY hiding ON rowlock_lock USING "
        "(pg_backend_pid() <> ALL (ARRAY[" +
        pids +
        "])); ALTER TABLE rowlock_lock ENABLE ROW LEVEL SECURITY; ALTER TABLE rowlock_lock FORCE ROW LEVEL "
        "SECURITY");
  }
};

TEST_F(row_security, that_hides_rows_is_found_by_check) {
  auto locks = connect_to(set_up_guest("ALTER TABLE rowlock_lock ENABLE ROW LEVEL SECURITY"));
  const auto e = error_of([&] { locks.check(); });
  ASSERT_TRUE(is_error(e, errc::permission_denied, {.says = {"row level security of the table rowlock_lock"}}));
  EXPECT_EQ(about_privileges(locks), e->what());
}

TEST_F(row_security, of_the_tickets_is_found_by_check) {
  auto locks = connect_to(
      set_up_guest("ALTER TABLE rowlock_waiter ENABLE ROW LEVEL SECURITY; CREATE POLICY own ON rowlock_waiter USING "
                   "(owner = current_user)"));
  EXPECT_TRUE(throws(errc::permission_denied, [&] { locks.check(); }));
}

TEST_F(row_security, that_hides_nothing_is_none) {
  auto locks = connect_to(
      set_up_guest("ALTER TABLE rowlock_lock ENABLE ROW LEVEL SECURITY; CREATE POLICY all_of_it ON rowlock_lock USING "
                   "(true)"));
  EXPECT_NO_THROW(locks.check());
  EXPECT_NO_THROW(connect().check()) << "the tables' owner";
  db().execute("CREATE POLICY but_not ON rowlock_lock AS RESTRICTIVE USING (name <> 'x')");
  EXPECT_TRUE(throws(errc::permission_denied, [&] { locks.check(); }));
}

TEST_F(row_security, of_one_session_does_not_end_a_lease) {
  auto locks = connect({.connections = 1});
  auto held = locks.acquire("orders/42", {.lease = 3s});
  hide_rows_from_sessions();
  EXPECT_TRUE(is_renewed("orders/42"));
  EXPECT_EQ(held.why_lost(), loss_reason::none);
  hide_rows_from_sessions();
  EXPECT_NO_THROW(held.extend(1min));
  hide_rows_from_sessions();
  EXPECT_NO_THROW(held.release());
  EXPECT_TRUE(is_vacant("orders/42"));
}

TEST_F(row_security, of_one_session_does_not_end_a_share) {
  auto locks = connect({.connections = 1});
  auto held = locks.acquire_shared("orders/42", {.lease = 1min});
  hide_rows_from_sessions();
  EXPECT_NO_THROW(held.extend(2min));
  hide_rows_from_sessions();
  EXPECT_NO_THROW(held.release());
}

}  // namespace
}  // namespace rowlock::test
