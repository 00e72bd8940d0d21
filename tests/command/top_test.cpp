#include <gmock/gmock.h>
#include <signal.h>

#include <string>
#include <vector>

#include "command/command.hpp"
#include "command/terminal.hpp"
#include "command/watched_terminal.hpp"

// rowlock top, by what is on the terminal. As a table: transcripts/listing.txt.

namespace rowlock::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::EndsWith;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

class command_top : public command {
 protected:
  words top(const words& arguments = {}) const { return rowlock(words{"top"} + arguments).words; }
  static words with_locale(const words& job, const std::string& locale = "C.UTF-8") {
    words out{"env"};
    for (const auto* name : {"ROWLOCK_DATABASE", "ROWLOCK_DATABASE_FILE", "LINES", "COLUMNS"})
      out = out + words{"-u", name};
    return out + words{"TERM=xterm-256color", "LC_ALL=" + locale} + job;
  }
  /// From a shell that says what was before, and how it ended.
  static words in_shell(const words& job) {
    return with_locale(words{"sh", "-c", "trap : INT; echo before; \"$@\"; echo ended $?", "sh"} + job);
  }

  held_lock hold(const std::string& name, std::chrono::seconds lease = 1h, const std::string& note = {}) {
    return locks_.acquire(name, {.lease = lease, .renew = false, .note = note});
  }
  std::string owner_of(const std::string& name) { return database_.row(name).value().owner.value(); }
};

struct extent_of_screen {
  int columns;
  int lines;
};
class command_top_of_size : public command_top, public testing::WithParamInterface<extent_of_screen> {
 protected:
  watched_terminal start(const words& job) { return {with_locale(job), GetParam().columns, GetParam().lines}; }
};
INSTANTIATE_TEST_SUITE_P(sizes, command_top_of_size,
                         testing::Values(extent_of_screen{80, 24}, extent_of_screen{200, 60}),
                         [](const auto& info) { return std::to_string(info.param.columns) + "_columns"; });

TEST_P(command_top_of_size, shows_names_holders_leases_and_queues) {
  const auto job = hold("job", 1h, "by hand");
  const auto other = hold("orders/42", 10min);
  queue_stranger("shop:far away:1:abc");
  queue_stranger("shop:far away:2:abd");
  auto seen = start(top());
  // It is drawn from top to bottom.
  ASSERT_TRUE(seen.shows([](const screen_model& drawn) {
    return drawn.line_with("orders/42").find(" 0 ") != std::string::npos && drawn.lines().back().starts_with("q quit");
  }));
  const auto& now = seen.screen();
  EXPECT_THAT(now.lines()[0], StartsWith("rowlock top: 2 held, 2 waiting "));
  EXPECT_THAT(now.lines()[0], EndsWith("every 1.0s"));
  EXPECT_THAT(now.lines()[1], MatchesRegex("NAME .*HELD .*LEASE .*WAIT .*LONGEST .*HOLDER .*NOTE.*"));
  EXPECT_THAT(now.line_with("job"), ContainsRegex("^job .* (1h00m|59m[0-9]+s) .* 2 .*by hand"));
  EXPECT_THAT(now.line_with("job"), HasSubstr(owner_of("job").substr(0, 12)));
  EXPECT_THAT(now.line_with("orders/42"), ContainsRegex("(10m00s|9m[0-9]+s) .* 0 "));
  EXPECT_THAT(now.lines().back(), StartsWith("q quit  ? keys  / filter  f free  sort: [n name] a age l lease w queue"));
  if (GetParam().columns >= 200) {
    EXPECT_THAT(now.line_with("job"),
                AllOf(HasSubstr(std::to_string(job.token().value())), HasSubstr(owner_of("job"))));
  }
}

