#include "server/server_test.hpp"

namespace rowlock::test {
namespace {

/// What makes a server end sessions that say nothing for a second, where nobody asks for anything else.
struct idle_limit {
  const char* server;
  const char* name;
  const char* value;
};

std::ostream& operator<<(std::ostream& out, const idle_limit& l) { return out << l.name; }

constexpr idle_limit idle_limits[] = {{"postgresql", "idle_in_transaction_session_timeout", "'1s'"},
                                      {"postgresql", "idle_session_timeout", "'1s'"},
                                      {"mysql", "wait_timeout", "1"},
                                      {"mysql", "idle_transaction_timeout", "1"},
                                      {"mysql", "idle_write_transaction_timeout", "1"}};

/// A lock by for_update has its own limit, client_options::transaction_limit, and relies on no default.
class with_idle_limit : public on_each_with<server_test, idle_limit> {
 protected:
  void SetUp() override {
    if (!is_known()) GTEST_SKIP() << "this version of the server does not know " << what().name;
    connect().close();
    default_ = db().set_default(what().name, what().value);
  }

 private:
  bool is_known() {
    const auto name = "'" + std::string{what().name} + "'";
    if (std::string_view{what().server} == "postgresql")
      return db().number("SELECT count(*) FROM pg_settings WHERE name = " + name) == 1;
    const bool is_mariadb = db().text("SELECT VERSION()").find("MariaDB") != std::string::npos;
    return db().number(std::string{"SELECT count(*) FROM "} +
                       (is_mariadb ? "information_schema" : "performance_schema") +
                       ".global_variables WHERE VARIABLE_NAME = " + name) == 1;
  }

  std::unique_ptr<obstacle> default_;
};
ROWLOCK_SUITE_WITH_EACH_DEFAULT(with_idle_limit, idle_limits);

TEST_P(with_idle_limit, a_lock_by_transaction_is_held_for_longer) {
  auto locks = connect();
  auto other = connect();
  auto held = locks.acquire("orders/42", {.strategy = strategy::for_update});
  let_pass(2s);
  EXPECT_FALSE(held.lost().stop_requested()) << to_string(held.why_lost());
  EXPECT_FALSE(other.try_acquire("orders/42").has_value());
  const auto token = held.token();
  EXPECT_NO_THROW(held.release());
  EXPECT_GE(db().row("orders/42").value().version, token.value()) << "its transaction was committed";
  const auto next = other.try_acquire("orders/42", {.strategy = strategy::for_update});
  ASSERT_TRUE(next.has_value());
  EXPECT_GT(next->token(), token);
}

}  // namespace
}  // namespace rowlock::test
