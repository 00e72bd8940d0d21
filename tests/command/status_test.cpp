#include <gmock/gmock.h>
#include <grp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "command/command.hpp"

// Every exit status, each by its real cause.

namespace rowlock::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

class command_status : public command {
 protected:
  /// Each subcommand that asks the database, and has nothing to print where it gets no answer.
  const std::vector<words> every_subcommand_{
      {"run", "job", "--", "true"}, {"sweep", "--once"}, {"list"},          {"show", "job"},
      {"waiters", "job"},           {"waiters"},         {"top", "--once"}, {"release", "--force", "--yes", "job"}};
  const std::string long_name_ = std::string(256, 'n');
};

class command_own_status : public command_status, public testing::WithParamInterface<int> {};

// Also those that rowlock uses itself.
INSTANTIATE_TEST_SUITE_P(statuses, command_own_status, testing::Values(0, 1, 3, 64, 70, 75, 126, 127, 255));

TEST_P(command_own_status, is_passed_on) {
  const auto status = std::to_string(GetParam());
  const auto result = finish(run({"--", "sh", "-c", "exit \"$0\"", status}));
  EXPECT_EQ(result.end, exited(GetParam())) << result;
  EXPECT_THAT(result.out + result.err, IsEmpty()) << "rowlock has nothing to say about it";
  EXPECT_TRUE(is_vacant());
}

class command_own_death : public command_status, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(signals, command_own_death, testing::Values(SIGTERM, SIGKILL, SIGINT, SIGSEGV, SIGPIPE));

TEST_P(command_own_death, is_128_and_the_signal) {
  auto how = run({"--", "sh", "-c", "kill -\"$0\" $$", std::to_string(GetParam())});
  how.before_exec = [] {
    const rlimit none{};
    ::setrlimit(RLIMIT_CORE, &none);
  };
  const auto result = finish(how);
  EXPECT_EQ(result.end, exited(128 + GetParam())) << result;
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_TRUE(is_vacant());
}

TEST_F(command_status, is_127_where_the_command_is_not_found) {
  for (const auto* missing : {"there-is-no-such-command", "/there/is/no/such/command", ""}) {
    const auto result = finish(run({"--", missing, "argument"}));
    EXPECT_TRUE(refused(result, 127)) << missing;
    EXPECT_THAT(result.err, HasSubstr(missing));
    EXPECT_TRUE(is_vacant());
  }
}

TEST_F(command_status, is_126_where_the_command_cannot_be_executed) {
  const auto plain = file("not-executable").string();
  std::ofstream{plain} << "#!/bin/sh\n";
  fs::permissions(plain, fs::perms{0644});
  for (const auto& wrong : {plain, folder_.path().string()}) {
    const auto result = finish(run({"--", wrong}));
    EXPECT_TRUE(refused(result, 126)) << wrong;
    EXPECT_THAT(result.err, HasSubstr(wrong));
    EXPECT_TRUE(is_vacant());
  }
}

TEST_F(command_status, is_75_where_somebody_else_has_the_lock) {
  const auto held = locks_.acquire("job");
  const auto before = database_.row("job").value().acquisition;
  EXPECT_TRUE(refused(finish(run({"--wait", "0", "--", "touch", file("ran")})), 75));
  const stopwatch watch;
  const auto result = finish(run({"--wait", "300ms", "--", "touch", file("ran")}));
  EXPECT_GE(watch.elapsed(), 300ms);
  EXPECT_TRUE(refused(result, 75));
  EXPECT_THAT(result.err, HasSubstr("job"));
  EXPECT_THAT(result.err, HasSubstr("; gave up after waiting for 300ms\n"));
  EXPECT_FALSE(fs::exists(file("ran")));
  EXPECT_EQ(database_.row("job").value().acquisition, before);
  EXPECT_FALSE(held.lost().stop_requested());
}

