#include <gmock/gmock.h>
#include <rowlock/rowlock.hpp>

#include <signal.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "command/command.hpp"
#include "support/late_machine.hpp"
#include "support/recorder.hpp"
#include "support/sqlite_database.hpp"

namespace rowlock::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Renewed, and so found lost, every second.
constexpr auto* lease = "3s";

launch rowlock_on(const sqlite_database& own, const words& arguments) {
  return {.words = words{command::path(), "--database", own.url()} + arguments};
}

class command_loss : public command {
 protected:
  void lose_by(const std::function<void()>& interfere) {
    watched_run started{*this, {"--lease", lease}};
    interfere();
    EXPECT_EQ(started.wait(), exited(70));
    EXPECT_EQ(occurrences(started.out(), "got 15 "), 1);
    EXPECT_TRUE(is_messages(started.err())) << started.err();
    EXPECT_THAT(started.err(), HasSubstr("job"));
  }

  /// Loses the lock of `rowlock run options… job -- command…`, whose command says that it has started. Returns all that
  /// the command has said.
  std::string lose(const words& options, const words& command) {
    program started{run(words{"--lease", lease} + options + words{"--"} + command)};
    EXPECT_TRUE(started.says("started") && started.says("\n"));
    pid_ = static_cast<pid_t>(number_after(started.out(), "started ").value_or(0));
    const stopwatch watch;
    database_.vacate("job");
    EXPECT_EQ(started.wait(), exited(70));
    took_ = watch.elapsed();
    return started.out();
  }

  pid_t pid_ = 0;  // of a watcher
  std::chrono::nanoseconds took_{};
};

TEST_F(command_loss, to_somebody_else_ends_the_command_and_leaves_him_alone) {
  lose_by([&] { database_.steal("job"); });
  EXPECT_EQ(database_.row("job").value().thread, "thief");
  EXPECT_FALSE(is_free("job"));
}

// Another process finds the name free then, in the new file or behind a new log.
TEST_F(command_loss, of_the_files_of_the_database_ends_the_command_and_says_why) {
  for (const auto& removed : std::vector<words>{{"", "-wal", "-shm"}, {"-wal", "-shm"}}) {
    const sqlite_database own;
    const auto run_there = rowlock_on(own, words{"run", "-n", "--lease", lease, "job", "--"} + watcher({"15"}));
    ASSERT_EQ(finish(rowlock_on(own, {"migrate"})).end, exited(0));
    program first{run_there};
    ASSERT_TRUE(first.says("started"));
    for (const auto& each : removed) std::filesystem::remove(own.file().string() + each);
    ASSERT_EQ(finish(rowlock_on(own, {"migrate"})).end, exited(0));
    program second{run_there};
    ASSERT_TRUE(second.says("started")) << second.err();
    EXPECT_EQ(first.wait(), exited(70));
    EXPECT_EQ(occurrences(first.out(), "got 15 "), 1);
    EXPECT_TRUE(is_messages(first.err())) << first.err();
    EXPECT_THAT(first.err(), HasSubstr("rowlock: warning: the SQLite file " + own.file().string() + removed.front() +
                                       " was deleted, moved or replaced while it was open"));
    EXPECT_THAT(first.err(), HasSubstr("lost the lock \"job\" ("));
    second.signal(SIGTERM);
    EXPECT_EQ(second.wait(), exited(40)) << second.err();
  }
}

/// A log that was removed, and another holder that was killed: the new log has its grant, and no client has it open.
class removed_log : public command {
 protected:
  removed_log() { EXPECT_EQ(finish(rowlock_on(own_, {"migrate"})).end, exited(0)); }

  launch run_there(const std::string& name) const {
    return rowlock_on(own_, words{"run", "-n", "--lease", "60s", name, "--"} + watcher({"15"}));
  }
  void remove_and_kill_another_holder() {
    for (const auto* each : {"-wal", "-shm"}) std::filesystem::remove(own_.file().string() + each);
    program killed{run_there("other")};
    ASSERT_TRUE(killed.says("started"));
    killed.signal(SIGKILL);
    killed.wait();
  }
  bool is_held() { return finish(rowlock_on(own_, {"run", "-n", "other", "--", "true"})).end == exited(75); }

