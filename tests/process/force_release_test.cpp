#include "process/claimant.hpp"
#include "process/process_test.hpp"

// What an operator's force does to a holder that is a process of its own.

namespace rowlock::test {
namespace {

class forced_process : public on_each_database_with<strategy> {
 protected:
  static constexpr std::chrono::milliseconds limit = 3s;

  claimant holder() const { return claimant{db().url(), what(), limit}; }
  bool holds_by_transaction() const { return what() == strategy::for_update && !is_on("sqlite"); }
};
ROWLOCK_SUITE_ON_EACH_DATABASE_WITH_EACH(forced_process, all_strategies);

TEST_P(forced_process, hears_of_it_at_once_or_when_it_goes_on) {
  auto desk = connect();
  auto one = holder();
  for (const bool is_stopped : {true, false}) {
    SCOPED_TRACE(is_stopped);
    const auto token = one.claim("job", limit);
    if (is_stopped) one.pause();
    EXPECT_TRUE(desk.force_release("job"));
    auto next = desk.try_acquire("job", {.strategy = what()});
    ASSERT_TRUE(next.has_value()) << "at once";
    EXPECT_GT(next->token().value(), token);
    if (is_stopped) one.resume();
    const auto reason = one.ask("lost?");
    const bool may_have_expired = is_stopped && reason == "expired";
    EXPECT_TRUE(may_have_expired || reason == (holds_by_transaction() ? "session_ended" : "forced")) << reason;
    EXPECT_EQ(one.ask("release"), make_error_code(errc::lock_lost).message());
    EXPECT_EQ(one.ask("try job"), "busy");
    EXPECT_FALSE(next->lost().stop_requested());
    EXPECT_NO_THROW(next->release());
    EXPECT_EQ(one.ask("try job"), "granted");
  }
  const auto next = desk.acquire("job", {.strategy = what()});
  one.order("end");
  EXPECT_EQ(one.wait(), 0);
  EXPECT_FALSE(next.lost().stop_requested());
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
