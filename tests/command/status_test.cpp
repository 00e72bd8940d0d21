#include <fcntl.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <ostream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "command/command.hpp"

// Every exit status, each by its real cause.

namespace rowlock::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;

class command_status : public command {
 protected:
  /// Each subcommand that asks the database, and has nothing to print where it gets no answer.
  const std::vector<words> every_subcommand_{{"run", "job", "--", "true"},
                                             {"sweep", "--once"},
                                             {"list"},
                                             {"show", "job"},
                                             {"waiters", "job"},
                                             {"waiters"},
                                             {"top", "--once"},
                                             {"release", "--force", "--yes", "job"},
                                             {"hold", "job"},
                                             {"lead", "job", "true"}};
  const std::string long_name_ = std::string(256, 'n');

  /// By a user who may do nothing here.
  launch by_nobody(const words& arguments) const {
    auto how = rowlock(arguments);
    how.words.front() = for_everybody_.path();
    how.before_exec = [] {
      if (::geteuid() == 0 && (::setgroups(0, nullptr) != 0 || ::setgid(65534) != 0 || ::setuid(65534) != 0))
        ::_exit(99);
    };
    return how;
  }

 private:
  const copy_for_everybody for_everybody_{path()};
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
      {"run", "--"},
      {"run", "--", "job"},
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
      {"sql", "acquir"},
      {"sql", ""},
      {"sql", "acquire", "renew"},
      {"sql", "--json"},
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
  for (const auto& arguments : every_subcommand_ + std::vector<words>{{"migrate"}, {"sql"}}) {
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
  const auto database_folder = database_.file().parent_path();
  for (const auto& entry : fs::directory_iterator{database_folder}) fs::permissions(entry.path(), fs::perms{0});
  fs::permissions(database_folder, fs::perms{0555});
  for (const auto& arguments : every_subcommand_ + std::vector<words>{{"migrate"}})
    EXPECT_TRUE(refused(finish(by_nobody(arguments)), 77)) << testing::PrintToString(arguments);
  fs::permissions(database_folder, fs::perms::owner_all);
}

TEST_F(command_status, is_77_where_no_file_may_be_made) {
  fs::permissions(folder_.path(), fs::perms{0555});
  const auto elsewhere = "sqlite:" + file("locks.db").string();
  auto how = by_nobody({"migrate"});
  how.words.at(2) = elsewhere;
  const auto result = finish(how);
  EXPECT_TRUE(refused(result, 77));
  EXPECT_THAT(result.err, HasSubstr("may not write to the folder " + folder_.path().string()));
  fs::permissions(folder_.path(), fs::perms::owner_all);
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

/// A subcommand with an argument of each kind that it needs.
struct usage {
  std::string subcommand{};
  words options{};
  words operands{};

  words with(const words& more) const { return words{subcommand} + options + more + operands; }
  bool takes_command() const { return subcommand == "run" || subcommand == "lead"; }
  bool takes_lock() const { return takes_command() || subcommand == "hold"; }
  bool tells_of_nobody() const { return subcommand == "show" || subcommand == "waiters" || subcommand == "release"; }
};

std::ostream& operator<<(std::ostream& out, const usage& of) { return out << of.subcommand; }

class command_status_of_manual : public command_status, public testing::WithParamInterface<usage> {
 protected:
  std::set<std::string> documented() const {
    const auto page = finish({.words = {path(), "help", GetParam().subcommand}}).out;
    std::istringstream lines{page.substr(page.find("\nEXIT STATUS\n") + 1)};
    std::set<std::string> out;
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line) && (line.empty() || line.front() == ' '))
      if (std::smatch found; std::regex_search(line, found, std::regex{"^ +([0-9]+(\\+n)?)  "})) out.insert(found[1]);
    return out;
  }

  outcome ask(const words& more = {}, const std::function<void()>& before_exec = {}) const {
    auto how = rowlock(GetParam().with(more));
    how.before_exec = before_exec;
    return finish(how);
  }

  outcome ask_at(const std::string& url) const {
    return finish({.words = words{path(), "--database", url} + GetParam().with({})});
  }

  outcome ask_for(const words& command_line) const {
    return finish(rowlock(words{GetParam().subcommand, "job", "--"} + command_line));
  }

  outcome ask_by_nobody() const {
    sqlite_database forbidden;
    client::connect(forbidden.url()).migrate();
    for (const auto& entry : fs::directory_iterator{forbidden.file().parent_path()})
      fs::permissions(entry.path(), fs::perms{0});
    auto how = by_nobody(GetParam().with({}));
    how.words.at(2) = forbidden.url();
    return finish(how);
  }

