#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "command/command.hpp"
#include "command/terminal.hpp"

// What a run says while it waits and while it holds.

namespace rowlock::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

using command_habits = command;

// The first of them ends by call_timeout (5 s), long before the lease.
TEST_F(command_habits, verbose_tells_of_renewals_that_fail) {
  program started{run(words{"--verbose", "--lease", "12s"} + watcher({"15"}))};
  ASSERT_TRUE(started.says("started"));
  program writer{{.words = {"sqlite3", "-cmd", ".timeout 5000", database_.file().string(), "BEGIN IMMEDIATE",
                            ".shell sleep 1000"}}};
  EXPECT_TRUE(eventually([&] { return started.err().find("the lock \"job\" was not renewed") != std::string::npos; }))
      << started.err();
  EXPECT_EQ(started.wait(), exited(70));
  EXPECT_THAT(started.err(), Not(HasSubstr("in 0ms"))) << "the last of them";
}

class waiting_line : public command {
 protected:
  words job(const words& arguments) const { return run(arguments).words; }
};

TEST_F(waiting_line, is_there_while_it_waits_and_gone_after) {
  auto held = locks_.acquire("job", {.note = "a note"});
  terminal at{job({"echo", "done"})};
  ASSERT_TRUE(at.shows("\rrowlock: waiting for \"job\" for "));
  ASSERT_TRUE(at.shows("held for ")) << at.screen();
  held.release();
  EXPECT_EQ(at.report(), "exited 0");
  EXPECT_TRUE(at.shows("\r\x1b[Kdone\r\n")) << at.screen();
  EXPECT_THAT(at.screen(), Not(HasSubstr("\n"
                                         "rowlock")))
      << "nothing of it stays";
}

TEST_F(waiting_line, goes_at_a_signal_too_and_is_not_there_if_it_shall_be_quiet) {
  const auto held = locks_.acquire("job");
  terminal at{job({"true"})};
  ASSERT_TRUE(at.shows("waiting for"));
  at.type(keys::ctrl_c);
  EXPECT_EQ(at.report(), "killed 2");
  EXPECT_TRUE(at.shows("\r\x1b[K"));
  terminal silent{job({"--quiet", "-w", "600ms", "true"})};
  EXPECT_EQ(silent.report(), "exited 75");
  EXPECT_EQ(silent.screen(), "");
}

TEST_F(waiting_line, obeys_nobody_who_writes_notes) {
  const auto held = locks_.acquire("job", {.note = "\x1b[2J\xe2\x80\xae"});
  terminal at{job({"-w", "600ms", "true"})};
  EXPECT_EQ(at.report(), "exited 75");
  EXPECT_THAT(at.screen(), AllOf(HasSubstr("waiting for"), Not(HasSubstr("\x1b[2J"))));
}

TEST_F(waiting_line, people_are_told_of_an_empty_list_and_of_a_migration) {
  terminal list{rowlock({"list"}).words};
  EXPECT_TRUE(list.shows("no lock is held"));
  terminal migrate{rowlock({"migrate"}).words};
  EXPECT_TRUE(migrate.shows("the tables were up to date"));
  terminal again{rowlock({"--table-prefix", "mine_", "migrate"}).words};
  EXPECT_TRUE(again.shows("the tables are up to date now; applied 0001_rowlock.sql, 0002_job_run.sql"));
}

}  // namespace
}  // namespace rowlock::test
