#include <gmock/gmock.h>
#include <signal.h>

#include <string>

#include "command/command.hpp"

namespace rowlock::test {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::IsEmpty;

class command_waiting : public command, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(signals, command_waiting, testing::Values(SIGINT, SIGTERM, SIGHUP));

TEST_P(command_waiting, is_given_up_at_a_signal_which_then_kills_it) {
  auto held = locks_.acquire("job");
  const auto before = database_.row("job").value();
  program started{run({"--", "touch", file("ran")})};
  ASSERT_TRUE(eventually([&] { return is_waiting(started.pid()); }));
  started.signal(GetParam());
  EXPECT_EQ(started.wait(), killed_by(GetParam()));
  EXPECT_THAT(started.out(), IsEmpty());
  const auto after = database_.row("job").value();
  EXPECT_EQ(after.acquisition, before.acquisition);
  EXPECT_EQ(after.version, before.version);
  EXPECT_THAT(locks_.waiters("job"), IsEmpty());
  EXPECT_FALSE(held.lost().stop_requested()) << "the holder is not disturbed";
  held.release();
  EXPECT_TRUE(is_free("job"));
  EXPECT_FALSE(fs::exists(file("ran")));
}

// Whenever it comes: before the lock is had, while the command is started, when it runs or when all is over.
TEST_P(command_waiting, a_signal_at_any_moment_leaves_nothing_held_and_nothing_running) {
  for (int i = 0; i < 40; ++i) {
    program started{run({"--", "sleep", "100"})};
    const stopwatch watch;
    EXPECT_TRUE(eventually([&] { return watch.elapsed() >= i * std::chrono::microseconds{500}; }));
    started.signal(GetParam());
    EXPECT_THAT(started.wait(), AnyOf(killed_by(GetParam()), exited(128 + GetParam()))) << started.err();
    EXPECT_TRUE(is_free("job")) << "round " << i;
  }
}

using command_queue = command;

TEST_F(command_queue, of_two_at_once_that_do_not_wait_one_runs_and_the_other_is_refused) {
  for (int i = 0; i < 10; ++i) {
    const auto may_end = file("go" + std::to_string(i)).string();
    const auto how =
        run({"--wait", "0", "--", "sh", "-c", "echo ran; while [ ! -e \"$0\" ]; do sleep 0.01; done", may_end});
    program first{how};
    program second{how};
    ASSERT_TRUE(eventually([&] { return first.has_ended() || second.has_ended(); }));
    auto& refused_one = first.has_ended() ? first : second;
    auto& running_one = first.has_ended() ? second : first;
    EXPECT_EQ(refused_one.wait(), exited(75)) << refused_one.err();
    EXPECT_THAT(refused_one.out(), IsEmpty());
    EXPECT_TRUE(running_one.says("ran"));
    EXPECT_FALSE(running_one.has_ended());
    EXPECT_EQ(finish({.words = {"touch", may_end}}).end, exited(0));
    EXPECT_EQ(running_one.wait(), exited(0)) << running_one.err();
  }
}

}  // namespace
}  // namespace rowlock::test
