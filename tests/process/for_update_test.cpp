#include "process/claimant.hpp"
#include "process/process_test.hpp"
#include "support/slowness.hpp"

// What becomes of a lock by for_update when its holder is killed or stopped. What its server does to it: server/.

namespace rowlock::test {
namespace {

constexpr auto long_limit = 10s;
constexpr std::chrono::milliseconds short_limit = 1s;

void expect_busy(client& by) {
  for (const auto each : all_strategies)
    EXPECT_FALSE(by.try_acquire("job", {.strategy = each}).has_value()) << to_string(each);
}

class killed_for_update : public on_each_database_with<strategy> {
 protected:
  lock_options next() const { return {.strategy = what()}; }
  void expect_next(const held_lock& held, std::int64_t token) const {
    EXPECT_GT(held.token().value(), token);
    EXPECT_EQ(held.strategy(), what());
  }

  client locks_ = connect();
};
ROWLOCK_SUITE_ON_EACH_DATABASE_WITH_EACH(killed_for_update, all_strategies);

TEST_P(killed_for_update, leaves_the_lock_to_the_next_at_once) {
  claimant holder{db().url(), strategy::for_update, long_limit};
  const auto token = holder.claim("job");
  expect_busy(locks_);
  holder.kill();
  const stopwatch watch;
  const auto held = locks_.acquire("job", next());
  EXPECT_LT(watch.elapsed(), on_this_machine(3s));
  expect_next(held, token);
  EXPECT_EQ(db().row("job").value().expires_at.has_value(), what() != strategy::for_update || !is_on("sqlite"));
}

TEST_P(killed_for_update, leaves_it_to_one_who_waits) {
  claimant holder{db().url(), strategy::for_update, long_limit};
  const auto token = holder.claim("job");
  background waiter{[&](std::stop_token stop) { return locks_.acquire("job", next(), stop); }};
  EXPECT_FALSE(waiter.is_done_within(a_moment));
  holder.kill();
  const stopwatch watch;
  const auto held = waiter.get();
  EXPECT_LT(watch.elapsed(), on_this_machine(3s));
  expect_next(held, token);
}

// The child has the parent's connection, or its file, open.
TEST_P(killed_for_update, leaves_it_to_the_next_although_a_child_of_a_fork_lives_on) {
  claimant holder{db().url(), strategy::for_update, 2s};
  const auto token = holder.claim("job");
  EXPECT_EQ(holder.ask("fork"), "forked");
  EXPECT_EQ(holder.ask("held?"), "yes");
  expect_busy(locks_);
  holder.kill();
  const stopwatch watch;
  const auto held = locks_.acquire("job", next());
  EXPECT_LT(watch.elapsed(), is_on("sqlite") ? on_this_machine(3s) : 2s + on_this_machine(3s))
      << "when the server has heard nothing for so long, at the latest";
  expect_next(held, token);
}

class stopped_for_update : public process_test {
 protected:
  bool is_on_a_server() const { return GetParam().name != "sqlite"; }
};
ROWLOCK_SUITE_ON_EACH_DATABASE(stopped_for_update);

TEST_P(stopped_for_update, for_too_long_has_lost_the_lock_and_learns_of_it) {
  if (!is_on_a_server()) GTEST_SKIP() << "a file stays locked for as long as its process lives";
  claimant holder{db().url(), strategy::for_update, short_limit};
  const auto token = holder.claim("job");
  holder.pause();
  const stopwatch watch;
  const auto held = locks_.acquire("job");
  EXPECT_GT(watch.elapsed(), short_limit / 2) << "the holder has spoken up every third of its limit";
  EXPECT_LT(watch.elapsed(), short_limit + on_this_machine(3s));
  EXPECT_GT(held.token().value(), token);

  holder.resume();
  const auto reason = holder.ask("lost?");
  EXPECT_TRUE(reason == "expired" || reason == "unreachable" || reason == "session_ended") << reason;
  EXPECT_EQ(holder.ask("release"), make_error_code(errc::lock_lost).message());
  EXPECT_EQ(holder.ask("try job"), "busy");
  EXPECT_FALSE(held.lost().stop_requested());
}

TEST_P(stopped_for_update, for_less_than_its_limit_keeps_the_lock) {
  claimant holder{db().url(), strategy::for_update, long_limit};
  holder.claim("job");
  holder.pause();
  EXPECT_FALSE(locks_.try_acquire_for("job", 300ms).has_value());
  holder.resume();
  EXPECT_EQ(holder.ask("held?"), "yes");
  EXPECT_EQ(holder.ask("release"), "released");
  EXPECT_TRUE(locks_.try_acquire("job").has_value());
}

TEST_P(stopped_for_update, keeps_a_lock_in_a_file_for_as_long_as_it_lives) {
  if (is_on_a_server()) GTEST_SKIP() << "a server ends what says nothing";
  claimant holder{db().url(), strategy::for_update, short_limit};
  const auto token = holder.claim("job");
  holder.pause();
  EXPECT_FALSE(locks_.try_acquire_for("job", 2 * short_limit).has_value());
  expect_busy(locks_);
  holder.kill();  // a stopped process, too
  EXPECT_GT(locks_.acquire("job").token().value(), token);
}

TEST_P(stopped_for_update, that_does_nothing_keeps_the_lock_for_longer_than_its_limit) {
  claimant holder{db().url(), strategy::for_update, short_limit};
  holder.claim("job");
  EXPECT_FALSE(locks_.try_acquire_for("job", 2 * short_limit + short_limit / 2).has_value());
  EXPECT_EQ(holder.ask("held?"), "yes");
  EXPECT_EQ(holder.ask("release"), "released");
  EXPECT_TRUE(locks_.try_acquire("job").has_value());
}

}  // namespace
}  // namespace rowlock::test
