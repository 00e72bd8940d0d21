#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "command/command.hpp"
#include "command/terminal.hpp"

// What hands that know flock(1) type.

namespace rowlock::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

using command_habits = command;

TEST_F(command_habits, need_no_dashes_before_the_command) {
  for (const auto& arguments : std::vector<words>{{"echo", "done"},
                                                  {"-n", "echo", "done"},
                                                  {"-w", "5", "echo", "done"},
                                                  {"-w5", "echo", "done"},
                                                  {"--wait=5s", "-E", "3", "--", "echo", "done"},
                                                  {"-nE3", "echo", "done"},
                                                  {"-c", "echo done"},
                                                  {"--command=echo done"}}) {
    const auto result = finish(run(arguments));
    EXPECT_EQ(result.end, exited(0)) << testing::PrintToString(arguments) << result;
    EXPECT_EQ(result.out, "done\n");
  }
}

TEST_F(command_habits, let_the_command_have_options_like_ours) {
  const auto result = finish(run({"-n", "printf", "[%s]", "-n", "--wait", "--", "--help", "-c", "--database"}));
  EXPECT_EQ(result.end, exited(0)) << result;
  EXPECT_EQ(result.out, "[-n][--wait][--][--help][-c][--database]");
  EXPECT_EQ(finish(run({"--", "-n"})).end, exited(127)) << "after the dashes even that is a command";
}

TEST_F(command_habits, n_tries_once_and_e_says_what_it_exits_with) {
  const auto held = locks_.acquire("job");
  EXPECT_TRUE(refused(finish(run({"-n", "touch", file("ran")})), 75));
  EXPECT_TRUE(refused(finish(run({"-n", "-E", "3", "touch", file("ran")})), 3));
  EXPECT_TRUE(refused(finish(run({"-w", "0.1", "-E0", "touch", file("ran")})), 0));
  EXPECT_TRUE(refused(finish(run({"-n", "-w", "1", "touch", file("ran")})), 64));
  EXPECT_FALSE(fs::exists(file("ran")));
}

TEST_F(command_habits, c_runs_a_line_in_a_shell) {
  const auto result = finish(run({"-c", "echo \"$ROWLOCK_NAME\" | tr a-z A-Z; exit 3"}));
  EXPECT_EQ(result.end, exited(3)) << result;
  EXPECT_EQ(result.out, "JOB\n");
  EXPECT_TRUE(refused(finish(run({"-c", "true", "touch", file("ran")})), 64));
  EXPECT_FALSE(fs::exists(file("ran")));
}

TEST_F(command_habits, verbose_says_who_has_it_and_how_long_it_took) {
  auto held = locks_.acquire("job", {.note = "a note"});
  program started{run({"--verbose", "echo", "done"})};
  ASSERT_TRUE(eventually([&] { return started.err().find("waiting for \"job\", held for ") != std::string::npos; }));
  EXPECT_THAT(started.err(), HasSubstr("(a note)"));
  held.release();
  EXPECT_EQ(started.wait(), exited(0));
  EXPECT_TRUE(is_messages(started.err())) << started.err();
  EXPECT_THAT(started.err(), HasSubstr("rowlock: acquired \"job\" after "));
  EXPECT_THAT(started.err(), Not(HasSubstr("\x1b"))) << "no terminal, nothing is overwritten";
}

TEST_F(command_habits, a_waiting_run_says_nothing_unasked_where_nobody_watches) {
  auto held = locks_.acquire("job");
  program started{run({"echo", "done"})};
  ASSERT_TRUE(eventually([&] { return is_queued(started.pid()); }));
  const auto looks = stopwatch{};
  ASSERT_TRUE(eventually([&] { return looks.elapsed() > 500ms; }));
  held.release();
  EXPECT_EQ(started.wait(), exited(0));
  EXPECT_THAT(started.err(), IsEmpty());
}

TEST_F(command_habits, verbose_tells_of_renewals_that_fail) {
  program started{run(words{"--verbose", "--lease", "3s"} + watcher({"15"}))};
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
  EXPECT_TRUE(again.shows("the tables are up to date now; applied 0001_rowlock.sql"));
}

class command_looking : public command {
 protected:
  outcome at(const std::string& url, const words& arguments, const std::string& home = "/nonexistent") const {
    return finish({.words = words{"sh", "-c", "cd \"$0\" && exec \"$@\"", file(""), path()} + arguments,
                   .environment = {"ROWLOCK_DATABASE=" + url, "HOME=" + home}});
  }
};

