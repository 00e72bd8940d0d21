#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "server/greeting_server.hpp"
#include "server/server_test.hpp"
#include "support/mysql_database.hpp"

namespace rowlock::test {
namespace {

using namespace std::string_literals;

std::string packet(std::size_t number, const std::string& body) {
  std::string out;
  for (const auto byte : {body.size() & 255U, body.size() >> 8U & 255U, std::size_t{0}, number})
    out += static_cast<char>(byte);
  return out + body;
}

std::string text(const std::string& of) { return static_cast<char>(of.size()) + of; }

/// Protocol 10, without encryption, and with what every client knows.
std::string greeting(const std::string& version) {
  const auto salt = "12345678"s;
  const auto more_salt = "123456789012\0"s;
  return packet(0, "\x0A"s + version + "\0\1\0\0\0"s + salt + "\0"s + "\xFF\xF7"s /* all but encryption */ +
                       "\x21\2\0"s + "\x0F\0"s + "\x15"s + std::string(10, '\0') + more_salt +
                       "mysql_native_password\0"s);
}

std::string done(std::size_t number) { return packet(number, "\0\0\0\2\0\0\0"s); }

std::string table(const std::vector<std::vector<std::string>>& rows) {
  const auto mark = "\xFE\0\0\2\0"s;
  std::size_t number = 0;
  std::string out = packet(++number, std::string(1, static_cast<char>(rows.at(0).size())));
  for (std::size_t i = 0; i < rows[0].size(); ++i)
    out += packet(++number, text("def") + text("") + text("") + text("") + text("some") + text("") +
                                "\x0C\x21\0\xFF\0\0\0\xFD\0\0\0\0\0"s);
  out += packet(++number, mark);
  for (const auto& row : rows) {
    std::string values;
    for (const auto& value : row) values += text(value);
    out += packet(++number, values);
  }
  return out + packet(++number, mark);
}

struct release {
  const char* name;
  const char* greets_as;
  const char* version;
};

std::ostream& operator<<(std::ostream& out, const release& r) { return out << r.name; }

/// Lets its client in, says its version when asked for variables, and that all is well to everything else.
void greet(const greeting_server::line& with, const release& as) {
  with.say(greeting(as.greets_as));
  if (with.hear().empty()) return;
  with.say(done(2));
  const auto variables =
      table({{"lower_case_table_names", "0"}, {"version", as.version}});  // the connector's, and ours
  for (auto heard = with.hear(); !heard.empty(); heard = with.hear())
    with.say(heard.find(" VARIABLES") == std::string::npos ? done(1) : variables);
}

class old_mysql : public testing::TestWithParam<release> {};
INSTANTIATE_TEST_SUITE_P(of, old_mysql,
                         testing::Values(release{"mysql_5_7", "5.7.44-log", "5.7.44-log"},
                                         release{"mariadb_10_5", "5.5.5-10.5.23-MariaDB", "10.5.23-MariaDB"}),
                         [](const auto& r) { return r.param.name; });

TEST_P(old_mysql, is_refused_with_a_sentence) {
  const greeting_server old{[](const greeting_server::line& with) { greet(with, GetParam()); }};
  const auto e = error_of([&] {
    client::connect("mysql://somebody@127.0.0.1:" + std::to_string(old.port()) + "/some", {.observer = silent()})
        .close();
    return true;
  });
  ASSERT_TRUE(e.has_value());
  EXPECT_EQ(e->code(), errc::unsupported) << e->what();
  EXPECT_FALSE(e->is_retryable());
  EXPECT_TRUE(mentions(e, GetParam().version)) << e->what();
  EXPECT_TRUE(mentions(e, "MySQL 8.0 or MariaDB 10.6")) << e->what();
}

class plain_mysql : public only_on<mysql_database> {};

TEST_F(plain_mysql, is_refused_where_encryption_is_asked_for) {
  if (db().number(db().is_mariadb() ? "SELECT @@have_ssl = 'YES'" : "SELECT @@ssl_cert <> ''") == 1)
    GTEST_SKIP() << "this server encrypts";
  for (const auto* mode : {"REQUIRED", "VERIFY_CA&ssl-ca=/dev/null", "VERIFY_IDENTITY&ssl-ca=/dev/null"}) {
    const auto e = error_of([&] {
      connect_to(db().url() + "?ssl-mode=" + mode).close();
      return true;
    });
    ASSERT_TRUE(e.has_value()) << mode;
    EXPECT_EQ(e->code(), errc::connection_failed) << e->what();
  }
}

}  // namespace
}  // namespace rowlock::test
