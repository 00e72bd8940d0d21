#include <gmock/gmock.h>
#include <signal.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "command/command.hpp"
#include "support/databases.hpp"
#include "support/server_database.hpp"

// Each subcommand on each database: what it prints, for people and for programs, and what it exits with.

namespace rowlock::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

class command_on : public on_each_database {
 protected:
  launch rowlock(const words& arguments) const { return at(db().url(), arguments); }
  outcome ask(const words& arguments) const { return command::finish(rowlock(arguments)); }

  /// The text, and that it ended so.
  std::string ask(const words& arguments, int status) const {
    const auto result = ask(arguments);
    EXPECT_EQ(result.end, exited(status)) << testing::PrintToString(arguments) << " " << result;
    EXPECT_TRUE(result.err.empty() || is_messages(result.err)) << result;
    return result.out;
  }

  json ask_json(const words& arguments, int status) const {
    return json::parse(ask(arguments + words{"--json"}, status), nullptr, false);
  }

  /// The same place by a way that nobody answers on.
  outcome ask_nobody(const words& arguments) const {
    const auto url = db().url();
    const bool is_file = url.starts_with("sqlite:");
    return command::finish(
        at(is_file ? url + "-folder/locks.db" : std::regex_replace(url, std::regex{"@[^/]*/"}, "@127.0.0.1:1/"),
           arguments));
  }

  void migrate() const { ASSERT_EQ(ask({"migrate"}, 0), ""); }
  client connect() const { return client::connect(db().url(), {.observer = silent()}); }

  std::map<std::string, std::string> conditions(int status) const {
    std::map<std::string, std::string> out;
    for (const auto& each : ask_json({"check"}, status)) out[each.at("subject")] = each.at("condition");
    return out;
  }

  /// A run that holds "job", and ends by SIGTERM with the status 40.
  launch holding(const words& arguments) const {
    return rowlock(words{"run", "job"} + arguments + words{"--"} + words{own_path(), "--command", "watcher", "15"});
  }

 private:
  static launch at(const std::string& url, const words& arguments) {
    return {.words = words{command::path(), "--database", url} + arguments,
            .environment = {"ROWLOCK_DATABASE", "ROWLOCK_DATABASE_FILE"}};
  }
};

ROWLOCK_SUITE_ON_EACH_DATABASE(command_on);

TEST_P(command_on, needs_its_tables) {
  for (const auto& arguments : std::vector<words>{{"run", "job", "--", "true"},
                                                  {"sweep", "--once"},
                                                  {"list"},
                                                  {"show", "job"},
                                                  {"waiters", "job"},
                                                  {"release", "--force", "--yes", "job"}})
    EXPECT_TRUE(refused(ask(arguments), 78)) << testing::PrintToString(arguments);
  EXPECT_EQ(conditions(78)["schema"], "failed");
  const auto down = ask({"metrics"}, 78);
  EXPECT_THAT(down, HasSubstr("\nrowlock_database_up 0\n"));
  migrate();
  EXPECT_THAT(ask({"metrics"}, 0), StartsWith(down.substr(0, down.find("\nrowlock_database_up 0"))))
      << "whoever reads it finds the same metric";
}

/// Each statement of the text, prepared.
std::string preparing(const std::string& text,
                      const std::function<std::string(const std::string& statement)>& prepare) {
  std::istringstream lines{text};
  std::string statement;
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with("--")) continue;
    statement.append(line).push_back('\n');
    if (line.back() != ';') continue;
    statement.resize(statement.size() - 2);
    out += prepare(std::exchange(statement, {})) + "\n";
  }
  return out;
}

TEST_P(command_on, prints_sql_that_the_server_understands) {
  auto* const server = dynamic_cast<server_database*>(&db());
  if (server == nullptr) GTEST_SKIP() << "SQLite: sql_test.cpp";
  migrate();
  const auto version = server->text("SELECT version()");
  const bool is_postgresql = version.starts_with("PostgreSQL");
  const std::string scheme = is_postgresql                                  ? "postgresql:"
                             : version.find("MariaDB") != std::string::npos ? "mariadb:"
                                                                            : "mysql:";
  const auto prepare = [&](const std::string& statement) {
    return is_postgresql ? "PREPARE it AS " + statement + ";\nDEALLOCATE it;"
                         : "PREPARE it FROM " + server->quoted(statement) + ";";
  };
  const auto all = preparing(command::finish({.words = {command::path(), "sql", "--database", scheme}}).out, prepare);
  EXPECT_GT(std::count(all.begin(), all.end(), ';'), 60);
  const auto result = command::finish({.words = {"sh", "-c", server->shell()}, .input = all});
  EXPECT_EQ(result.end, exited(0)) << result;
  EXPECT_THAT(result.err, IsEmpty());
}

