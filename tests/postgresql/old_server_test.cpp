#include <arpa/inet.h>

#include "server/greeting_server.hpp"
#include "server/server_test.hpp"

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
  });
  ASSERT_TRUE(is_error(e, errc::unsupported, {.says = {"version 12", "13 or newer"}}));
}

}  // namespace
}  // namespace rowlock::test
