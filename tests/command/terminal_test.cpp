#include "command/terminal.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <string>

#include "command/command.hpp"

// At a terminal, from a shell with job control.

namespace rowlock::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class command_at_terminal : public command {
 protected:
  /// The words of `rowlock … run job arguments…`.
  words job(const words& arguments) const { return run(arguments).words; }

  static pid_t pid_from(terminal& at) {
    std::optional<long> pid;
    EXPECT_TRUE(eventually([&] { return (pid = number_after(at.screen(), "started ")).has_value(); }));
    return static_cast<pid_t>(pid.value_or(0));
  }
};

TEST_F(command_at_terminal, the_command_is_in_the_foreground_group) {
  terminal at{job(words{"--"} + watcher({"15"}))};
  const auto pid = pid_from(at);
  EXPECT_EQ(::getpgid(pid), at.job());
  ::kill(at.job(), SIGTERM);
  EXPECT_EQ(at.report(), "exited 40");
}

// Rowlock is held up until the command has told of its SIGINT: a second one at the same time would not show. Around it
// is a shell, so that nobody takes the job for stopped.
TEST_F(command_at_terminal, ctrl_c_reaches_the_command_once) {
  terminal at{words{"sh", "-c", "trap : INT; \"$@\"; echo status $?", "sh"} + job(words{"--"} + watcher({"15"}))};
  const auto rowlock = parent_of(parent_of(pid_from(at)));  // a guard is in between
  ASSERT_EQ(parent_of(rowlock), at.job());
  ::kill(rowlock, SIGSTOP);
  ASSERT_TRUE(eventually([&] { return state_of(rowlock) == 'T'; }));
  at.type(keys::ctrl_c);
  ASSERT_TRUE(at.shows("got 2 from the kernel"));
  ::kill(rowlock, SIGCONT);
  ::kill(rowlock, SIGUSR1);  // comes after whatever rowlock makes of the SIGINT
  ASSERT_TRUE(at.shows("got 10 from a process"));
  EXPECT_FALSE(is_free("job")) << "the command goes on, so rowlock does";
  ::kill(rowlock, SIGTERM);
  ASSERT_TRUE(at.shows("status 40"));
  EXPECT_EQ(occurrences(at.screen(), "got 2 "), 1) << at.screen();
  EXPECT_TRUE(is_vacant());
}

TEST_F(command_at_terminal, ctrl_c_and_ctrl_backslash_end_a_command_that_does_not_mind_them) {
  for (const auto& [key, number] : {std::pair{keys::ctrl_c, SIGINT}, std::pair{keys::ctrl_backslash, SIGQUIT}}) {
    terminal at{job({"--", "sh", "-c", "echo started; exec sleep 100"})};
    ASSERT_TRUE(at.shows("started"));
    at.type(key);
    EXPECT_EQ(at.report(), "exited " + std::to_string(128 + number));
    EXPECT_TRUE(is_free("job"));
  }
}

