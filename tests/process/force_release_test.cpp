#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include "process/claimant.hpp"
#include "support/errors.hpp"
#include "support/on_each_database_with.hpp"
#include "testkit/eventually.hpp"

// What an operator's force does to a holder that is a process of its own.

namespace rowlock::test {
namespace {

class forced_process : public on_each_database_with<strategy> {
 protected:
  static constexpr std::chrono::milliseconds limit = 3s;

  claimant holder() const { return {db().url(), what(), limit}; }
  bool holds_by_transaction() const { return what() == strategy::for_update && !is_on("sqlite"); }
};
ROWLOCK_SUITE_ON_EACH_DATABASE_WITH_EACH(forced_process, all_strategies);

TEST_P(forced_process, that_lives_hears_of_it) {
  auto desk = connect();
  auto one = holder();
  const auto token = one.claim("job", limit);
  EXPECT_TRUE(desk.force_release("job"));
  const auto next = desk.try_acquire("job", {.strategy = what()});
  ASSERT_TRUE(next.has_value()) << "at once";
  EXPECT_GT(next->token().value(), token);
  EXPECT_EQ(one.ask("lost?"), holds_by_transaction() ? "session_ended" : "forced");
  EXPECT_EQ(one.ask("release"), make_error_code(errc::lock_lost).message());
  EXPECT_EQ(one.ask("try job"), "busy");
  EXPECT_FALSE(next->lost().stop_requested());
  one.order("end");
  EXPECT_EQ(one.wait(), 0);
  EXPECT_FALSE(next->lost().stop_requested());
}

TEST_P(forced_process, that_is_stopped_hears_of_it_when_it_goes_on) {
  auto desk = connect();
  auto one = holder();
  const auto token = one.claim("job", limit);
  one.pause();
  EXPECT_TRUE(desk.force_release("job"));
  auto next = desk.try_acquire("job", {.strategy = what()});
  ASSERT_TRUE(next.has_value()) << "at once";
  EXPECT_GT(next->token().value(), token);
  one.resume();
  const auto reason = one.ask("lost?");
  if (holds_by_transaction()) {
    EXPECT_TRUE(reason == "session_ended" || reason == "expired") << reason;
  } else {
    EXPECT_TRUE(reason == "forced" || reason == "expired") << reason;
  }
  EXPECT_EQ(one.ask("release"), make_error_code(errc::lock_lost).message());
  EXPECT_EQ(one.ask("try job"), "busy");
  EXPECT_FALSE(next->lost().stop_requested());
  EXPECT_NO_THROW(next->release());
  EXPECT_EQ(one.ask("try job"), "granted");
}

TEST_P(forced_process, that_was_killed_leaves_nothing_that_has_to_be_waited_for) {
  auto desk = connect();
  auto one = holder();
  one.claim("job", 1h);
  one.kill();
  desk.force_release("job");  // the server may have seen the end of a session already
  EXPECT_TRUE(desk.try_acquire("job", {.strategy = what()}).has_value());
}

}  // namespace
}  // namespace rowlock::test
