#include "core/url.hpp"

#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "support/errors.hpp"
#include "testkit/temp_folder.hpp"

namespace rowlock::test {
namespace {

using namespace std::string_literals;

std::optional<error> connecting(const std::string& url) {
  return error_of([&] { return client::connect(url); });
}

TEST(url_test, is_refused_where_it_cannot_be_read_and_no_password_is_repeated) {
  const auto expect_refused = [](std::initializer_list<std::string> urls) {
    for (const auto& url : urls) {
      const auto e = connecting(url);
      ASSERT_TRUE(is_error(e, errc::invalid_url, {.is_retryable = false})) << url;
      EXPECT_GT(std::string_view{e->what()}.size(), 20U) << url;
      EXPECT_FALSE(mentions(e, "secret")) << e->what();
    }
  };
  // no scheme
  expect_refused({"", " ", ":", ":x", "SQL ite:x", "/a:b", "locks.db", "/var/lib/locks.db", "./locks.db", "//host/db",
                  "://", "?x=y", "secret", "user:secret@host/db"});
  // no known scheme
  expect_refused({"redis://user:secret@localhost/0", "http://example.org/", "sqlite3:locks.db", "SQLITE:locks.db",
                  "Sqlite:locks.db", " sqlite:locks.db", "file:locks.db", "oracle:x", "sqlite :locks.db",
                  "c:\\locks.db", "SECRET://secret"});
  // no path, a host, or bytes that do not belong in a path
  expect_refused(
      {"sqlite:", "sqlite:?", "sqlite:?x=y", "sqlite:?password=secret", "sqlite://user:secret@host/locks.db?x=secret"});
  expect_refused({"sqlite:a\0b.db"s, "sqlite:\xff.db"s, "sqlite:\xed\xa0\x80.db"s, "sqlite:a%00b.db"s, "sqlite:%.db"s,
                  "sqlite:%4.db"s, "sqlite:%zz.db"s, "sqlite:a%"s});
#ifdef ROWLOCK_WITH_POSTGRESQL
  expect_refused({"postgresql:locks", "postgresql:host=h password=secret", "postgres:host=h password=secret",
                  "postgresql://u:secret@[::1/db", "postgresql://u:secret@h/db?nonsense=1",
                  "postgresql://u:secret%zz2@h/db"});
#endif
#ifdef ROWLOCK_WITH_MYSQL
  expect_refused({"mysql:app:secret@db/shop", "mysql://app:secret@db", "mysql://app:secret@db/",
                  "mysql://app:secret@db:0/shop", "mysql://app:secret@db:65536/shop", "mysql://app:secret@db:33o6/shop",
                  "mysql://app:sec/secret@db/shop", "mysql://app:%zz@db/secret", "mysql://app:%00secret@db/shop",
                  "mysql://app:secret@a,b/shop", "mysql://app:secret@[::1/shop", "mysql://app:secret@[::1]x/shop",
                  "mysql://app:secret@db/shop?secret", "mysql://app:secret@db/shop?ssl-mode=secret",
                  "mysql://app:secret@db/shop?ssl-mode=REQUIRED&ssl-mode=DISABLED",
                  "mysql://app:secret@db/shop?ssl-mode=VERIFY_CA", "mysql://app:secret@db/shop?ssl-ca=/secret",
                  "mysql://app:secret@db/shop?password=secret"});
#endif
}

TEST(url_test, is_refused_with_an_unknown_option_before_anything_is_made) {
  const temp_folder folder;
  const auto file = folder / "locks.db";
  for (const auto* options : {"?mode=memory", "?cache=shared", "?x", "?=", "?x=1&y=2", "?busy_timeout=1", "?vfs=unix"})
    EXPECT_TRUE(is_error(connecting("sqlite:" + file.string() + options), errc::invalid_url, {.is_retryable = false}))
        << options;
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(url_test, that_leads_nowhere_or_to_no_backend_shows_no_password) {
  for (const auto* url :
       {"postgresql://user:secret@host/db", "postgres://user:secret@host/db", "mysql://user:secret@host:3306/db",
        "mariadb://user:secret@host/db", "postgresql://host/db?password=secret"}) {
    const auto e = connecting(url);
    ASSERT_TRUE(e.has_value()) << url;
    EXPECT_FALSE(mentions(e, "secret")) << e->what();
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