  /// Its lock is lost; the command of lead does not end at once.
  outcome lose() {
    const bool is_lead = GetParam().subcommand == "lead";
    const auto signals = is_lead ? words{"12"} : words{"15"};
    const auto line = words{GetParam().subcommand, "--lease", "1s", "job"} +
                      (GetParam().takes_command() ? words{"--"} + watcher(signals) : words{});
    const auto input = file("input").string();
    EXPECT_EQ(finish({.words = {"mkfifo", input}}).end, exited(0));
    program started{{.words = words{"sh", "-c", R"(exec 3<>"$0"; exec "$@" <&3)", input} + rowlock(line).words}};
    EXPECT_TRUE(eventually([&] { return !started.out().empty(); })) << started.err();
    database_.vacate("job");
    if (is_lead) {
      EXPECT_TRUE(started.says("got 15 "));
      started.signal(SIGTERM);  // of two signals that wait, the lower number is taken first
      EXPECT_TRUE(eventually([&] { return started.out().rfind("got 15 ") != started.out().find("got 15 "); }));
      started.signal(SIGUSR2);
    }
    const auto end = started.wait();
    return {.end = end, .out = started.out(), .err = started.err()};
  }

  /// nullopt: this subcommand cannot end so.
  std::optional<outcome> bring_about(const std::string& status) {
    const auto& of = GetParam();
    const auto when = [](bool happens, const auto& doing) {
      return happens ? std::optional<outcome>{doing()} : std::nullopt;
    };
    if (status == "0" || status == "75") {
      std::optional<held_lock> held;
      if (of.tells_of_nobody() || status == "75") held = locks_.acquire("job", {.lease = 1h});
      if (of.subcommand == "waiters") queue_stranger("shop:far away:1:abc");
      return ask(status == "75" ? words{"-n"} : words{});
    }
    for (const auto& each : locks_.waiters("job")) database_.erase_ticket(each.ticket);
    if (status == "1") return when(of.tells_of_nobody(), [&] { return ask(); });
    if (status == "64") return ask({"--frobnicate"});
    if (status == "74")
      return ask({}, [] {
        if (::dup2(::open("/dev/full", O_WRONLY | O_CLOEXEC), STDOUT_FILENO) < 0) ::_exit(99);
      });
    if (status == "70") return lose();
    if (status == "126") return ask_for({folder_.path().string()});
    if (status == "127") return ask_for({"/there/is/no/such/command"});
    if (status == "128+n") return ask_for({"sh", "-c", "kill -TERM $$"});
    const bool asks_database = of.subcommand != "help" && of.subcommand != "sql";
    if (status == "69") return when(asks_database, [&] { return ask_at("sqlite:" + file("no/locks.db").string()); });
    if (status == "77") return when(asks_database, [&] { return ask_by_nobody(); });
    if (status == "78")
      return when(asks_database, [&] {
        sqlite_database other;
        client::connect(other.url()).migrate();
        other.record_migration(1'000'000, 1'000'000);
        return ask_at(other.url());
      });
    ADD_FAILURE() << "the manual names " << status << ", and no test brings it about";
    return std::nullopt;
  }
};

INSTANTIATE_TEST_SUITE_P(subcommands, command_status_of_manual,
                         testing::Values(usage{"run", {}, {"job", "true"}}, usage{"hold", {}, {"job"}},
                                         usage{"lead", {}, {"job", "true"}}, usage{"migrate", {"--json"}, {}},
                                         usage{"sweep", {"--once"}, {}}, usage{"list", {"--json"}, {}},
                                         usage{"show", {"--json"}, {"job"}}, usage{"waiters", {"--json"}, {"job"}},
                                         usage{"release", {"--force", "--yes", "--json"}, {"job"}},
                                         usage{"top", {"--once"}, {}}, usage{"check", {}, {}}, usage{"metrics", {}, {}},
                                         usage{"sql", {}, {}}, usage{"help", {}, {}}),
                         testing::PrintToStringParamName());

TEST_P(command_status_of_manual, comes_for_its_cause) {
  const auto all = documented();
  EXPECT_THAT(all, IsSupersetOf(GetParam().takes_lock() ? std::set<std::string>{"64", "69", "70", "77", "78"}
                                                        : std::set<std::string>{"0", "64", "69", "74", "77", "78"}));
  for (const auto& status : all) {
    const auto result = bring_about(status);
    if (!result) continue;
    EXPECT_EQ(result->end, exited(status == "128+n" ? 128 + SIGTERM : std::stoi(status))) << status << ": " << *result;
  }
}

}  // namespace
}  // namespace rowlock::test
