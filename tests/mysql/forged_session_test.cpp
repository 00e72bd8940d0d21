#include "server/server_test.hpp"
#include "transaction/caller.hpp"

#ifdef ROWLOCK_WITH_MYSQL
#include "support/mysql_database.hpp"

namespace rowlock::test {
namespace {

/// A row says which session has it, and anybody who takes locks may write what it says.
class forged_session : public only_on<mysql_database> {
 protected:
  forged_session() { connect().close(); }

  client connect_administrator() {
    auto address = db().administrator();
    address.database = db().name();
    return connect_to(address.url());
  }
  static std::string number_of(caller& session) { return session.text("SELECT CONNECTION_ID()"); }
  /// Somebody who may take locks and nothing else keeps the row, and says that another session does.
  std::unique_ptr<caller> keep(const std::string& name, const std::string& by_session) {
    auto out = open_caller(db().url_of_guest("SELECT, INSERT, UPDATE, DELETE"), "read committed");
    out->begin();
    out->statement("UPDATE rowlock_lock SET thread = 'session " + by_session +
                   " from 7', version = version + 1 WHERE name = '" + name + "'");
    return out;
  }
};

TEST_F(forged_session, is_not_ended_and_the_one_that_has_the_row_is_named) {
  auto desk = connect_administrator();
  desk.acquire("orders/42").release();
  const auto innocent = open_caller(db().url(), "read committed");
  innocent->begin();
  innocent->statement("INSERT INTO rowlock_lock (name, version) VALUES ('busy with something else', 1)");
  const auto guilty = keep("orders/42", number_of(*innocent));
  const auto e = error_of([&] { return desk.force_release("orders/42"); });
  ASSERT_TRUE(is_error(e, errc::database_error, {.says = {"session " + number_of(*guilty), "PROCESSLIST"}}));
  EXPECT_NO_THROW(innocent->statement("COMMIT"));
}

TEST_F(forged_session, is_ended_where_it_is_the_truth) {
  auto desk = connect_administrator();
  desk.acquire("orders/42").release();
  const auto holder = open_caller(db().url(), "read committed");
  holder->begin();
  holder->statement(
      "UPDATE rowlock_lock SET thread = CONCAT('session ', CONNECTION_ID(), ' from 7'), version = version + 1 "
      "WHERE name = 'orders/42'");
  EXPECT_TRUE(desk.force_release("orders/42"));
  EXPECT_TRUE(desk.try_acquire("orders/42").has_value());
}

// What the server says of others' transactions only such a role is told.
TEST_F(forged_session, is_not_ended_by_a_role_that_cannot_ask_the_server) {
  auto desk = connect_administrator();
  desk.acquire("orders/42").release();
  const auto innocent = open_caller(db().url(), "read committed");
  const auto guilty = keep("orders/42", number_of(*innocent));
  db().forbid_seeing_locks();
  auto locks = connect_to(db().url());
  const auto e = error_of([&] { return locks.force_release("orders/42"); });
  ASSERT_TRUE(is_error(e, errc::permission_denied, {.says = {db().is_mariadb() ? "PROCESS" : "data_locks"}}));
  EXPECT_NO_THROW(innocent->statement("SELECT 1"));
}

}  // namespace
}  // namespace rowlock::test
#endif
