#include "server/server_test.hpp"
#include "support/test_thread.hpp"

namespace rowlock::test {
namespace {

/// The server lets the role have fewer connections than the client may open.
class connection_limit : public on_each_server {
 protected:
  void limit_to(int most) {
    db().execute(is_on("postgresql")
                     ? "ALTER ROLE " + db().name() + " CONNECTION LIMIT " + std::to_string(most)
                     : "ALTER USER " + db().name() + " WITH MAX_USER_CONNECTIONS " + std::to_string(most));
  }
};
ROWLOCK_SUITE_ON_EACH_SERVER(connection_limit);

TEST_P(connection_limit, makes_no_call_fail_while_there_is_a_connection) {
  connect().close();
  ASSERT_TRUE(eventually([&] { return db().sessions().empty(); }));
  limit_to(2);
  auto locks = connect_to(db().url(), {.connections = 8, .combine = false});
  on_threads(8, [&](int i) {
    const auto name = "orders/" + std::to_string(i);
    for (int round = 0; round < 25; ++round) EXPECT_NO_THROW(locks.acquire(name).release());
  });
}

}  // namespace
}  // namespace rowlock::test