TEST_F(command_looking, never_makes_a_file) {
  const auto mistyped = file("mistyped.db").string();
  for (const auto& arguments : std::vector<words>{{"list"},
                                                  {"show", "job"},
                                                  {"waiters", "job"},
                                                  {"run", "job", "true"},
                                                  {"hold", "job"},
                                                  {"release", "--force", "--yes", "job"},
                                                  {"sweep", "--once"}}) {
    const auto result = at("sqlite:" + mistyped, arguments);
    EXPECT_TRUE(refused(result, 78)) << testing::PrintToString(arguments);
    EXPECT_THAT(result.err, HasSubstr("there is no SQLite file " + mistyped)) << testing::PrintToString(arguments);
  }
  EXPECT_EQ(at("sqlite:" + mistyped, {"check"}).end, exited(78));
  EXPECT_EQ(at("sqlite:" + mistyped, {"metrics"}).end, exited(78));
  EXPECT_EQ(at("sqlite:" + mistyped, {"migrate", "--status"}).end, exited(78));
  EXPECT_THAT(at("sqlite:" + mistyped, {"migrate", "--dry-run"}).out, HasSubstr("CREATE TABLE"));
  EXPECT_FALSE(fs::exists(mistyped));
  EXPECT_EQ(at("sqlite:" + mistyped, {"migrate"}).end, exited(0));
  EXPECT_TRUE(fs::exists(mistyped));
}

TEST_F(command_looking, finds_the_home_folder_and_warns_of_relative_paths) {
  fs::create_directory(file("home"));
  const auto home = file("home").string();
  EXPECT_EQ(at("sqlite:~/locks.db", {"migrate"}, home).err, "");
  EXPECT_TRUE(fs::exists(file("home/locks.db")));
  EXPECT_EQ(at("sqlite:locks.db", {"migrate"}, file("").string()).err, "") << "where cron would look, too";
  EXPECT_TRUE(fs::exists(file("locks.db")));
  const auto warned = at("sqlite:locks.db", {"list"}, home);
  EXPECT_EQ(warned.end, exited(0)) << warned;
  EXPECT_THAT(warned.err, AllOf(StartsWith("rowlock: warning: "), HasSubstr(file("locks.db").string()),
                                HasSubstr(home + "/locks.db")));
}

TEST_F(command_looking, finds_a_password_that_everybody_may_read) {
  const auto secret = file("url").string();
  const auto check = [&](const std::string& url, const char* mode) {
    EXPECT_EQ(finish({.words = {"sh", "-c", "echo \"$1\" >\"$0\"; chmod \"$2\" \"$0\"", secret, url, mode}}).end,
              exited(0));
    return finish({.words = {path(), "check"}, .environment = {"ROWLOCK_DATABASE", "ROWLOCK_DATABASE_FILE=" + secret}});
  };
  const auto* const with_password = "postgresql://me:secret@127.0.0.1:1/none";
  const auto result = check(with_password, "0644");
  EXPECT_THAT(result.out, AllOf(HasSubstr("\npassword      advice   every user of this host may read " + secret),
                                HasSubstr("; run chmod o-rwx " + secret + '\n'), Not(HasSubstr("secret@"))));
  EXPECT_EQ(result.end, exited(69));
  EXPECT_THAT(check(with_password, "0640").out, Not(HasSubstr("chmod")));
  EXPECT_THAT(check("postgresql://me@127.0.0.1:1/none", "0644").out, Not(HasSubstr("chmod")));
}

TEST_F(command_looking, speaks_of_what_people_type) {
  database_.drop_tables();
  for (const auto& arguments : std::vector<words>{{"list"}, {"run", "job", "true"}, {"check"}}) {
    const auto result = finish(rowlock(arguments));
    EXPECT_EQ(result.end, exited(78)) << result;
    EXPECT_THAT(result.out + result.err, AllOf(HasSubstr("rowlock migrate"), Not(HasSubstr("client::"))));
  }
}

TEST_F(command_looking, advises_to_migrate_the_tables_that_were_asked_for) {
  const words prefix{"--table-prefix", "mine_"};
  const auto advises = HasSubstr("run rowlock --table-prefix mine_ migrate");
  for (const auto& arguments :
       std::vector<words>{{"list"}, {"run", "job", "true"}, {"top", "--once"}, {"check"}, {"check", "--json"}}) {
    const auto result = finish(rowlock(prefix + arguments));
    EXPECT_EQ(result.end, exited(78)) << result;
    EXPECT_THAT(result.out + result.err, advises);
    const auto without_file = at("sqlite:" + file("mistyped.db").string(), prefix + arguments);
    EXPECT_THAT(without_file.out + without_file.err, advises);
  }
  EXPECT_THAT(finish(rowlock(words{"list"} + prefix)).err, advises) << "wherever the prefix is given";
  EXPECT_EQ(finish(rowlock(prefix + words{"migrate"})).end, exited(0));
  EXPECT_EQ(finish(rowlock(prefix + words{"list"})).end, exited(0));
}

}  // namespace
}  // namespace rowlock::test
