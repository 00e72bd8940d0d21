#include <gmock/gmock.h>
#include <signal.h>

#include <string>
#include <vector>

#include "command/command.hpp"
#include "support/slowness.hpp"

namespace rowlock::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class command_lead : public command {
 protected:
  /// `rowlock lead OPTIONS job -- COMMAND`
  program lead(const words& options, const words& command) const {
    return program{rowlock(words{"lead"} + options + words{"job", "--"} + command)};
  }
  /// One that runs until SIGTERM.
  program lead(const words& options = {}) const { return lead(options, watcher({"15"})); }

  bool stands_by(const program& candidate) {
    return eventually([&] { return is_queued(candidate.pid()); }) && candidate.out().empty();
  }
  std::int64_t term() { return locks_.find("job").value().token.value(); }
  static pid_t pid_of_command(const program& leader, int which = 1) {
    std::string text;
    EXPECT_TRUE(eventually([&] { return occurrences(text = leader.out(), "started ") >= which; })) << leader.err();
    return static_cast<pid_t>(number_after(text.substr(text.rfind("started ")), "started ").value_or(0));
  }
};

TEST_F(command_lead, runs_the_command_once_and_hands_over_when_it_is_told_to_end) {
  program first = lead({"--lease", "1h"});
  ASSERT_TRUE(first.says("started"));
  program second = lead({"--lease", "1h"});
  ASSERT_TRUE(stands_by(second));
  const auto before = term();
  const stopwatch watch;
  first.signal(SIGTERM);
  ASSERT_TRUE(second.says("started"));
  EXPECT_LE(watch.elapsed(), slack());
  EXPECT_EQ(first.wait(), exited(40)) << "the command's status";
  EXPECT_EQ(occurrences(first.out(), "got 15 "), 1);
  EXPECT_THAT(first.err(), IsEmpty());
  EXPECT_GT(term(), before);
  EXPECT_THAT(second.out(), Not(HasSubstr("got ")));
}

TEST_F(command_lead, is_followed_when_its_lease_has_ended_if_it_was_killed) {
  program first = lead({"--lease", "2s"});
  const auto command = pid_of_command(first);
  program second = lead({"--lease", "2s"}, {"sh", "-c", "echo term $ROWLOCK_TOKEN of $ROWLOCK_NAME; exec sleep 1000"});
  ASSERT_TRUE(stands_by(second));
  first.kill();
  const auto lease_ends = database_.row("job").value().expires_at.value();
  ASSERT_TRUE(second.says("of job\n")) << second.err();
  EXPECT_TRUE(eventually([&] { return !is_alive(command); })) << "it is taken along";
  EXPECT_GE(term(), lease_ends);
  EXPECT_THAT(second.out(), HasSubstr("term " + std::to_string(term()) + " of job\n"));
}

TEST_F(command_lead, ends_with_the_command_and_its_status_and_another_runs_it_then) {
  const auto go = file("go").string();
  ASSERT_EQ(finish({.words = {"mkfifo", go}}).end, exited(0));
  program first = lead({}, {"sh", "-c", "echo started; read line <\"$0\"; exit 7", go});
  ASSERT_TRUE(first.says("started"));
  program once = lead({}, {"sh", "-c", "exit 3"});
  EXPECT_TRUE(stands_by(once));
  EXPECT_EQ(finish({.words = {"sh", "-c", "echo >\"$0\"", go}}).end, exited(0));
  EXPECT_EQ(first.wait(), exited(7));
  EXPECT_EQ(once.wait(), exited(3)) << once.err();
  EXPECT_TRUE(is_free("job"));
}

TEST_F(command_lead, ends_the_command_when_the_lead_is_lost_and_campaigns_again) {
  program first = lead({"--lease", "3s"}, watcher({"15"}));
  const auto command = pid_of_command(first);
  const auto before = term();
  EXPECT_EQ(finish(rowlock({"release", "--force", "--yes", "job"})).end, exited(0));
  const auto next = pid_of_command(first, 2);
  EXPECT_NE(next, command);
  EXPECT_FALSE(is_alive(command));
  EXPECT_GT(term(), before);
  EXPECT_EQ(occurrences(first.out(), "got 15 "), 1);
  EXPECT_THAT(first.err(), HasSubstr("lost the lock \"job\""));
  EXPECT_TRUE(is_messages(first.err()));
  EXPECT_THAT(first.out(), Not(HasSubstr("got 2 ")));
  first.signal(SIGINT);
  EXPECT_TRUE(first.says("got 2 "));
  first.signal(SIGTERM);
  EXPECT_EQ(first.wait(), exited(40));
  EXPECT_TRUE(is_vacant());
}