TEST_P(command_top_of_size, follows_what_happens) {
  auto seen = start(top({"--every", "100ms"}));
  ASSERT_TRUE(seen.shows("0 held, 0 waiting"));
  auto held = hold("job");
  ASSERT_TRUE(seen.shows("1 held, 0 waiting"));
  queue_stranger("shop:far away:1:abc");
  EXPECT_TRUE(seen.shows("1 held, 1 waiting"));
  held.release();
  EXPECT_TRUE(seen.shows("0 held, 1 waiting"));
  EXPECT_TRUE(seen.shows(
      [](const screen_model& now) { return testing::Value(now.line_with("job"), ContainsRegex(" 1 .* -$")); }));
}

TEST_P(command_top_of_size, frees_what_is_selected_when_it_is_told_so_twice) {
  const auto one = hold("a");
  const auto two = hold("b", 1h, "mine");
  auto seen = start(top());
  ASSERT_TRUE(seen.shows([](const screen_model& now) { return now.reversed_line().starts_with("a "); }));
  seen.at().type("\x1bOB");  // down
  ASSERT_TRUE(seen.shows([](const screen_model& now) { return now.reversed_line().starts_with("b "); }));
  seen.at().type("f");
  ASSERT_TRUE(seen.shows("[y/N]"));
  auto question = seen.screen().text();
  std::erase(question, '\n');
  EXPECT_THAT(question, AllOf(HasSubstr("Free \"b\"? It is held by"), HasSubstr(owner_of("b")),
                              HasSubstr(std::to_string(two.token().value()))));
  EXPECT_TRUE(locks_.find("b").has_value());
  seen.at().type("n");
  ASSERT_TRUE(seen.shows("\"b\" was not freed"));
  EXPECT_TRUE(locks_.find("b").has_value());
  seen.at().type("f");
  ASSERT_TRUE(seen.shows("[y/N]"));
  seen.at().type("y");
  ASSERT_TRUE(seen.shows("freed \"b\""));
  EXPECT_FALSE(locks_.find("b").has_value());
  EXPECT_TRUE(locks_.find("a").has_value());
  EXPECT_TRUE(seen.shows("1 held, 0 waiting"));
}

TEST_P(command_top_of_size, frees_only_what_it_has_shown) {
  auto held = hold("job");
  auto seen = start(top({"--every", "1h"}));
  ASSERT_TRUE(seen.shows("job"));
  seen.at().type("f");
  ASSERT_TRUE(seen.shows("[y/N]"));
  held.release();
  held = hold("job");
  seen.at().type("y");
  ASSERT_TRUE(seen.shows("was not freed: another client holds it now"));
  EXPECT_EQ(locks_.find("job").value().token, held.token());
}

TEST_P(command_top_of_size, fits_the_terminal_when_its_size_changes) {
  const auto held = hold("job", 1h, "by hand");
  auto seen = start(top());
  ASSERT_TRUE(seen.shows("sort:"));
  for (const auto& [columns, lines] : {extent_of_screen{160, 50}, extent_of_screen{40, 10}, extent_of_screen{5, 3},
                                       extent_of_screen{1, 1}, extent_of_screen{80, 24}}) {
    seen.resize(columns, lines);
    const auto title = std::string{"rowlock top: 1 held"}.substr(0, static_cast<std::size_t>(std::min(columns, 19)));
    const auto is_full = [&title, wide = columns, last = static_cast<std::size_t>(lines)](const screen_model& now) {
      const auto all = now.lines();
      const auto begins = wide >= 19 ? all[0].starts_with(title) : all[0].ends_with("+");
      return begins && (last < 3 || all[last - 1].starts_with(wide >= 6 ? "q quit" : "q qu+"));
    };
    EXPECT_TRUE(seen.shows(is_full)) << columns << "\n" << seen.screen().text();
    if (columns >= 150) {
      EXPECT_TRUE(seen.shows("by hand"));
    }
  }
}

