#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include <string>

// This program links rowlock::core and no backend, as one does that forgot it.
namespace rowlock {
namespace {

void expect_hint(const std::string& url, const std::string& scheme, const std::string& component) {
  try {
    static_cast<void>(client::connect(url));
    ADD_FAILURE() << url;
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::unsupported);
    EXPECT_EQ(std::string{e.what()},
              "this program links rowlock::core alone, without a backend for any database; for " + scheme +
                  ": URLs, link the CMake target rowlock::" + component + ", or what pkg-config prints for rowlock-" +
                  component);
  }
}

TEST(core_only, says_which_backend_to_link) {
#ifdef ROWLOCK_WITH_SQLITE
  expect_hint("sqlite:locks.db", "sqlite", "sqlite");
#endif
#ifdef ROWLOCK_WITH_POSTGRESQL
  expect_hint("postgresql://app:secret@db/shop", "postgresql", "postgresql");
  expect_hint("postgres://app:secret@db/shop", "postgres", "postgresql");
#endif
#ifdef ROWLOCK_WITH_MYSQL
  expect_hint("mysql://app:secret@db/shop", "mysql", "mysql");
  expect_hint("mariadb://app:secret@db/shop", "mariadb", "mysql");
#endif
}

}  // namespace
}  // namespace rowlock