TEST_F(command_status, is_chosen_by_busy_exit) {
  const auto held = locks_.acquire("job");
  for (const int status : {0, 9, 255})
    EXPECT_TRUE(refused(finish(run({"--wait", "0", "--busy-exit", std::to_string(status), "--", "true"})), status));
  EXPECT_EQ(finish(rowlock({"run", "other", "--busy-exit", "9", "--", "sh", "-c", "exit 4"})).end, exited(4));
}

TEST_F(command_status, is_70_where_the_lock_was_lost) {
  program started{run(words{"--lease", "3s", "--"} + watcher({"15"}))};
  ASSERT_TRUE(started.says("started"));
  database_.vacate("job");
  EXPECT_EQ(started.wait(), exited(70)) << "although the command returned 40";
  EXPECT_THAT(started.out(), HasSubstr("got 15 "));
  EXPECT_TRUE(is_messages(started.err())) << started.err();
}

TEST_F(command_status, is_chosen_by_lost_exit) {
  program started{run(words{"--lease", "3s", "--lost-exit", "7", "--"} + watcher({"15"}))};
  ASSERT_TRUE(started.says("started"));
  database_.vacate("job");
  EXPECT_EQ(started.wait(), exited(7));
}

TEST_F(command_status, is_64_where_it_is_used_wrongly) {
  const std::vector<words> wrong{
      {},
      {"frobnicate"},
      {"--frobnicate"},
      {"--frobnicate", "list"},
      {"run"},
      {"run", "job"},
      {"run", "job", "--"},
      {"run", "--", "touch", file("ran")},
      {"run", "job", "--frobnicate", "--", "touch", file("ran")},
      {"run", "job", "--wait", "--", "touch", file("ran")},
      {"run", "job", "--lease", "1ms", "--", "touch", file("ran")},
      {"run", "job", "--lease", "31d", "--", "touch", file("ran")},
      {"run", "job", "--strategy", "wishful", "--", "touch", file("ran")},
      {"run", "job", "--strategy", "", "--", "touch", file("ran")},
      {"run", "job", "--note", std::string(1001, 'n'), "--", "touch", file("ran")},
      {"run", "job", "--note", "\xff", "--", "touch", file("ran")},
      {"run", "job", "--busy-exit", "256", "--", "touch", file("ran")},
      {"run", "job", "--busy-exit", "-1", "--", "touch", file("ran")},
      {"run", "job", "--busy-exit", "many", "--", "touch", file("ran")},
      {"run", "job", "--lost-exit", "256", "--", "touch", file("ran")},
      {"run", "job", "--lost-exit", "1x", "--", "touch", file("ran")},
      {"run", "job", "--json", "--", "touch", file("ran")},
      {"run", "", "--", "touch", file("ran")},
      {"run", long_name_, "--", "touch", file("ran")},
      {"run", "\xff", "--", "touch", file("ran")},
      {"show"},
      {"show", ""},
      {"show", "one", "two"},
      {"show", "one", "--frobnicate"},
      {"list", "one", "two"},
      {"list", "--frobnicate"},
      {"migrate", "now"},
      {"check", "job"},
      {"metrics", "job"},
      {"waiters", ""},
      {"waiters", "job", "--prefix", "j"},
      {"--table-prefix", "Not-A-Prefix", "list"},
      {"list", "--table-prefix", ""},
  };
  for (const auto& arguments : wrong)
    EXPECT_TRUE(refused(finish(rowlock(arguments)), 64)) << testing::PrintToString(arguments);
  EXPECT_FALSE(fs::exists(file("ran")));
}

TEST_F(command_status, is_64_where_no_database_is_given) {
  for (const auto& arguments : every_subcommand_ + std::vector<words>{{"migrate"}}) {
    const auto result =
        finish({.words = words{path()} + arguments, .environment = {"ROWLOCK_DATABASE", "ROWLOCK_DATABASE_FILE"}});
    EXPECT_TRUE(refused(result, 64)) << testing::PrintToString(arguments);
    EXPECT_THAT(result.err, HasSubstr("--database"));
  }
}

