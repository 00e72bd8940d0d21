#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include <string>

#include "support/errors.hpp"
#include "support/postgresql_database.hpp"
#include "support/recorder.hpp"

namespace rowlock::test {
namespace {

/// Somebody migrates; another, who may do less, works.
class postgresql_role : public testing::Test {
 protected:
  postgresql_role() { connect(db_.url()).migrate(); }

  static client connect(const std::string& url) { return client::connect(url, {.observer = silent()}); }

  postgresql_database db_;
};

TEST_F(postgresql_role, needs_four_privileges_on_the_tables_and_nothing_else) {
  auto locks = connect(db_.url_of_guest("SELECT, INSERT, UPDATE, DELETE"));
  EXPECT_NO_THROW(locks.check());
  auto held = locks.acquire("orders/42");
  EXPECT_FALSE(locks.try_acquire("orders/42").has_value());
  held.extend(std::chrono::hours{1});
  EXPECT_EQ(locks.list().size(), 1U);
  held.release();
  EXPECT_TRUE(locks.try_acquire("orders/42").has_value());
}

TEST_F(postgresql_role, that_may_only_read_is_told_so) {
  auto locks = connect(db_.url_of_guest("SELECT"));
  const auto e = error_of([&] { return locks.try_acquire("orders/42"); });
  ASSERT_TRUE(e.has_value());
  EXPECT_EQ(e->code(), errc::permission_denied) << e->what();
  EXPECT_FALSE(e->is_retryable());
  EXPECT_TRUE(throws(errc::permission_denied, [&] { locks.check(); }));
  EXPECT_TRUE(locks.list().empty());
}

TEST_F(postgresql_role, that_may_not_even_read_is_told_so) {
  auto locks = connect(db_.url_of_guest("INSERT"));
  EXPECT_TRUE(throws(errc::permission_denied, [&] { static_cast<void>(locks.try_acquire("orders/42")); }));
  EXPECT_TRUE(throws(errc::permission_denied, [&] { locks.check(); }));
}

}  // namespace
}  // namespace rowlock::test