TEST_F(command_at_terminal, a_signal_from_a_process_is_passed_on_once) {
  terminal at{job(words{"--"} + watcher({"15"}))};
  ASSERT_TRUE(at.shows("started"));
  for (const int number : {SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
    ::kill(at.job(), number);
    EXPECT_TRUE(at.shows("got " + std::to_string(number) + " from a process")) << number;
  }
  ::kill(at.job(), SIGTERM);
  EXPECT_EQ(at.report(), "exited 40");
  for (const int number : {SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTERM})
    EXPECT_EQ(occurrences(at.screen(), "got " + std::to_string(number) + " "), 1) << at.screen();
}

TEST_F(command_at_terminal, the_command_reads_from_it) {
  terminal at{job(
      {"--", "sh", "-c", "echo ready; read line; echo \"it read $line\"; read line < /dev/tty; echo \"and $line\""})};
  ASSERT_TRUE(at.shows("ready"));
  at.type("first\n");
  EXPECT_TRUE(at.shows("it read first")) << at.screen();
  at.type("second\n");
  EXPECT_TRUE(at.shows("and second")) << at.screen();
  EXPECT_EQ(at.report(), "exited 0");
}

TEST_F(command_at_terminal, a_command_with_its_input_from_elsewhere_is_at_the_terminal_still) {
  terminal at{words{"sh", "-c", "echo text | \"$@\" 2>/dev/null | cat", "sh"} +
              job({"--", "sh", "-c", "cat; echo ready; read line < /dev/tty; echo \"it read $line\""})};
  ASSERT_TRUE(at.shows("ready"));
  at.type("first\n");
  EXPECT_TRUE(at.shows("it read first")) << at.screen();
  EXPECT_EQ(at.report(), "exited 0");
}

TEST_F(command_at_terminal, ctrl_z_stops_both_and_both_can_go_on) {
  terminal at{job(words{"--lease", "1h", "--"} + watcher({"15"}))};
  const auto pid = pid_from(at);
  for (int i = 1; i <= 2; ++i) {
    at.type(keys::ctrl_z);
    ASSERT_EQ(at.report(), "stopped");
    EXPECT_TRUE(eventually([&] { return state_of(pid) == 'T' && state_of(at.job()) == 'T'; }));
    EXPECT_FALSE(is_free("job")) << "held, as long as the lease goes";
    at.continue_job();
    EXPECT_TRUE(eventually([&] { return state_of(pid) != 'T' && state_of(at.job()) != 'T'; }));
    EXPECT_TRUE(eventually([&] { return occurrences(at.screen(), "got 18 ") >= i; })) << at.screen();
  }
  at.type(keys::ctrl_c);
  EXPECT_TRUE(at.shows("got 2 from the kernel")) << "in the foreground again";
  ::kill(at.job(), SIGTERM);
  EXPECT_EQ(at.report(), "exited 40");
  EXPECT_TRUE(is_vacant());
}

TEST_F(command_at_terminal, ctrl_z_for_longer_than_the_lease_loses_the_lock) {
  terminal at{job(words{"--lease", "1s", "--"} + watcher({"15"}))};
  ASSERT_TRUE(at.shows("started"));
  at.type(keys::ctrl_z);
  ASSERT_EQ(at.report(), "stopped");
  const auto next = locks_.acquire("job");
  at.continue_job();
  EXPECT_EQ(at.report(), "exited 70");
  EXPECT_TRUE(at.shows("got 15 "));
  EXPECT_TRUE(at.shows("rowlock: "));
  EXPECT_FALSE(next.lost().stop_requested());
}

TEST_F(command_at_terminal, a_loss_ends_the_command_but_not_its_neighbours) {
  terminal at{words{"sh", "-c", "trap 'echo the neighbour' TERM; \"$@\"; echo status $?", "sh"} +
              job(words{"--lease", "3s", "--"} + watcher({"15"}))};
  ASSERT_TRUE(at.shows("started"));
  database_.vacate("job");
  EXPECT_TRUE(at.shows("status 70")) << at.screen();
  EXPECT_TRUE(at.shows("got 15 "));
  EXPECT_EQ(at.report(), "exited 0");
  EXPECT_THAT(at.screen(), Not(HasSubstr("the neighbour")));
}

/// A command that starts another one, which is the one to watch, and does `rest` then.
words around(const words& watched, const std::string& rest = "wait; wait") {
  return words{"sh", "-c", "\"$@\" & " + rest, "sh"} + watched;
}

// Also what has no parent any more, what a shell with job control has in a group of its own, and, once, what another
// rowlock runs.
TEST_F(command_at_terminal, a_loss_ends_what_the_command_has_started) {
  for (const auto& parent : std::vector<words>{{"sh", "-c", "\"$@\" & wait; wait", "sh"},
                                               {"sh", "-c", "(\"$@\" &); exec sleep 1000", "sh"},
                                               {"bash", "-mc", "\"$@\"; exit 41", "bash"},
                                               rowlock({"run", "inner", "--"}).words}) {
    SCOPED_TRACE(testing::PrintToString(parent));
    // With tostop, rowlock, which may be in the background then, would be stopped by what it says.
    terminal at{words{"sh", "-c", "stty tostop; exec \"$@\"", "sh"} +
                job(words{"--hold-limit", "2s", "--"} + parent + watcher({"15"}))};
    const auto pid = pid_from(at);
    EXPECT_EQ(at.report(), "exited 70");
    EXPECT_FALSE(is_alive(pid)) << "before the lock is another's";
    EXPECT_EQ(occurrences(at.screen(), "got 15 "), 1) << at.screen();
    EXPECT_TRUE(is_free("inner"));
  }
}

TEST_F(command_at_terminal, a_loss_kills_after_the_grace_what_the_command_has_started) {
  terminal at{job(words{"--hold-limit", "1s", "--grace", "300ms", "--"} + around(watcher(), "exec sleep 1000"))};
  const auto pid = pid_from(at);
  EXPECT_EQ(at.report(), "exited 70");
  EXPECT_FALSE(is_alive(pid));
  EXPECT_TRUE(at.shows("got 15 "));
}

TEST_F(command_at_terminal, a_loss_or_the_end_of_the_guard_takes_the_terminal_back_from_a_shell) {
  for (const bool is_loss : {true, false}) {
    terminal at{words{"sh", "-c", "\"$@\"; echo status $?; read line; echo \"it read $line\"", "sh"} +
                job((is_loss ? words{"--hold-limit", "1s"} : words{}) +
                    words{"--", "bash", "-mc", "\"$@\"; exit 41", "bash"} + watcher())};
    const auto pid = pid_from(at);
    EXPECT_NE(::getpgid(pid), at.job());
    if (!is_loss) ::kill(parent_of(parent_of(pid)), SIGKILL);  // bash is in between
    ASSERT_TRUE(at.shows("status " + std::to_string(is_loss ? 70 : 128 + SIGKILL))) << at.screen();
    EXPECT_FALSE(is_alive(pid)) << "killed, since it takes no notice";
    at.type("a line\n");
    EXPECT_TRUE(at.shows("it read a line")) << at.screen();
  }
}

TEST_F(command_at_terminal, a_loss_spares_daemons) {
  terminal at{job(words{"--hold-limit", "1s", "--", "sh", "-c", "setsid \"$@\" & wait", "sh"} + watcher({"15"}))};
  const auto pid = pid_from(at);
  EXPECT_EQ(at.report(), "exited 70");
  EXPECT_TRUE(is_alive(pid));
}

TEST_F(command_at_terminal, a_signal_from_a_process_reaches_what_the_command_has_started) {
  terminal at{job(words{"--"} + around(watcher({"15"}), "trap : TERM; wait; wait"))};
  const auto pid = pid_from(at);
  ::kill(at.job(), SIGTERM);
  EXPECT_TRUE(at.shows("got 15 "));
  EXPECT_TRUE(eventually([&] { return !is_alive(pid); }));
  EXPECT_EQ(occurrences(at.screen(), "got 15 "), 1) << at.screen();
}

TEST_F(command_at_terminal, what_is_left_running_by_a_command_that_ends_goes_on) {
  terminal at{job(words{"--", "sh", "-c", "nohup \"$@\" >\"$0\" & while ! grep -q started \"$0\"; do sleep 0.01; done",
                        file("left").string()} +
                  watcher())};
  EXPECT_EQ(at.report(), "exited 0");
  const auto pid = static_cast<pid_t>(number_after(contents_of(file("left")), "started ").value());
  EXPECT_TRUE(is_alive(pid));
  EXPECT_EQ(occurrences(contents_of(file("left")), "got 15"), 0);
  EXPECT_TRUE(is_free("job"));
}

TEST_F(command_at_terminal, a_kill_of_rowlock_ends_what_the_command_has_started) {
  terminal at{job(words{"--grace", "300ms", "--", "sh", "-c", "(\"$@\" &); exec sleep 1000", "sh"} + watcher())};
  const auto pid = pid_from(at);
  ::kill(at.job(), SIGKILL);
  EXPECT_EQ(at.report(), "killed 9");
  EXPECT_TRUE(at.shows("got 15 "));
  EXPECT_TRUE(eventually([&] { return !is_alive(pid); }));
}

TEST_F(command_at_terminal, a_kill_of_a_stopped_rowlock_ends_the_command_too) {
  terminal at{job(words{"--"} + around(watcher({"15"})))};
  const auto pid = pid_from(at);
  at.type(keys::ctrl_z);
  ASSERT_EQ(at.report(), "stopped");
  ::kill(at.job(), SIGKILL);
  EXPECT_EQ(at.report(), "killed 9");
  EXPECT_TRUE(eventually([&] { return !is_alive(pid); }));
}

TEST_F(command_at_terminal, a_wait_counts_the_other_waiters) {
  const auto held = locks_.acquire("job");
  queue_stranger("shop:far away:1:abc");
  terminal at{job({"true"})};
  EXPECT_TRUE(at.shows("with 1 other, held for ")) << at.screen();
}

/// The words in the background of a shell with job control, which does `before`, and goes on with `then`.
words in_background(const words& what, const std::string& then, const std::string& before = {}) {
  return words{"bash", "-mc", before + "\"$@\" & " + then, "bash"} + what;
}

// With tostop, it would be stopped by what it writes.
TEST_F(command_at_terminal, a_wait_in_the_background_writes_no_line) {
  ASSERT_EQ(finish(run({"--lease", "1500ms", "--at-least", "1500ms", "true"})).end, exited(0));
  terminal at{in_background(job({"true"}), "wait $!; status=$?; stty -tostop; echo status $status", "stty tostop; ")};
  EXPECT_TRUE(at.shows("status 0")) << at.screen();
  EXPECT_EQ(at.report(), "exited 0");
}

TEST_F(command_at_terminal, a_hold_in_the_background_leaves_what_is_typed_to_others) {
  const auto holder = rowlock({"hold", "--hold-limit", "1s", "job"}).words;
  terminal at{in_background(holder, "wait $!; echo status $?; read line; echo \"it read $line\"")};
  at.type("first\n");
  EXPECT_TRUE(at.shows("status 70")) << at.screen();
  EXPECT_TRUE(at.shows("it read first")) << at.screen();
  EXPECT_EQ(at.report(), "exited 0");
}

TEST_F(command_at_terminal, a_hold_that_is_brought_to_the_foreground_ends_with_the_input) {
  terminal at{in_background(rowlock({"hold", "job"}).words, "read line; fg; echo status $?")};
  ASSERT_TRUE(eventually([&] { return locks_.find("job").has_value(); }));
  at.type("first\n");
  ASSERT_TRUE(at.shows("\"$@\"\r\n")) << at.screen();
  at.type("second\n\x04");
  EXPECT_TRUE(at.shows("status 0")) << at.screen();
  EXPECT_EQ(at.report(), "exited 0");
  EXPECT_TRUE(is_vacant());
}

TEST_F(command_at_terminal, a_terminal_that_goes_away_ends_it) {
  std::optional<terminal> at{std::in_place, job({"--", "sh", "-c", "echo started; exec sleep 100"})};
  ASSERT_TRUE(at->shows("started"));
  const auto pid = at->job();
  at.reset();
  EXPECT_TRUE(eventually([&] { return !is_alive(pid); }));
  EXPECT_TRUE(eventually([&] { return is_vacant(); }));
}

}  // namespace
}  // namespace rowlock::test
