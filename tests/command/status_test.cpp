#include <fcntl.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <signal.h>
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
using testing::IsSupersetOf;

class command_status : public command {
 protected:
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
      if (of.subcommand == "history") finish(rowlock({"run", "job", "--every", "52w", "--", "true"}));
      return ask(status == "75" ? words{"-n"} : words{});
    }
    for (const auto& each : locks_.waiters("job")) database_.erase_ticket(each.ticket);
    if (status == "1" && of.subcommand == "history") return finish(rowlock({"history", "other"}));
    if (status == "1") return when(of.tells_of_nobody(), [&] { return ask(); });
    if (status == "64") return ask({"--frobnicate"});
    if (status == "74")
      return ask({}, [] {
        if (::dup2(::open("/dev/full", O_WRONLY | O_CLOEXEC), STDOUT_FILENO) < 0) ::_exit(99);
      });
    if (status == "70") return lose();
    if (status == "124")
      return finish(rowlock({"run", "late", "--every", "52w", "--timeout", "1s", "--", "sleep", "1000"}));
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
                                         usage{"show", {"--json"}, {"job"}}, usage{"history", {"--json"}, {"job"}},
                                         usage{"waiters", {"--json"}, {"job"}},
                                         usage{"release", {"--force", "--yes", "--json"}, {"job"}},
                                         usage{"top", {"--once"}, {}}, usage{"check", {}, {}}, usage{"metrics", {}, {}},
                                         usage{"guard", {}, {}}, usage{"sql", {}, {}}, usage{"help", {}, {}}),
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
