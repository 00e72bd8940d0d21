#include "support/tcp_proxy.hpp"
#include "transaction/transaction_test.hpp"

namespace rowlock::test {
namespace {

/// The server ends the session of the transaction.
class killed_session : public transaction_test {
 protected:
  void kill_tx() {
    const bool is_postgresql = is_on("postgresql");
    const auto id = tx().text(is_postgresql ? "SELECT pg_backend_pid()" : "SELECT CONNECTION_ID()");
    server().execute((is_postgresql ? "SELECT pg_terminate_backend(" : "KILL (") + id + ")");
  }
  static void expect_lost(const std::optional<error>& e) {
    ASSERT_TRUE(is_error(e, errc::connection_failed, {.connection_is_unusable = true}));
  }
};
ROWLOCK_SUITE_IN(killed_session, on_servers(usual_places()));

TEST_P(killed_session, lets_go_and_says_so_at_the_next_lock) {
  begin_and_lock_in();
  tx().statement(write_own);
  kill_tx();
  EXPECT_TRUE(can_have_soon("orders/42"));
  EXPECT_EQ(value(), 0);
  expect_lost(error_of([&] { return tx().lock_in(locks(), "orders/43"); }));
}

TEST_P(killed_session, is_told_by_confirm) {
  const auto held = others().acquire("orders/42");
  tx().begin();
  tx().confirm(held);
  kill_tx();
  expect_lost(error_of([&] { tx().confirm(held); }));
  EXPECT_FALSE(held.lost().stop_requested()) << "the lock is the client's";
}

TEST_P(killed_session, is_told_by_optimistically) {
  int runs = 0;
  expect_lost(error_of([&] {
    tx().optimistically_without_result(locks(), "orders/42", [&] {
      if (++runs == 1) tx().statement(write_own);
      kill_tx();
    });
    return true;
  }));
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(value(), 0);
}

TEST_P(killed_session, is_told_by_optimistically_where_it_ends_before_the_commit) {
  tcp_proxy proxy{server().host(), server().port()};
  const auto far = open_caller(server().url_through(proxy.port()), GetParam().isolation);
  const auto is_commit = [](std::string_view request) { return request.find("COMMIT") != std::string_view::npos; };
  const auto e = error_of([&] {
    far->optimistically_without_result(locks(), "orders/42", [&] {
      far->statement(write_own);
      proxy.on_request(is_commit, tcp_proxy::action::cut_before);
    });
    return true;
  });
  EXPECT_TRUE(proxy.has_acted());
  ASSERT_TRUE(e.has_value());
  EXPECT_TRUE(e->outcome_is_unknown()) << e->what();
  EXPECT_EQ(value(), 0);
}

}  // namespace
}  // namespace rowlock::test