TEST_P(command_on, says_that_the_table_is_another_programs) {
  const auto run = [&](const std::string& sql) {
    return command::finish({.words = {"sh", "-c", db().shell()}, .input = sql}).end;
  };
  ASSERT_EQ(run("CREATE TABLE rowlock_lock (door INTEGER);"), exited(0));
  const auto says_so = HasSubstr(
      "rowlock: the table rowlock_lock is not rowlock's, as it has other columns; rename it, or choose another table "
      "prefix\n");
  for (const auto& arguments : std::vector<words>{{"migrate"},
                                                  {"run", "job", "true"},
                                                  {"run", "--strategy", "for_update", "job", "true"},
                                                  {"run", "--fair", "-w", "5s", "job", "true"},
                                                  {"hold", "job"},
                                                  {"sweep", "--once"},
                                                  {"list"},
                                                  {"show", "job"},
                                                  {"waiters"},
                                                  {"top", "--once"},
                                                  {"release", "--force", "--yes", "job"}}) {
    const auto result = ask(arguments);
    EXPECT_TRUE(refused(result, 78)) << testing::PrintToString(arguments);
    EXPECT_THAT(result.err, says_so) << testing::PrintToString(arguments);
  }
  EXPECT_THAT(ask({"check"}, 78), HasSubstr("\nschema        failed   the table rowlock_lock is not rowlock's"));
  EXPECT_THAT(ask({"metrics"}).err, says_so);
  ASSERT_EQ(run("DROP TABLE rowlock_lock;"), exited(0));
  EXPECT_THAT(ask({"list"}).err, HasSubstr("run rowlock migrate"));
  migrate();
  EXPECT_EQ(ask({"list"}, 0), "");
}

TEST_P(command_on, needs_the_database) {
  for (const auto& arguments : std::vector<words>{{"run", "job", "--wait", "0", "--", "true"},
                                                  {"migrate"},
                                                  {"sweep", "--once"},
                                                  {"list"},
                                                  {"show", "job"},
                                                  {"waiters", "job"},
                                                  {"release", "--force", "--yes", "job"}})
    EXPECT_TRUE(refused(ask_nobody(arguments), 69)) << testing::PrintToString(arguments);
  EXPECT_EQ(ask_nobody({"check"}).end, exited(69));
  EXPECT_THAT(ask_nobody({"check"}).out, AllOf(StartsWith("connection    failed   "), Not(HasSubstr(" ok "))));
  EXPECT_EQ(ask_nobody({"metrics"}).end, exited(69));
  EXPECT_THAT(ask_nobody({"metrics"}).out, AllOf(HasSubstr("\nrowlock_database_up 0\n"), EndsWith("\n# EOF\n")));
}

TEST_P(command_on, migrates) {
  EXPECT_EQ(ask_json({"migrate", "--dry-run"}, 0).size(), 1U);
  EXPECT_EQ(ask_json({"migrate", "--status"}, 78).at("fits"), false);
  EXPECT_EQ(ask_json({"migrate"}, 0).at("fits"), true);
  EXPECT_EQ(ask({"migrate", "--dry-run"}, 0), "");
  EXPECT_THAT(ask({"migrate", "--status"}, 0), StartsWith("VERSION"));
  EXPECT_EQ(ask({"migrate"}, 0), "") << "again";
}

