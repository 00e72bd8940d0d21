#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "command/command.hpp"

// Without a terminal, as under cron. And what the command leaves behind.

namespace rowlock::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class command_without_terminal : public command {
 protected:
  /// A shell that starts a watcher in the background and waits for it.
  static words shell_around_watcher() {
    return words{"sh", "-c", "trap 'echo the shell; exit 41' TERM USR1; \"$@\" & wait; wait", "sh"} + watcher({"15"});
  }
};

TEST_F(command_without_terminal, the_command_has_a_group_of_its_own) {
  program started{run(words{"--"} + watcher({"15"}))};
  const auto pid = pid_from(started);
  EXPECT_EQ(::getpgid(pid), pid);
  EXPECT_NE(::getpgid(started.pid()), pid);
  EXPECT_EQ(::getsid(pid), ::getsid(started.pid())) << "the session is the caller's";
  started.signal(SIGTERM);
  EXPECT_EQ(started.wait(), exited(40));
}

TEST_F(command_without_terminal, a_signal_reaches_the_whole_group) {
  program started{run(words{"--"} + shell_around_watcher())};
  static_cast<void>(pid_from(started));
  started.signal(SIGTERM);
  EXPECT_EQ(started.wait(), exited(41)) << started.err();
  EXPECT_TRUE(started.says("the shell"));
  EXPECT_TRUE(started.says("got 15 "));
  EXPECT_TRUE(is_vacant());
}

class command_forwarding : public command_without_terminal, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(signals, command_forwarding,
                         testing::Values(SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGTERM, SIGCONT));

TEST_P(command_forwarding, passes_on_every_signal_once) {
  watched_run started{*this, {}, {"12", "10"}};
  const auto said = "got " + std::to_string(GetParam()) + " ";
  started.signal(GetParam());
  EXPECT_TRUE(started.says(said));
  if (!started.has_ended()) {
    const int last = GetParam() == SIGUSR1 ? SIGUSR2 : SIGUSR1;
    if (GetParam() != SIGUSR1 && GetParam() != SIGUSR2) started.signal(last);
  }
  EXPECT_EQ(started.wait(), exited(40)) << "rowlock itself goes on until the command ends";
  EXPECT_EQ(occurrences(started.out(), said), 1);
  EXPECT_TRUE(is_vacant());
}

TEST_F(command_without_terminal, a_command_that_dies_of_the_signal_gives_its_status) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1}) {
    program started{run({"--", "sh", "-c", "ulimit -c 0; echo started; exec sleep 100"})};
    ASSERT_TRUE(started.says("started"));
    started.signal(number);
    EXPECT_EQ(started.wait(), exited(128 + number));
    EXPECT_TRUE(is_vacant());
  }
}

TEST_F(command_without_terminal, a_command_may_outlive_a_signal_for_as_long_as_it_likes) {
  watched_run started{*this, {"--lease", "2s"}, {"10"}};
  started.signal(SIGTERM);
  ASSERT_TRUE(started.says("got 15 "));
  const auto lease_ends = database_.row("job").value().expires_at.value();
  ASSERT_TRUE(eventually([&] { return database_.now() > lease_ends; }));
  EXPECT_FALSE(is_free("job")) << "renewed still";
  started.signal(SIGUSR1);
  EXPECT_EQ(started.wait(), exited(40));
}

TEST_F(command_without_terminal, a_signal_that_was_ignored_at_the_start_is_not_passed_on) {
  auto how = run(words{"--"} + watcher({"15"}));
  how.before_exec = [] { ::signal(SIGHUP, SIG_IGN); };
  program started{how};
  ASSERT_TRUE(started.says("started"));
  started.signal(SIGHUP);
  started.signal(SIGTERM);
  EXPECT_EQ(started.wait(), exited(40)) << "and does not kill rowlock";
  EXPECT_THAT(started.out(), Not(HasSubstr("got 1 ")));
}

TEST_F(command_without_terminal, a_stopped_command_is_waited_for) {
  program started{run(words{"--"} + watcher({"15"}))};
  const auto pid = pid_from(started);
  ::kill(pid, SIGSTOP);
  ASSERT_TRUE(eventually([&] { return state_of(pid) == 'T'; }));
  EXPECT_FALSE(is_free("job"));
  EXPECT_FALSE(started.has_ended());
  started.signal(SIGCONT);
  EXPECT_TRUE(started.says("got 18 "));
  started.signal(SIGTERM);
  EXPECT_EQ(started.wait(), exited(40));
}

using command_detached = command_without_terminal;

TEST_F(command_detached, a_daemon_outlives_the_run_and_holds_nothing) {
  program started{run(
      words{"--", "sh", "-c", "setsid \"$@\" & while ! grep -q started \"$0\"; do sleep 0.01; done", file("daemon")} +
      words{"sh", "-c", "exec \"$@\" > \"$0\"", file("daemon")} + watcher())};
  EXPECT_EQ(started.wait(), exited(0)) << started.err();
  EXPECT_TRUE(is_free("job")) << "at once";
  const auto daemon = static_cast<pid_t>(number_after(contents_of(file("daemon")), "started ").value());
  EXPECT_TRUE(is_alive(daemon));
  EXPECT_EQ(occurrences(contents_of(file("daemon")), "got "), 0);
}

TEST_F(command_detached, a_child_in_the_background_outlives_the_run_though_it_holds_its_output) {
  program started{run(words{"--", "sh", "-c", "\"$@\" & echo main", "sh"} + watcher())};
  EXPECT_EQ(started.wait(), exited(0)) << started.err();
  EXPECT_TRUE(is_free("job")) << "at once";
  EXPECT_TRUE(is_alive(pid_from(started)));
  EXPECT_THAT(started.out(), HasSubstr("main\n"));
  EXPECT_THAT(started.out(), Not(HasSubstr("got ")));
}

}  // namespace
}  // namespace rowlock::test
