#include <arpa/inet.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "server/greeting_server.hpp"
#include "server/server_test.hpp"
#include "support/postgresql_database.hpp"

namespace rowlock::test {
namespace {

std::string message(char type, std::string_view body) {
  const std::uint32_t size = ::htonl(static_cast<std::uint32_t>(body.size() + sizeof size));
  std::string out(1, type);
  out.append(reinterpret_cast<const char*>(&size), sizeof size);  // NOLINT: bytes for the network
  return out.append(body);
}

/// Greets as a PostgreSQL server of some version does, and then listens to its client until it goes.
void greet(const greeting_server::line& with, const std::string& version) {
  using namespace std::string_literals;
  if (with.hear().empty()) return;
  with.say(message('R', "\0\0\0\0"s));  // no password is asked for
  with.say(message('S', "server_version\0"s + version + "\0"s));
  with.say(message('S', "client_encoding\0UTF8\0"s));
  with.say(message('Z', "I"));
  while (!with.hear().empty()) {
  }
}

TEST(old_postgresql, is_refused_with_a_sentence) {
  const greeting_server old{[](const greeting_server::line& with) { greet(with, "12.22"); }};
  const auto e = error_of([&] {
    client::connect(
        "postgresql://somebody@127.0.0.1:" + std::to_string(old.port()) + "/some?sslmode=disable&gssencmode=disable",
        {.observer = silent()})
        .close();
    return true;
  });
  ASSERT_TRUE(e.has_value());
  EXPECT_EQ(e->code(), errc::unsupported);
  EXPECT_TRUE(mentions(e, "version 12")) << e->what();
  EXPECT_TRUE(mentions(e, "13 or newer")) << e->what();
}

class plain_postgresql : public only_on<postgresql_database> {};

TEST_F(plain_postgresql, is_refused_where_encryption_is_asked_for) {
  if (db().text("SHOW ssl") == "on") GTEST_SKIP() << "this server encrypts";
  for (const auto* mode : {"require", "verify-ca", "verify-full"}) {
    const auto e = error_of([&] {
      connect_to(db().url() + "?sslmode=" + mode).close();
      return true;
    });
    ASSERT_TRUE(e.has_value()) << mode;
    EXPECT_EQ(e->code(), errc::connection_failed) << e->what();
  }
}

}  // namespace
}  // namespace rowlock::test
