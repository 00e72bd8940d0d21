#include "core/url.hpp"

#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include <filesystem>
#include <optional>
#include <string>

#include "support/errors.hpp"
#include "testkit/temp_folder.hpp"

namespace rowlock::test {
namespace {

using namespace std::string_literals;

std::optional<error> connecting(const std::string& url) {
  return error_of([&] { return client::connect(url); });
}

bool refused_as(errc code, const std::string& url) {
  const auto e = connecting(url);
  return e.has_value() && e->code() == code && !e->is_retryable() && std::string{e->what()}.size() > 20;
}

TEST(url_refused_test, without_a_scheme) {
  for (const auto* url : {"", " ", ":", ":x", "SQL ite:x", "/a:b", "locks.db", "/var/lib/locks.db", "./locks.db",
                          "//host/db", "://", "?x=y"})
    EXPECT_TRUE(refused_as(errc::invalid_url, url)) << url;
}

TEST(url_refused_test, with_an_unknown_scheme) {
  for (const auto* url :
       {"redis://localhost", "http://example.org/", "sqlite3:locks.db", "SQLITE:locks.db", "Sqlite:locks.db",
        " sqlite:locks.db", "file:locks.db", "oracle:x", "sqlite :locks.db", "c:\\locks.db"})
    EXPECT_TRUE(refused_as(errc::invalid_url, url)) << url;
}

TEST(url_refused_test, without_a_path) {
  for (const auto* url : {"sqlite:", "sqlite:?", "sqlite:?x=y"}) EXPECT_TRUE(refused_as(errc::invalid_url, url)) << url;
}

TEST(url_refused_test, with_bytes_that_do_not_belong_there) {
  for (const auto& url : {"sqlite:a\0b.db"s, "sqlite:\xff.db"s, "sqlite:\xed\xa0\x80.db"s, "sqlite:a%00b.db"s,
                          "sqlite:%.db"s, "sqlite:%4.db"s, "sqlite:%zz.db"s, "sqlite:a%"s})
    EXPECT_TRUE(refused_as(errc::invalid_url, url)) << url;
}

TEST(url_refused_test, with_an_option_nobody_knows_and_nothing_is_made) {
  const temp_folder folder;
  const auto file = folder / "locks.db";
  for (const auto* options : {"?mode=memory", "?cache=shared", "?x", "?=", "?x=1&y=2", "?busy_timeout=1", "?vfs=unix"})
    EXPECT_TRUE(refused_as(errc::invalid_url, "sqlite:" + file.string() + options)) << options;
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(url_refused_test, names_the_option) { EXPECT_TRUE(mentions(connecting("sqlite:locks.db?speed=fast"), "speed")); }

TEST(url_refused_test, names_the_scheme_and_shows_how_it_should_be) {
  EXPECT_TRUE(mentions(connecting("redis://localhost"), "redis"));
  EXPECT_TRUE(mentions(connecting("locks.db"), "sqlite:"));
}

TEST(url_refused_test, never_repeats_a_password) {
  for (const auto* url :
       {"postgresql://user:secret@host/db", "postgres://user:secret@host/db", "mysql://user:secret@host:3306/db",
        "mariadb://user:secret@host/db", "redis://user:secret@host/0", "user:secret@host/db",
        "postgresql:host=h password=secret", "postgresql://host/db?password=secret", "sqlite:?password=secret",
        "sqlite://user:secret@host/locks.db?x=secret", "secret", "SECRET://secret"}) {
    const auto e = connecting(url);
    ASSERT_TRUE(e.has_value()) << url;
    const auto said = std::string{e->what()};
    EXPECT_EQ(said.find("secret"), std::string::npos) << said;
  }
}

using core::cut_url;

TEST(cut_url, cuts_scheme_body_and_options_which_may_be_absent) {
  const auto url = cut_url("mysql://u:p@h/db?ssl-mode=required&x=1");
  EXPECT_EQ(url.scheme, "mysql");
  EXPECT_EQ(url.body, "//u:p@h/db");
  EXPECT_EQ(url.options, "ssl-mode=required&x=1");
  EXPECT_EQ(cut_url("sqlite:a/b.db").body, "a/b.db");
  EXPECT_EQ(cut_url("sqlite:a/b.db").options, "");
}

TEST(first_option, names_the_option_and_not_its_value) {
  using core::first_option;
  EXPECT_EQ(first_option(cut_url("sqlite:x?password=secret&y=1")), ", such as \"password\"");
  EXPECT_EQ(first_option(cut_url("sqlite:x?secret")), "");
  EXPECT_EQ(first_option(cut_url("sqlite:x?\x1b[2J=1")), ", such as \"\\x1b[2J\"") << "no terminal obeys it";
  EXPECT_EQ(first_option(cut_url("sqlite:x?=secret")), "");
}

}  // namespace
}  // namespace rowlock::test