  const sqlite_database own_;
};

TEST_F(removed_log, is_not_written_when_its_holder_finds_that) {
  program first{run_there("job")};
  ASSERT_TRUE(first.says("started"));
  ASSERT_NO_FATAL_FAILURE(remove_and_kill_another_holder());
  first.signal(SIGTERM);
  first.wait();
  EXPECT_TRUE(is_held());
}

TEST_F(removed_log, is_not_written_when_an_idle_connection_is_closed) {
  {
    auto idle = client::connect(own_.url(), {.observer = silent()});
    idle.acquire("job").release();  // so it has the log open
    ASSERT_NO_FATAL_FAILURE(remove_and_kill_another_holder());
  }
  EXPECT_TRUE(is_held());
}

TEST_F(command_loss, of_the_database_ends_the_command) {
  std::unique_ptr<obstacle> nothing_can_be_written;
  lose_by([&] { nothing_can_be_written = database_.stall(); });
}

TEST_F(command_loss, gives_its_status_whatever_the_command_makes_of_it) {
  for (const auto* end : {"exit 0", "exit 3", "kill -KILL $$"}) {
    SCOPED_TRACE(end);
    lose({}, {"sh", "-c", "trap \"$0\" TERM; echo started; while :; do sleep 0.05; done", end});
  }
}

TEST_F(command_loss, leaves_the_command_its_time_to_clear_up) {
  const auto* slow = "trap 'sleep 2; echo cleared up; exit 0' TERM; echo started; while :; do sleep 0.05; done";
  EXPECT_THAT(lose({}, {"sh", "-c", slow}), HasSubstr("cleared up\n"));
}

TEST_F(command_loss, kills_after_the_grace_what_does_not_end) {
  EXPECT_THAT(lose({"--grace", "1s"}, watcher()), HasSubstr("got 15 ")) << "it was asked first";
  EXPECT_GE(took_, 1s);
  EXPECT_FALSE(is_alive(pid_));
}

TEST_F(command_loss, kills_at_once_where_there_is_no_grace) {
  lose({"--grace", "0"}, watcher());
  EXPECT_FALSE(is_alive(pid_));
}

TEST_F(command_loss, ends_the_whole_group) {
  const words parent{"sh", "-c", "trap '' TERM; \"$@\" & wait; while :; do sleep 0.05; done", "sh"};
  EXPECT_THAT(lose({"--grace", "1s"}, parent + watcher()), HasSubstr("got 15 "));
  EXPECT_TRUE(eventually([&] { return !is_alive(pid_); }));
}

TEST_F(command_loss, wakes_a_stopped_command_so_that_it_can_end) {
  program started{run(words{"--lease", lease, "--grace", "1d", "--"} + watcher({"15"}))};
  const auto pid = pid_from(started);
  ::kill(pid, SIGSTOP);
  ASSERT_TRUE(eventually([&] { return state_of(pid) == 'T'; }));
  database_.vacate("job");
  EXPECT_EQ(started.wait(), exited(70));
  EXPECT_THAT(started.out(), HasSubstr("got 15 "));
}

TEST_F(command_loss, of_a_lock_that_is_never_lost_ends_nothing) {
  watched_run started{*this, {"--lease", "2s"}, {"10"}};
  const auto until = database_.now() + std::chrono::microseconds{6s}.count();
  ASSERT_TRUE(eventually([&] { return database_.row("job").value().expires_at > until; })) << "three leases later";
  EXPECT_THAT(started.out(), Not(HasSubstr("got ")));
  started.signal(SIGUSR1);
  EXPECT_EQ(started.wait(), exited(40));
  EXPECT_THAT(started.err(), IsEmpty());
}