TEST_P(command_on, runs_one_at_a_time_and_shows_who) {
  migrate();
  program first{holding({"--note", "a run"})};
  ASSERT_TRUE(first.says("started"));
  EXPECT_TRUE(refused(ask({"run", "job", "--wait", "0", "--", "true"}), 75));
  const auto pid = ":" + std::to_string(first.pid()) + ":";
  const auto object = ask_json({"show", "job"}, 0);
  EXPECT_THAT(object.at("owner").get<std::string>(), HasSubstr(pid));
  EXPECT_EQ(object.at("waiters"), json::array());
  EXPECT_THAT(ask({"show", "job"}, 0), AllOf(HasSubstr("name      job\n"), HasSubstr(pid), HasSubstr("a run")));
  const auto all = ask_json({"list"}, 0);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].at("name"), "job");
  EXPECT_EQ(all[0].at("token"), object.at("token"));
  EXPECT_THAT(ask({"list", "jo"}, 0), MatchesRegex("NAME .*\njob +[0-9]+ .*" + pid + ".*\n"));
  EXPECT_EQ(ask({"list", "other"}, 0), "");
  first.signal(SIGTERM);
  EXPECT_EQ(first.wait(), exited(40)) << first.err();
  EXPECT_EQ(ask({"show", "job"}, 1), "");
  EXPECT_EQ(ask({"run", "job", "--", "sh", "-c", "echo $ROWLOCK_NAME; exit 3"}, 3), "job\n");
}

TEST_P(command_on, shows_who_waits_for_whom) {
  migrate();
  EXPECT_EQ(ask({"waiters", "--graph"}, 1), "");
  EXPECT_EQ(ask_json({"waiters", "--graph"}, 1), json::array());
  auto locks = connect();
  std::atomic<int> missing{2};
  const auto lock_both = [&](const char* first, const char* second) {
    mutex one{locks, first};
    mutex two{locks, second};
    const std::lock_guard has{one};
    for (--missing; missing > 0;) std::this_thread::yield();
    try {
      const std::lock_guard then{two};
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::deadlock);
    }
  };
  const std::jthread left{[&] { lock_both("a", "b"); }};
  const std::jthread right{[&] { lock_both("b", "a"); }};
  EXPECT_TRUE(eventually([&] {
    const auto graph = json::parse(ask({"waiters", "--graph", "--json"}).out);
    return graph.size() == 2 && graph[0].at("in_circle") == true && graph[1].at("in_circle") == true;
  })) << "for a second";
}

TEST_P(command_on, lists_who_waits) {
  migrate();
  EXPECT_TRUE(refused(ask({"waiters", "job"}), 1));
  EXPECT_EQ(ask_json({"waiters", "job"}, 1), json::array());
  program first{holding({})};
  ASSERT_TRUE(first.says("started"));
  EXPECT_EQ(ask({"waiters", "job"}, 1), "");
  const std::string note = "it's \"mine\" \xe2\x98\xbe";
  program second{holding({"--note", note})};
  auto locks = connect();
  ASSERT_TRUE(eventually([&] { return !locks.waiters("job").empty(); }));
  const auto owner = testing::HasSubstr(":" + std::to_string(second.pid()) + ":");
  const auto queue = ask_json({"waiters", "job"}, 0);
  ASSERT_EQ(queue.size(), 1U);
  EXPECT_EQ(queue[0].at("note"), note);
  EXPECT_THAT(queue[0].at("owner").get<std::string>(), owner);
  EXPECT_EQ(queue, [&] {
    auto same = ask_json({"show", "job"}, 0).at("waiters");
    if (same.size() == 1) same[0]["waits_for_us"] = queue[0].at("waits_for_us");
    return same;
  }());
  EXPECT_THAT(ask({"waiters", "job"}, 0),
              AllOf(MatchesRegex("TICKET +AGE +OWNER +THREAD +NOTE\n[0-9]+ [^\n]* " + note + "\n"), owner));
  auto of_all = ask_json({"waiters"}, 0);
  ASSERT_EQ(of_all.size(), 1U);
  of_all[0]["waits_for_us"] = queue[0].at("waits_for_us");
  EXPECT_EQ(of_all, queue);
  EXPECT_THAT(ask({"waiters", "--graph"}, 0),
              AllOf(MatchesRegex("WAITER +THREAD +WAITS FOR +HELD BY +THREAD +IN A "
                                 "CIRCLE\n[^\n]+ job +[^\n]+ +-\n"),
                    owner, testing::HasSubstr(":" + std::to_string(first.pid()) + ":")));
  const auto graph = ask_json({"waiters", "--graph"}, 0);
  ASSERT_EQ(graph.size(), 1U);
  EXPECT_EQ(graph[0].at("name"), "job");
  EXPECT_EQ(graph[0].at("in_circle"), false);
  EXPECT_EQ(graph[0].at("holders").size(), 1U);
  EXPECT_THAT(ask({"top", "--once"}, 0), MatchesRegex("NAME [^\n]*\njob +[0-9]+ +[^ ]+ +[^ ]+ +1 [^\n]*\n"));
  for (auto* each : {&first, &second}) {
    ASSERT_TRUE(each->says("started"));
    each->signal(SIGTERM);
    EXPECT_EQ(each->wait(), exited(40)) << each->err();
  }
  EXPECT_EQ(ask_json({"waiters"}, 1), json::array());
}

