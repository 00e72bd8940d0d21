#include "mysql/speaking.hpp"
#include "server/greeting_server.hpp"
#include "server/server_test.hpp"

// Accounts whose plugin and the connector's library do not fit together.
namespace rowlock::test {
namespace {

// MariaDB's library goes on without a plugin, so a server may refuse the login or close the connection.
TEST(login_by_a_plugin_that_the_client_does_not_have, says_what_to_do) {
  for (const auto& answer : {""s, packet(4, "\xFF\x15\x04#28000Access denied"s)}) {
    const greeting_server wants_it{[&](const greeting_server::line& with) {
      with.say(greeting("10.11.6-MariaDB"));
      if (with.hear().empty()) return;
      with.say(packet(2, "\xFEno_such_plugin\0 12345678901234567890\0"s));
      if (!with.hear().empty()) with.say(answer);
    }};
    const auto e = error_of([&] {
      client::connect("mysql://app:secret@127.0.0.1:" + std::to_string(wants_it.port()) + "/shop?ssl-mode=DISABLED",
                      {.observer = silent()})
          .close();
    });
    ASSERT_TRUE(e.has_value());
    EXPECT_EQ(e->native_code(), 2059) << e->what();
    EXPECT_EQ(e->code(), errc::permission_denied);
    EXPECT_FALSE(e->is_retryable());
    EXPECT_TRUE(mentions(e, "no_such_plugin")) << e->what();
    EXPECT_TRUE(mentions(e, "use MariaDB's library with MariaDB")) << e->what();
  }
}

}  // namespace
}  // namespace rowlock::test