TEST_P(command_top_of_size, gives_the_terminal_back) {
  const auto held = hold("job");
  for (const auto* key : {"q", "\x03"}) {
    watched_terminal seen{in_shell(top()), GetParam().columns, GetParam().lines};
    ASSERT_TRUE(seen.shows("sort:"));
    EXPECT_FALSE(seen.at().is_in_shell_mode());
    EXPECT_TRUE(seen.hides("before")) << "on another screen";
    seen.at().type(key);
    EXPECT_TRUE(seen.shows("ended 0"));
    EXPECT_EQ(seen.at().report(), "exited 0");
    EXPECT_TRUE(seen.at().is_in_shell_mode());
    EXPECT_THAT(seen.screen().text(), AllOf(HasSubstr("before\nended 0\n"), Not(HasSubstr("sort:"))));
  }
}

class command_top_signals : public command_top, public testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(signals, command_top_signals, testing::Values(SIGTERM, SIGQUIT, SIGHUP, SIGUSR1));

TEST_P(command_top_signals, that_end_it_give_the_terminal_back) {
  watched_terminal seen{with_locale(top()), 80, 24};
  ASSERT_TRUE(seen.shows("sort:"));
  ::kill(seen.at().job(), GetParam());
  EXPECT_EQ(seen.at().report(), "killed " + std::to_string(GetParam()));
  EXPECT_TRUE(seen.at().is_in_shell_mode());
  EXPECT_TRUE(seen.hides("sort:"));
}

TEST_F(command_top, may_be_stopped_and_continued) {
  watched_terminal seen{with_locale(top({"--every", "100ms"})), 80, 24};
  ASSERT_TRUE(seen.shows("sort:"));
  seen.at().type(keys::ctrl_z);
  EXPECT_EQ(seen.at().report(), "stopped");
  EXPECT_TRUE(seen.at().is_in_shell_mode());
  EXPECT_TRUE(seen.hides("sort:"));
  const auto held = hold("job");
  seen.at().continue_job();
  EXPECT_TRUE(seen.shows("1 held, 0 waiting"));
  EXPECT_FALSE(seen.at().is_in_shell_mode());
  seen.at().type("q");
  EXPECT_EQ(seen.at().report(), "exited 0");
}

TEST_F(command_top, tells_what_is_wrong_and_tries_again) {
  const auto held = hold("job");
  watched_terminal seen{with_locale(top({"--every", "100ms"})), 80, 24};
  ASSERT_TRUE(seen.shows("1 held"));
  const auto alter = [&](const char* sql) {
    return finish({.words = {"sqlite3", database_.file().string(), sql}}).end;
  };
  ASSERT_EQ(alter("ALTER TABLE rowlock_waiter RENAME TO elsewhere"), exited(0));
  EXPECT_TRUE(seen.shows("Trying again: "));
  EXPECT_TRUE(seen.shows("1 held")) << "what was seen before";
  seen.at().type("l");
  EXPECT_TRUE(seen.shows("[l lease]")) << "keys are answered";
  ASSERT_EQ(alter("ALTER TABLE elsewhere RENAME TO rowlock_waiter"), exited(0));
  EXPECT_TRUE(seen.hides("Trying again"));
}

TEST_F(command_top, tells_it_in_words_of_the_shell) {
  const auto held = hold("job");
  watched_terminal seen{with_locale(top({"--every", "100ms"})), 250, 24};
  ASSERT_TRUE(seen.shows("1 held"));
  database_.drop_tables();
  ASSERT_TRUE(seen.shows("Trying again: "));
  EXPECT_TRUE(seen.shows("run rowlock migrate"));
  seen.at().type("f");
  ASSERT_TRUE(seen.shows("[y/N]"));
  seen.at().type("y");
  ASSERT_TRUE(seen.shows("\"job\" was not freed: "));
  EXPECT_THAT(seen.screen().text(), Not(HasSubstr("client::")));
}