TEST_F(command_status, is_64_where_the_url_is_bad) {
  for (const auto* url : {"", "locks.db", "nonsense:locks.db", "sqlite:", "sqlite:locks.db?mode=wild"})
    for (const auto& arguments : every_subcommand_ + std::vector<words>{{"migrate"}})
      EXPECT_TRUE(refused(finish({.words = words{path(), "--database", url} + arguments}), 64))
          << url << " " << testing::PrintToString(arguments);
}

TEST_F(command_status, is_69_where_the_database_is_out_of_reach) {
  const auto nowhere = "sqlite:" + file("no-such-folder/locks.db").string();
  for (const auto& arguments : every_subcommand_ + std::vector<words>{{"migrate"}})
    EXPECT_TRUE(refused(finish({.words = words{path(), "--database", nowhere} + arguments}), 69))
        << testing::PrintToString(arguments);
}

TEST_F(command_status, is_69_where_the_database_does_not_answer) {
  const auto nothing_can_be_written = database_.stall();
  EXPECT_TRUE(refused(finish(run({"--wait", "0", "--", "touch", file("ran")})), 69));
  EXPECT_FALSE(fs::exists(file("ran")));
}

TEST_F(command_status, is_77_where_it_is_not_permitted) {
  const copy_for_everybody program{path()};
  const auto database_folder = database_.file().parent_path();
  for (const auto& entry : fs::directory_iterator{database_folder}) fs::permissions(entry.path(), fs::perms{0});
  fs::permissions(database_folder, fs::perms{0555});
  for (const auto& arguments : every_subcommand_ + std::vector<words>{{"migrate"}}) {
    auto how = rowlock(arguments);
    how.words.front() = program.path();
    how.before_exec = [] {
      if (::geteuid() == 0 && (::setgroups(0, nullptr) != 0 || ::setgid(65534) != 0 || ::setuid(65534) != 0))
        ::_exit(99);
    };
    EXPECT_TRUE(refused(finish(how), 77)) << testing::PrintToString(arguments);
  }
  fs::permissions(database_folder, fs::perms::owner_all);
}

TEST_F(command_status, is_78_where_the_schema_is_missing) {
  const sqlite_database empty;
  for (const auto& arguments : every_subcommand_) {
    const auto result = finish({.words = words{path(), "--database", empty.url()} + arguments});
    EXPECT_TRUE(refused(result, 78)) << testing::PrintToString(arguments);
    EXPECT_THAT(result.err, HasSubstr("migrate"));
  }
}

TEST_F(command_status, is_78_where_the_schema_is_too_new) {
  database_.record_migration(1'000'000, 1'000'000);
  for (const auto& arguments : every_subcommand_ + std::vector<words>{{"migrate"}})
    EXPECT_TRUE(refused(finish(rowlock(arguments)), 78)) << testing::PrintToString(arguments);
}

TEST_F(command_status, of_list_and_show_tell_what_there_is) {
  EXPECT_EQ(finish(rowlock({"list"})).end, exited(0));
  EXPECT_EQ(finish(rowlock({"show", "job"})).end, exited(1));
  const auto held = locks_.acquire("job");
  EXPECT_EQ(finish(rowlock({"list"})).end, exited(0));
  EXPECT_EQ(finish(rowlock({"show", "job"})).end, exited(0));
}

TEST_F(command_status, of_migrate_is_0_also_the_second_time) {
  sqlite_database fresh;
  for (int i = 0; i < 2; ++i) {
    const auto result = finish({.words = {path(), "--database", fresh.url(), "migrate"}});
    EXPECT_EQ(result.end, exited(0)) << result;
    EXPECT_THAT(result.out, IsEmpty());
  }
  EXPECT_TRUE(fresh.has_table("rowlock_lock"));
  EXPECT_EQ(fresh.missing_checksums(), 0);
}

}  // namespace
}  // namespace rowlock::test