TEST_P(command_on, frees_a_lease) {
  migrate();
  program holder{holding({"--lease", "3s"})};
  ASSERT_TRUE(holder.says("started"));
  const auto seen = ask_json({"show", "job"}, 0);
  const auto freed = ask_json({"release", "--force", "--yes", "job"}, 0);
  EXPECT_EQ(freed.at("freed"), true);
  EXPECT_EQ(freed.at("token"), seen.at("token"));
  EXPECT_EQ(holder.wait(), exited(70)) << holder.err();
  EXPECT_TRUE(holder.says("got 15 ")) << "it hears of it, and ends its command";
  EXPECT_THAT(holder.err(), HasSubstr("lost the lock"));
  EXPECT_TRUE(refused(ask({"release", "--force", "--yes", "job"}), 1));
  auto locks = connect();
  const auto again = locks.acquire("job", {.lease = 1h});
  EXPECT_THAT(ask({"release", "--force", "--yes", "job"}, 0),
              AllOf(StartsWith("freed \"job\" of rowlock:"), HasSubstr("within a third of its lease")));
}

TEST_P(command_on, frees_what_a_transaction_has) {
  migrate();
  program holder{holding({"--strategy", "for_update"})};
  ASSERT_TRUE(holder.says("started"));
  EXPECT_EQ(ask_json({"show", "job"}, 0).at("held_by_transaction"), true);
  EXPECT_THAT(ask({"release", "--force", "--yes", "job"}, 0), AllOf(StartsWith("freed \"job\""), EndsWith("undone\n")));
  EXPECT_EQ(holder.wait(), exited(70)) << holder.err();
  EXPECT_EQ(ask({"run", "job", "--wait", "0", "--", "true"}, 0), "");
}

// What nobody else can read is "-" or null, and never 0 or nothing at all.
class command_beside_a_transaction : public command_on {
 protected:
  void expect_refusal() const {
    const auto refusal = ask({"run", "-n", "job", "true"});
    EXPECT_TRUE(refused(refusal, 75));
    EXPECT_THAT(refusal.err, AllOf(ContainsRegex("\"job\" is held by [^ (]"), Not(HasSubstr("()"))));
  }

  void expect_the_truth() const {
    expect_refusal();
    EXPECT_THAT(ask({"list"}, 0), MatchesRegex("NAME [^\n]*\njob +(-|[1-9][0-9]*)  +[^ ]+  +-  +[^ ][^\n]*\n"));
    EXPECT_THAT(ask({"show", "job"}, 0),
                AllOf(ContainsRegex("\ntoken     (-|[1-9][0-9]*)\n"), ContainsRegex("\nowner     [^ \n]"),
                      ContainsRegex("\nthread    [^ \n]"), ContainsRegex("\nheld as   a transaction")));
    for (const auto& seen : {ask_json({"show", "job"}, 0), ask_json({"list"}, 0).at(0)}) {
      EXPECT_EQ(seen.at("held_by_transaction"), true);
      EXPECT_NE(seen.at("token"), 0);
      for (const auto* text : {"owner", "thread"}) EXPECT_NE(seen.at(text), "") << text;
    }
  }
};
ROWLOCK_SUITE_ON_EACH_DATABASE(command_beside_a_transaction);

TEST_P(command_beside_a_transaction, of_for_update_tells_what_is_known) {
  migrate();
  auto locks = connect();
  const auto held = locks.acquire("job", {.strategy = strategy::for_update});
  expect_the_truth();
}

class command_beside_a_stranger : public command_beside_a_transaction {};
INSTANTIATE_TEST_SUITE_P(on, command_beside_a_stranger, testing::ValuesIn(server_databases()), database_name);