TEST_F(command_top, lets_no_name_or_note_act_on_the_terminal) {
  const auto odd = hold("odd \x1b[2J\n\xc2\x9b\r", 1h, "\x1b]0;title\x07");
  queue_stranger("odd \x1b[31m");
  watched_terminal seen{with_locale(top()), 200, 24};
  ASSERT_TRUE(seen.shows(R"(odd \x1b[2J\n)"));
  seen.at().type("jf");
  ASSERT_TRUE(seen.shows("[y/N]"));
  seen.at().type("n");
  ASSERT_TRUE(seen.shows("not freed"));
  EXPECT_THAT(seen.at().screen(),
              AllOf(Not(HasSubstr("\x1b[2J\n")), Not(HasSubstr("\x1b]0;t")), Not(HasSubstr("\xc2\x9b"))));
}

TEST_F(command_top, shows_letters_of_any_language_where_the_locale_can) {
  const auto held = hold("\xe6\x97\xa5\xe6\x9c\xac caf\xc3\xa9");
  watched_terminal utf8{with_locale(top()), 80, 24};
  EXPECT_TRUE(utf8.shows("\xe6\x97\xa5\xe6\x9c\xac caf\xc3\xa9 "));
  watched_terminal ascii{with_locale(top(), "C"), 80, 24};
  EXPECT_TRUE(ascii.shows("?? caf? "));
}

// What they do: top_screen_test.cpp.
TEST_F(command_top, understands_the_keys_of_the_terminal) {
  std::vector<held_lock> all;
  for (int i = 10; i < 60; ++i) all.push_back(hold("job/" + std::to_string(i)));
  watched_terminal seen{with_locale(top()), 80, 24};
  ASSERT_TRUE(seen.shows("50 held"));
  EXPECT_EQ(seen.screen().line_with("job/59"), "");
  seen.at().type("\x1bOF");  // end
  ASSERT_TRUE(seen.shows([](const screen_model& now) { return now.reversed_line().starts_with("job/59"); }));
  EXPECT_EQ(seen.screen().line_with("job/10"), "");
  seen.at().type("\x1bOH");  // home
  ASSERT_TRUE(seen.shows([](const screen_model& now) { return now.reversed_line().starts_with("job/10"); }));
  seen.at().type("?");
  ASSERT_TRUE(seen.shows("arrows, j, k"));
  seen.at().type("/ord\x7f\x7f\x7f^job/2");  // backspace
  ASSERT_TRUE(seen.shows("Filter: ^job/2_"));
  EXPECT_TRUE(seen.hides("job/10"));
  seen.at().type("\r");
  EXPECT_TRUE(seen.hides("escape for none"));
  EXPECT_TRUE(seen.shows("Filter: ^job/2"));
  seen.at().type("\x1b");
  EXPECT_TRUE(seen.shows("job/10"));
  EXPECT_TRUE(seen.hides("Filter"));
}

TEST_F(command_top, is_about_names_with_a_prefix) {
  const auto one = hold("orders/1");
  const auto other = hold("other");
  watched_terminal seen{with_locale(top({"orders/"})), 120, 24};
  ASSERT_TRUE(seen.shows("names that begin with orders/"));
  EXPECT_TRUE(seen.shows("1 held, 0 waiting"));
  EXPECT_EQ(seen.screen().line_with("other"), "");
}

TEST_F(command_top, prints_a_table_where_lines_cannot_be_placed) {
  const auto held = hold("job");
  terminal at{words{"env", "TERM=dumb"} + top({"--every", "1h"})};
  ASSERT_TRUE(at.shows("\njob "));
  EXPECT_EQ(at.report(), "exited 0");
}

TEST_F(command_top, says_so_where_nothing_is_known_of_the_terminal) {
  terminal at{words{"env", "TERM=there-is-no-such-terminal"} + top()};
  EXPECT_EQ(at.report(), "exited 70");
  EXPECT_TRUE(at.shows("--once"));
  EXPECT_TRUE(at.is_in_shell_mode());
}

}  // namespace
}  // namespace rowlock::test