TEST_F(command_lead, leaves_it_to_the_next_after_a_loss_and_waits) {
  program first = lead({"--lease", "3s"});
  ASSERT_TRUE(first.says("started"));
  database_.steal("job");
  ASSERT_TRUE(first.says("got 15 "));
  ASSERT_TRUE(eventually([&] { return is_queued(first.pid()); })) << first.err();
  first.signal(SIGTERM);
  EXPECT_EQ(first.wait(), killed_by(SIGTERM)) << "as every wait is ended";
}

TEST_F(command_lead, with_restart_starts_the_command_again_while_it_leads) {
  const auto runs = file("runs").string();
  ASSERT_EQ(finish({.words = {"touch", runs}}).end, exited(0));
  program first = lead({"--restart", "--lease", "1h"},
                       {"sh", "-c",
                        "echo started $ROWLOCK_TOKEN; test $(wc -l <\"$0\") -lt 2 || exec sleep 1000; "
                        "echo run >>\"$0\"; exit 9",
                        runs});
  ASSERT_TRUE(eventually([&] { return occurrences(first.out(), "started ") == 3; })) << first.out() << first.err();
  EXPECT_EQ(occurrences(first.out(), ' ' + std::to_string(term()) + '\n'), 3) << "it has led all the time";
  EXPECT_THAT(first.err(), HasSubstr("the command has ended with status 9; it is started again in 1s\n"));
  EXPECT_THAT(first.err(), HasSubstr("it is started again in 2s\n"));
  first.signal(SIGTERM);
  EXPECT_EQ(first.wait(), exited(128 + SIGTERM)) << "it is not started again";
  EXPECT_EQ(occurrences(first.out(), "started "), 3);
  EXPECT_TRUE(is_free("job"));
}

TEST_F(command_lead, in_a_pause_before_a_restart_ends_at_once_and_resigns) {
  program first = lead({"--restart", "--lease", "1h"}, {"sh", "-c", "exit 9"});
  ASSERT_TRUE(eventually([&] { return occurrences(first.err(), "started again in 2s") == 1; })) << first.err();
  first.signal(SIGTERM);
  EXPECT_EQ(first.wait(), killed_by(SIGTERM));
  EXPECT_TRUE(is_vacant());
}

TEST_F(command_lead, in_a_pause_before_a_restart_notices_the_loss) {
  program first = lead({"--restart", "--lease", "3s"}, {"sh", "-c", "exit 9"});
  ASSERT_TRUE(eventually([&] { return occurrences(first.err(), "started again in 2s") == 1; })) << first.err();
  database_.steal("job");
  ASSERT_TRUE(eventually([&] { return is_queued(first.pid()); }));
  EXPECT_THAT(first.err(), HasSubstr("lost the lock \"job\" ("));
}

TEST_F(command_lead, kills_after_the_grace_what_does_not_end_when_it_is_told_to) {
  program first = lead({"--grace", "500ms"}, watcher());
  ASSERT_TRUE(first.says("started"));
  const stopwatch watch;
  first.signal(SIGTERM);
  EXPECT_EQ(first.wait(), exited(128 + SIGKILL));
  EXPECT_GE(watch.elapsed(), 500ms);
  EXPECT_THAT(first.out(), HasSubstr("got 15 "));
  EXPECT_TRUE(is_free("job"));
}

TEST_F(command_lead, passes_other_signals_on) {
  program first = lead({"--grace", "0"}, watcher({"10"}));
  ASSERT_TRUE(first.says("started"));
  first.signal(SIGHUP);
  EXPECT_TRUE(first.says("got 1 ")) << "which asks a daemon to read its configuration again";
  first.signal(SIGUSR1);
  EXPECT_EQ(first.wait(), exited(40));
}

}  // namespace
}  // namespace rowlock::test