// MySQL and MariaDB list only what a transaction has written.
TEST_P(command_beside_a_stranger, that_has_the_row_locked_tells_what_is_known) {
  migrate();
  connect().acquire("job").release();
  const auto locked = dynamic_cast<server_database&>(db()).row_locked("job");
  expect_refusal();
  if (GetParam().name == "postgresql") expect_the_truth();
}

TEST_P(command_beside_a_stranger, names_the_session_of_a_transaction) {
  migrate();
  auto locks = connect();
  const auto held = locks.acquire("job", {.strategy = strategy::for_update});
  EXPECT_THAT(ask({"show", "job"}, 0), ContainsRegex("\nheld as   a transaction of session [1-9][0-9]*\n"));
}

TEST_P(command_on, says_that_the_row_is_gone_where_the_tables_were_dropped) {
  migrate();
  program holder{holding({"--lease", "2s"})};
  ASSERT_TRUE(holder.says("started"));
  db().drop_tables();
  EXPECT_EQ(holder.wait(), exited(70)) << holder.err();
  EXPECT_TRUE(holder.says("got 15 "));
  EXPECT_TRUE(is_messages(holder.err())) << holder.err();
  EXPECT_THAT(holder.err(), HasSubstr("lost the lock \"job\" (row_vanished)"));
}

TEST_P(command_on, sweeps) {
  migrate();
  db().add_unused(5);
  EXPECT_EQ(ask_json({"sweep", "--once"}, 0).at("rows"), 5);
  EXPECT_EQ(ask({"sweep", "--once"}, 0), "0 rows and 0 tickets deleted\n");
}

TEST_P(command_on, checks) {
  migrate();
  const auto findings = ask_json({"check"}, 0);
  std::vector<std::string> subjects;
  for (const auto& each : findings) {
    subjects.push_back(each.at("subject"));
    EXPECT_THAT(each.at("condition").get<std::string>(), testing::AnyOf("ok", "advice")) << each;
    EXPECT_FALSE(each.at("sentence").get<std::string>().empty());
    EXPECT_EQ(each.size(), 3U);
  }
  EXPECT_THAT(subjects, ElementsAre("connection", "schema", "privileges", "clock", "log settings", "cluster"));
  const auto result = ask({"check"});
  EXPECT_EQ(result.end, exited(0)) << result;
  EXPECT_THAT(result.out, StartsWith("connection    ok "));
  EXPECT_THAT(result.err, IsEmpty());
  EXPECT_THAT(result.out, Not(HasSubstr("://"))) << "there may be a password in it";
}

TEST_P(command_beside_a_stranger, checks_as_whom_and_where_it_is_connected) {
  migrate();
  const auto& role = dynamic_cast<server_database&>(db()).address();
  const auto line = ask({"check"}).out;
  EXPECT_THAT(line,
              ContainsRegex("^connection +ok +[^,]+, as " + role.user + "[^,]*, in " + role.database +
                            ", (not encrypted|encrypted by TLS [0-9.]+ \\([-A-Z0-9_]+\\)); answers in [0-9.]+ ms\n"))
      << "and nothing else, such as a password";
}

TEST_P(command_on, counts) {
  migrate();
  connect().acquire("released").release();
  auto locks = connect();
  const auto held = locks.acquire("job", {.lease = 1h});
  const auto text = ask({"metrics"}, 0);
  EXPECT_THAT(text,
              AllOf(StartsWith("# TYPE rowlock_"), HasSubstr("\nrowlock_database_up 1\n"), EndsWith("\n# EOF\n")));
  const auto object = ask_json({"metrics"}, 0);
  EXPECT_EQ(object.at("up"), true);
  EXPECT_EQ(object.at("names"), 2);
  EXPECT_EQ(object.at("held"), 1);
  EXPECT_EQ(object.at("held_by_transaction"), 0);
  EXPECT_EQ(object.at("waiters"), 0);
  EXPECT_GE(object.at("longest_hold_us").get<std::int64_t>(), 0);
  EXPECT_EQ(object.at("longest_wait_us"), nullptr);
  EXPECT_EQ(object.size(), 7U) << object;
}

}  // namespace
}  // namespace rowlock::test