TEST_F(command_loss, by_a_pause_past_the_lease_ends_the_command_and_leaves_the_next_alone) {
  watched_run started{*this, {"--lease", "2s"}};
  const auto first = database_.row("job").value();
  started.pause();
  const auto next = locks_.acquire("job");
  const auto second = database_.row("job").value();
  EXPECT_GT(next.token().value(), first.version);
  EXPECT_THAT(started.out(), Not(HasSubstr("got ")));

  started.resume();
  EXPECT_EQ(started.wait(), exited(70));
  EXPECT_THAT(started.out(), HasSubstr("got 15 "));
  const auto third = database_.row("job").value();
  EXPECT_EQ(third.acquisition, second.acquisition);
  EXPECT_EQ(third.version, second.version);
  EXPECT_EQ(third.owner, second.owner);
  EXPECT_FALSE(next.lost().stop_requested());
}

using command_killed = command_loss;

TEST_F(command_killed, alone_or_with_its_group_takes_its_command_along) {
  for (const bool with_its_group : {false, true}) {
    auto how = run(words{"--"} + watcher({"15"}));
    if (with_its_group) how.before_exec = [] { ::setpgid(0, 0); };
    program started{how};
    const auto pid = pid_from(started);
    ::kill(with_its_group ? -started.pid() : started.pid(), SIGKILL);
    EXPECT_TRUE(started.says("got 15 ")) << with_its_group;
    EXPECT_TRUE(eventually([&] { return !is_alive(pid); })) << with_its_group;
    database_.vacate("job");
  }
}

TEST_F(command_killed, takes_along_what_its_command_has_started) {
  for (const auto* verb : {"run", "lead"}) {
    program started{rowlock(
        words{verb, "--lease", "1s", "--grace", "300ms", "job", "--", "sh", "-c", "(\"$@\" &); exec sleep 1000", "sh"} +
        watcher())};
    const auto pid = pid_from(started);
    started.kill();
    EXPECT_TRUE(started.says("got 15 ")) << "it is asked first";
    EXPECT_TRUE(eventually([&] { return !is_alive(pid); })) << verb;
    EXPECT_TRUE(eventually([&] { return started.err().find("rowlock was killed") != std::string::npos; }));
  }
}

// As for the other: one of the two is always there to end the command.
TEST_F(command_killed, in_its_guard_kills_its_command) {
  program started{run(words{"--", "sh", "-c", "(\"$@\" &); exec sleep 1000", "sh"} + watcher())};
  const auto pid = pid_from(started);
  const auto guard = parent_of(pid);
  ASSERT_EQ(parent_of(guard), started.pid());
  ::kill(guard, SIGKILL);
  EXPECT_EQ(started.wait(), exited(128 + SIGKILL)) << started.err();
  EXPECT_FALSE(is_alive(pid));
  EXPECT_THAT(started.err(), HasSubstr("was killed"));
  EXPECT_TRUE(is_free("job"));
}

TEST_F(command_killed, while_it_waits_leaves_nothing_running) {
  const auto held = locks_.acquire("job");
  program started{run({"--", "true"})};
  ASSERT_TRUE(eventually([&] { return is_waiting(started.pid()); }));
  started.kill();
  static_cast<void>(started.wait());
  EXPECT_TRUE(started.out().empty());
}

TEST_F(command_killed, leaves_the_lock_to_the_next_when_the_lease_has_ended) {
  watched_run holder{*this, {"--lease", "2s"}};
  program next{run({"--", "sh", "-c", "echo token $ROWLOCK_TOKEN"})};
  ASSERT_TRUE(eventually([&] { return is_waiting(next.pid()); }));
  const late_machine machine;
  holder.kill();
  const auto lease_ends = database_.row("job").value().expires_at.value();
  EXPECT_EQ(next.wait(), exited(0)) << next.err();
  const auto token = number_after(next.out(), "token ").value();
  EXPECT_GE(token, lease_ends) << "the token is the time of the takeover by the clock of the database";
  EXPECT_LT(token, lease_ends + std::chrono::floor<std::chrono::microseconds>(1s + 10 * machine.by()).count());
}

}  // namespace
}  // namespace rowlock::test
