#include <gmock/gmock.h>

#include <fstream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "command/command.hpp"

namespace rowlock::test {
namespace {

namespace fs = std::filesystem;
using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;

using command_options = command;

/// Without a database on the command line.
launch bare(const words& arguments, std::vector<std::string> environment) {
  environment.insert(environment.begin(), {"ROWLOCK_DATABASE", "ROWLOCK_DATABASE_FILE"});
  return {.words = words{command::path()} + arguments, .environment = std::move(environment)};
}

TEST_F(command_options, durations_are_understood) {
  const std::vector<std::pair<std::string, std::chrono::microseconds>> all{
      {"50s", 50s},       {"60000ms", 60s},     {"2m", 2min},   {"1h", 1h},       {"1d", 24h},
      {"90.5s", 90500ms}, {"60000000us", 1min}, {"45", 45s},    {"0.5h", 30min},  {"61.25", 61250ms},
      {"30d", 720h},      {"00050s", 50s},      {"1m04s", 64s}, {"1h30m", 90min}, {"2d1.5h", 49h + 30min},
      {"1w", 168h},       {"1m0s5ms", 60005ms}};
  for (const auto& [text, length] : all) {
    program started{run(words{"--lease", text, "--"} + watcher({"15"}))};
    ASSERT_TRUE(started.says("started")) << text << ": " << started.err();
    const auto row = database_.row("job").value();
    EXPECT_EQ(row.expires_at.value() - row.acquired_at.value(), length.count()) << text;
    started.signal(SIGTERM);
    EXPECT_EQ(started.wait(), exited(40));
  }
}

TEST_F(command_options, anything_else_is_no_duration) {
  for (const auto* text :
       {"",       " ",    "s",    "5 s",  " 5s",   "5s ",  "-1s",   "-1",  "5x",  "5S",    "five", "5ss",
        "1.5.5s", "1,5s", "5sec", "1h30", "30m1h", "1h1h", "1h-5m", "nan", "inf", "0x10s", "1e3s", "."}) {
    for (const auto* option : {"--wait", "--lease", "--at-least", "--hold-limit", "--grace"})
      EXPECT_TRUE(refused(finish(run({option, text, "--", "touch", file("ran")})), 64))
          << option << " '" << text << "'";
  }
  EXPECT_FALSE(fs::exists(file("ran")));
}

TEST_F(command_options, a_duration_beyond_all_measure_does_no_harm) {
  for (const auto* text : {"99999999999d", "9223372036854775807us", "99999999999999999999999999h"}) {
    const auto result = finish(run({"--wait", text, "--grace", text, "--", "true"}));
    EXPECT_THAT(result.end, AnyOf(exited(0), exited(64))) << text << ": " << result;
  }
}

TEST_F(command_options, wait_waits_no_longer_than_it_says) {
  const auto held = locks_.acquire("job");
  for (const auto* text : {"0", "0s", "250us", "0.2s", "100ms"}) {
    const stopwatch watch;
    EXPECT_TRUE(refused(finish(run({"--wait", text, "--", "true"})), 75)) << text;
    EXPECT_LT(watch.elapsed(), patience / 3) << text;
  }
}

TEST_F(command_options, wait_gets_the_lock_as_soon_as_it_is_free) {
  for (const auto& wait : std::vector<words>{{}, {"--wait", "1h"}}) {
    auto held = locks_.acquire("job");
    program started{run(wait + words{"--", "echo", "done"})};
    ASSERT_TRUE(eventually([&] { return is_waiting(started.pid()); }));
    EXPECT_THAT(started.out(), IsEmpty());
    held.release();
    EXPECT_EQ(started.wait(), exited(0));
    EXPECT_EQ(started.out(), "done\n");
  }
}

TEST_F(command_options, fair_overtakes_nobody) {
  queue_stranger("shop:far away:1:abc");
  for (const auto& arguments : std::vector<words>{{"--fair", "--wait", "0"}, {"--wait", "100ms", "--fair"}}) {
    const auto result = finish(run(arguments + words{"--", "touch", file("ran")}));
    EXPECT_TRUE(refused(result, 75));
    EXPECT_THAT(result.err, HasSubstr("other clients wait"));
    EXPECT_THAT(finish(run(arguments + words{"--quiet", "--", "true"})).err, IsEmpty());
  }
  EXPECT_FALSE(fs::exists(file("ran")));
  EXPECT_EQ(finish(run({"--wait", "0", "--", "true"})).end, exited(0)) << "without it may";
}

TEST_F(command_options, fair_takes_no_value_and_is_for_run_only) {
  EXPECT_TRUE(refused(finish(run({"--fair=maybe", "--", "touch", file("ran")})), 64));
  EXPECT_TRUE(refused(finish(rowlock({"list", "--fair"})), 64));
  EXPECT_FALSE(fs::exists(file("ran")));
}

TEST_F(command_options, at_least_keeps_the_name_after_the_command_has_ended) {
  const stopwatch watch;
  EXPECT_EQ(finish(run({"--lease", "1h", "--at-least", "1h", "--", "true"})).end, exited(0));
  EXPECT_LT(watch.elapsed(), patience) << "it does not wait for that itself";
  const auto row = database_.row("job").value();
  EXPECT_EQ(row.expires_at.value() - row.acquired_at.value(), std::chrono::microseconds{1h}.count());
  const auto result = finish(run({"--wait", "0", "--", "touch", file("ran")}));
  EXPECT_TRUE(refused(result, 75));
  EXPECT_THAT(result.err, HasSubstr(" (released; at_least keeps the name taken)\n"));
  EXPECT_FALSE(fs::exists(file("ran")));
  EXPECT_THAT(finish(rowlock({"show", "job"})).out,
              HasSubstr("\nheld as   a released lock, whose at_least keeps the name taken until it expires\n"));
  for (const auto& subcommand : std::vector<words>{{"list"}, {"top", "--once"}})
    EXPECT_THAT(finish(rowlock(subcommand)).out, HasSubstr(" (released")) << subcommand.front();
}

TEST_F(command_options, at_least_lets_the_next_run_then) {
  EXPECT_EQ(finish(run({"--lease", "1h", "--at-least", "1s", "--", "true"})).end, exited(0));
  const auto end = database_.row("job").value().expires_at.value();
  EXPECT_EQ(finish(run({"--", "true"})).end, exited(0));
  EXPECT_GE(database_.row("job").value().acquired_at.value(), end);
}

TEST_F(command_options, at_least_and_hold_limit_have_bounds) {
  for (const auto& bad : std::vector<words>{{"--at-least", "31d"},
                                            {"--hold-limit", "99ms"},
                                            {"--hold-limit", "31d"},
                                            {"--at-least", "2s", "--hold-limit", "1s"}})
    EXPECT_TRUE(refused(finish(run(bad + words{"--", "touch", file("ran")})), 64)) << testing::PrintToString(bad);
  EXPECT_FALSE(fs::exists(file("ran")));
}

TEST_F(command_options, the_database_comes_from_the_environment) {
  const auto result = finish(bare({"run", "job", "--", "echo", "done"}, {"ROWLOCK_DATABASE=" + database_.url()}));
  EXPECT_EQ(result.end, exited(0)) << result;
  EXPECT_EQ(result.out, "done\n");
  EXPECT_TRUE(is_vacant()) << "it was this database";
}

TEST_F(command_options, the_database_comes_from_a_file) {
  const auto url_file = file("url").string();
  for (const auto* rest : {"", "\n", "\nsqlite:/somewhere/else\n"}) {
    std::ofstream{url_file} << database_.url() << rest;
    const auto result = finish(bare({"run", "job", "--", "echo", "done"}, {"ROWLOCK_DATABASE_FILE=" + url_file}));
    EXPECT_EQ(result.end, exited(0)) << result;
    EXPECT_EQ(result.out, "done\n");
    EXPECT_TRUE(is_vacant());
  }
}

TEST_F(command_options, a_file_that_names_no_database_is_refused) {
  for (const auto* name : {"missing", "empty", "blank", "."}) {
    std::ofstream{file("empty")}.flush();
    std::ofstream{file("blank")} << "\n" << database_.url() << "\n";
    const auto result =
        finish(bare({"run", "job", "--", "touch", file("ran")}, {"ROWLOCK_DATABASE_FILE=" + file(name).string()}));
    EXPECT_TRUE(refused(result, 64)) << name;
  }
  EXPECT_FALSE(fs::exists(file("ran")));
}

TEST_F(command_options, the_command_line_goes_before_the_environment_and_that_before_the_file) {
  const auto url_file = file("url").string();
  std::ofstream{url_file} << "sqlite:" << file("no-such-folder/locks.db").string() << "\n";
  const auto from_file = "ROWLOCK_DATABASE_FILE=" + url_file;
  EXPECT_EQ(finish(bare({"run", "job", "--", "true"}, {from_file})).end, exited(69));
  EXPECT_EQ(finish(bare({"run", "job", "--", "true"}, {from_file, "ROWLOCK_DATABASE=" + database_.url()})).end,
            exited(0));
  EXPECT_EQ(finish(bare({"--database", database_.url(), "run", "job", "--", "true"},
                        {from_file, "ROWLOCK_DATABASE=nonsense:"}))
                .end,
            exited(0));
}

// So that no password shows where processes are listed.
TEST_F(command_options, a_database_from_a_file_is_not_in_the_command_line_of_any_process) {
  const auto url_file = file("url").string();
  std::ofstream{url_file} << database_.url() << "\n";
  program started{bare(words{"run", "job", "--"} + watcher({"15"}), {"ROWLOCK_DATABASE_FILE=" + url_file})};
  ASSERT_TRUE(started.says("started"));
  const auto command_line = contents_of("/proc/" + std::to_string(started.pid()) + "/cmdline");
  EXPECT_THAT(command_line, HasSubstr("job"));
  EXPECT_THAT(command_line, Not(HasSubstr("sqlite:")));
  started.signal(SIGTERM);
  EXPECT_EQ(started.wait(), exited(40));
}

TEST_F(command_options, may_stand_before_and_after_the_subcommand) {
  const auto url = database_.url();
  const words echo{"--", "echo", "done"};
  const std::vector<words> orders{
      {"--database", url, "run", "job", "--wait", "0"},
      {"run", "--database", url, "job", "--wait", "0"},
      {"run", "job", "--wait", "0", "--database", url},
      {"run", "--wait", "0", "job", "--database", url},
      {"--database", url, "run", "--wait", "0", "--lease", "10s", "job", "--note", "a note"},
      {"--table-prefix", "rowlock_", "run", "job", "--database", url},
      {"run", "job", "--table-prefix", "rowlock_", "--database", url},
  };
  for (const auto& order : orders) {
    const auto result = finish(bare(order + echo, {}));
    EXPECT_EQ(result.end, exited(0)) << testing::PrintToString(order) << " " << result;
    EXPECT_EQ(result.out, "done\n");
  }
  const auto held = locks_.acquire("job");
  for (const auto& list :
       std::vector<words>{{"--database", url, "list", "--json"}, {"list", "--json", "--database", url}})
    EXPECT_THAT(finish(bare(list, {})).out, HasSubstr("job"));
}

TEST_F(command_options, arguments_of_the_command_are_its_own) {
  const auto result = finish(run({"--wait", "0", "--", "printf", "[%s]", "two words", "", "*", "--", "--wait", "-x",
                                  "--help", "--version", "--database", "\"quoted\"", "$HOME", "a\nb", "\xff"}));
  EXPECT_EQ(result.end, exited(0)) << result;
  EXPECT_EQ(result.out,
            "[two words][][*][--][--wait][-x][--help][--version][--database][\"quoted\"][$HOME][a\nb][\xff]");
}

TEST_F(command_options, the_name_is_taken_as_it_is) {
  for (const auto* name : {"two words", "orders/42", "\xc3\xa4\xe2\x82\xac", "a\nb", "*", "100%"}) {
    const auto result = finish(rowlock({"run", name, "--", "sh", "-c", "printf '%s' \"$ROWLOCK_NAME\""}));
    EXPECT_EQ(result.end, exited(0)) << name << ": " << result;
    EXPECT_EQ(result.out, name);
    EXPECT_TRUE(database_.row(name).has_value());
  }
}

TEST_F(command_options, after_dashes_a_name_may_look_like_an_option) {
  for (const std::string name : {"-j", "--json", "--", "-"}) {
    const auto held = locks_.acquire(name, {.lease = 1h});
    const std::vector<std::tuple<words, words, int>> all{{{"list"}, {}, 0},
                                                         {{"show"}, {}, 0},
                                                         {{"show", "--json"}, {}, 0},
                                                         {{"waiters"}, {}, 1},
                                                         {{"top", "--once"}, {}, 0},
                                                         {{"run", "-n"}, {"true"}, 75},
                                                         {{"run", "-n"}, {"--", "true"}, 75},
                                                         {{"run", "-n", "-c", "true"}, {}, 75},
                                                         {{"hold", "-n"}, {}, 75},
                                                         {{"release", "--force", "--yes"}, {}, 0},
                                                         {{"show"}, {}, 1},
                                                         {{"hold"}, {}, 0},
                                                         {{"lead"}, {"-n"}, 127},
                                                         {{"lead"}, {"--", "-n"}, 127},
                                                         {{"run"}, {"printenv", "ROWLOCK_NAME"}, 0}};
    for (const auto& [before, after, status] : all) {
      const auto line = before + words{"--", name} + after;
      const auto result = finish(rowlock(line));
      EXPECT_EQ(result.end, exited(status)) << testing::PrintToString(line) << " " << result;
      EXPECT_THAT(result.out + result.err, AnyOf(HasSubstr(name), HasSubstr("-n"), MatchesRegex("[0-9]+\n")))
          << testing::PrintToString(line);
    }
  }
}

TEST_F(command_options, dashes_may_end_the_options_of_every_subcommand) {
  for (const auto& each : std::vector<words>{{"migrate"},
                                             {"sweep", "--once"},
                                             {"list"},
                                             {"waiters", "--prefix", "x"},
                                             {"top", "--once"},
                                             {"check"},
                                             {"metrics"},
                                             {"sql"},
                                             {"help"}})
    EXPECT_NE(finish(rowlock(each + words{"--"})).end, exited(64)) << testing::PrintToString(each);
  EXPECT_EQ(finish(rowlock({"help", "--", "run"})).out, finish(rowlock({"help", "run"})).out);
  const std::vector<std::pair<words, const char*>> wrong{{{"show", "--", "one", "--json"}, "not expected: --json"},
                                                         {{"hold", "--", "one", "true"}, "not expected: true"},
                                                         {{"check", "--", "-n"}, "not expected: -n"},
                                                         {{"run", "--"}, "NAME is required"},
                                                         {{"run", "--", "one", "--"}, "no COMMAND is given"},
                                                         {{"--", "show", "one"}, "subcommand is required"}};
  for (const auto& [line, complaint] : wrong) {
    const auto result = finish(rowlock(line));
    EXPECT_TRUE(refused(result, 64)) << testing::PrintToString(line);
    EXPECT_THAT(result.err, HasSubstr(complaint));
  }
}

TEST_F(command_options, note_and_prefix_reach_the_library) {
  program started{run(words{"--note", "nightly \xe2\x98\xbe report", "--"} + watcher({"15"}))};
  ASSERT_TRUE(started.says("started")) << started.err();
  EXPECT_EQ(database_.row("job").value().note, "nightly \xe2\x98\xbe report");
  started.signal(SIGTERM);
  EXPECT_EQ(started.wait(), exited(40));
}

class command_strategies : public command, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(names, command_strategies, testing::Values("unique_index", "for_update", "version_cas"));

TEST_P(command_strategies, are_taken_by_their_names) {
  program started{run(words{"--strategy", GetParam(), "--"} + watcher({"15"}))};
  ASSERT_TRUE(started.says("started")) << started.err();
  EXPECT_FALSE(is_free("job"));
  EXPECT_TRUE(refused(finish(run({"--wait", "0", "--strategy", GetParam(), "--", "true"})), 75));
  started.signal(SIGTERM);
  EXPECT_EQ(started.wait(), exited(40));
  EXPECT_TRUE(is_free("job"));
}

TEST_P(command_strategies, are_all_named_where_another_is_asked_for) {
  for (const auto* wrong : {"wishful", "", "FOR_UPDATE", "for update", "unique_index,for_update"}) {
    const auto result = finish(run({"--strategy", wrong, "--", "touch", file("ran")}));
    EXPECT_TRUE(refused(result, 64)) << wrong;
    EXPECT_THAT(result.err, HasSubstr(GetParam()));
  }
  EXPECT_THAT(finish(bare({"run", "--help"}, {})).out, HasSubstr(GetParam()));
  EXPECT_FALSE(fs::exists(file("ran")));
}

TEST_P(command_strategies, by_lease_take_what_is_about_a_lease) {
  const bool has_lease = std::string_view{GetParam()} != "for_update";
  const std::vector<words> all{{"--lease", "30s"},  // the default
                               {"--lease", "10s"},
                               {"--at-least", "0"},
                               {"--at-least", "1us"},
                               {"--hold-limit", "30d"}};
  for (const auto& about_a_lease : all) {
    const words strategy{"--strategy", GetParam()};
    for (const auto& each : {about_a_lease + strategy, strategy + about_a_lease}) {
      const auto result = finish(run(each + words{"--", "echo", "ran"}));
      if (has_lease) {
        EXPECT_EQ(result.end, exited(0)) << result;
      } else {
        EXPECT_TRUE(refused(result, 64)) << result;
        EXPECT_THAT(result.err, HasSubstr(about_a_lease[0]));
      }
    }
  }
}

TEST_F(command_options, table_prefix_is_another_set_of_locks) {
  EXPECT_EQ(finish(rowlock({"--table-prefix", "mine_", "list"})).end, exited(78));
  EXPECT_EQ(finish(rowlock({"--table-prefix", "mine_", "migrate"})).end, exited(0));
  EXPECT_TRUE(database_.has_table("mine_lock"));
  const auto held = locks_.acquire("job");
  const words inner{path(), "--database", database_.url(), "--table-prefix", "mine_", "list"};
  const auto result = finish(run(words{"--wait", "0", "--table-prefix", "mine_", "--"} + inner));
  EXPECT_EQ(result.end, exited(0)) << result;
  EXPECT_THAT(result.out, HasSubstr("job"));
  EXPECT_THAT(finish(rowlock({"list", "--table-prefix", "mine_"})).out, IsEmpty());
  EXPECT_THAT(finish(rowlock({"list"})).out, HasSubstr("job"));
}

TEST_F(command_options, help_and_version_need_no_database) {
  for (const auto& arguments : std::vector<words>{
           {"--help"}, {"run", "--help"}, {"list", "--help"}, {"show", "--help"}, {"migrate", "--help"}}) {
    const auto result = finish(bare(arguments, {}));
    EXPECT_EQ(result.end, exited(0)) << testing::PrintToString(arguments) << " " << result;
    EXPECT_THAT(result.out, HasSubstr("rowlock"));
    EXPECT_THAT(result.out, HasSubstr("--database"));
    EXPECT_THAT(result.err, IsEmpty());
  }
  for (const auto* word : {"run", "migrate", "list", "show", "ROWLOCK_DATABASE"})
    EXPECT_THAT(finish(bare({"--help"}, {})).out, HasSubstr(word));
  for (const auto* word : {"--wait", "--fair", "--lease", "--at-least", "--hold-limit", "--grace", "--busy-exit",
                           "--lost-exit", "--note", "--strategy"})
    EXPECT_THAT(finish(bare({"run", "--help"}, {})).out, HasSubstr(word));
  const auto version = finish(bare({"--version"}, {}));
  EXPECT_EQ(version.end, exited(0)) << version;
  EXPECT_THAT(version.out, HasSubstr(ROWLOCK_VERSION));
  EXPECT_THAT(version.err, IsEmpty());
}

}  // namespace
}  // namespace rowlock::test
