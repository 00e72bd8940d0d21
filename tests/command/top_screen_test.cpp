#include "command/top_screen.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command/cells.hpp"

// What keys do, and what is on the screen then: no database, no terminal. In the locale "C", where lines are ASCII.

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using ::rowlock::command::extent;
using ::rowlock::command::key;
using ::rowlock::command::rows_of;
using ::rowlock::command::screen_line;
using ::rowlock::command::top_order;
using ::rowlock::command::top_row;
using ::rowlock::command::top_screen;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using kind = top_screen::request::kind;

class top_on_screen : public testing::Test {
 protected:
  void look(const ::rowlock::command::overview& seen) { shown_.show(seen); }
  static lock_info lock(const std::string& name, std::int64_t token = 7) {
    return {
        .name = name, .token = fencing_token{token}, .owner = "shop:host:1:abc", .held_for = 90s, .expires_in = 30s};
  }
  kind type(std::string_view keys) {
    auto last = kind::nothing;
    for (const char c : keys) last = shown_.press({key::kind::character, static_cast<wchar_t>(c)}).what;
    return last;
  }
  kind press(key::kind what) { return shown_.press({what}).what; }

  std::string screen(extent of = {80, 24}) {
    std::string out;
    for (const auto& each : shown_.lines(of)) out += ::rowlock::command::to_utf8(each.text) + '\n';
    return out;
  }
  /// The names in the rows, from the top.
  std::vector<std::string> names() {
    std::vector<std::string> out;
    const auto lines = shown_.lines({80, 24});
    for (std::size_t i = 2; i + 1 < lines.size() && lines[i].text.front() != L' '; ++i)
      out.push_back(::rowlock::command::to_utf8(lines[i].text.substr(0, lines[i].text.find(L' '))));
    return out;
  }
  std::string selected() {
    const auto lines = shown_.lines({80, 24});
    for (std::size_t i = 1; i + 1 < lines.size(); ++i)
      if (lines[i].how == screen_line::look::reversed) {
        const auto text = ::rowlock::command::to_utf8(lines[i].text);
        return text.substr(0, text.find(' '));
      }
    return {};
  }

  top_screen shown_{::rowlock::command::options{}};
};

TEST_F(top_on_screen, lines_are_as_long_and_as_many_as_the_screen_has) {
  ::rowlock::command::overview seen;
  for (int i = 0; i < 100; ++i) seen.held.push_back(lock(std::string(static_cast<std::size_t>(i) + 1, 'n')));
  look(seen);
  for (const bool asks : {false, true}) {
    if (asks) type("f");
    for (std::size_t columns = 0; columns < 220; ++columns)
      for (const std::size_t lines : {0U, 1U, 2U, 3U, 4U, 5U, 24U, 200U}) {
        const auto all = shown_.lines({columns, lines});
        ASSERT_EQ(all.size(), lines) << columns;
        for (const auto& each : all)
          ASSERT_EQ(::rowlock::command::columns_of(each.text), columns) << ::rowlock::command::to_utf8(each.text);
      }
  }
}

TEST_F(top_on_screen, a_question_mark_shows_the_other_keys) {
  look({.held = {lock("a")}});
  type("?");
  EXPECT_THAT(screen(), AllOf(HasSubstr("arrows"), HasSubstr("look now"), HasSubstr("rowlock top --help")));
  type("k");
  EXPECT_THAT(screen(), Not(HasSubstr("arrows")));
}

TEST_F(top_on_screen, keys_ask_for_what_others_do) {
  look({.held = {lock("a")}});
  EXPECT_EQ(type("q"), kind::quit);
  EXPECT_EQ(type(" "), kind::look);
  EXPECT_EQ(type("x"), kind::nothing);
  EXPECT_EQ(press(key::kind::other), kind::nothing);
}

TEST_F(top_on_screen, selection_follows_the_name) {
  look({.held = {lock("b"), lock("c"), lock("d")}});
  EXPECT_EQ(selected(), "b");
  type("j");
  EXPECT_EQ(selected(), "c");
  look({.held = {lock("a"), lock("b"), lock("c"), lock("d")}});
  EXPECT_EQ(selected(), "c");
  look({.held = {lock("a"), lock("b"), lock("d")}});
  EXPECT_EQ(selected(), "d") << "the one in its place";
  look({});
  EXPECT_EQ(selected(), "");
  type("jkf");
  press(key::kind::last);
  look({.held = {lock("a")}});
  EXPECT_EQ(selected(), "a");
}

TEST_F(top_on_screen, sorts_by_what_is_typed) {
  auto oldest = lock("c");
  oldest.held_for = 3min;
  oldest.expires_in = 10min;
  auto youngest = lock("b");
  youngest.held_for = 1min;
  youngest.expires_in = 30min;
  auto waited_for = lock("job");
  waited_for.held_for = 2min;
  waited_for.expires_in = 1h;
  look({.held = {youngest, oldest, waited_for}, .queue = {{.name = "job", .ticket = 1}}});
  EXPECT_THAT(names(), ElementsAre("b", "c", "job"));
  type("a");
  EXPECT_THAT(names(), ElementsAre("c", "job", "b")) << "the oldest first";
  type("l");
  EXPECT_THAT(names(), ElementsAre("c", "b", "job")) << "the one that ends first";
  type("l");
  EXPECT_THAT(names(), ElementsAre("job", "b", "c")) << "the other way round";
  type("w");
  EXPECT_THAT(names(), ElementsAre("job", "b", "c"));
  type("n");
  EXPECT_THAT(names(), ElementsAre("b", "c", "job"));
  EXPECT_THAT(screen(), HasSubstr("[n name]"));
}

TEST_F(top_on_screen, moves_within_the_list) {
  look({.held = {lock("a"), lock("b"), lock("c")}});
  press(key::kind::up);
  EXPECT_EQ(selected(), "a");
  press(key::kind::page_down);
  EXPECT_EQ(selected(), "c");
  press(key::kind::down);
  EXPECT_EQ(selected(), "c");
  press(key::kind::first);
  EXPECT_EQ(selected(), "a");
  press(key::kind::last);
  EXPECT_EQ(selected(), "c");
}

TEST_F(top_on_screen, frees_as_shown_when_it_was_asked) {
  look({.held = {lock("a", 7)}});
  EXPECT_EQ(type("f"), kind::nothing);
  EXPECT_THAT(screen(), HasSubstr("Free \"a\"? It is held by shop:host:1:abc for 1m30s, token 7."));
  look({.held = {lock("a", 8)}});
  const auto wanted = shown_.press({key::kind::character, L'y'});
  EXPECT_EQ(wanted.what, kind::free);
  EXPECT_EQ(wanted.shown.value().token, fencing_token{7});
  EXPECT_THAT(screen(), Not(HasSubstr("Free ")));
}

TEST_F(top_on_screen, frees_nothing_where_the_answer_is_another_key) {
  look({.held = {lock("a")}});
  for (const auto& each : {key{key::kind::character, L'n'}, key{key::kind::character, L'q'}, key{key::kind::enter},
                           key{key::kind::escape}, key{key::kind::other}}) {
    type("f");
    EXPECT_EQ(shown_.press(each).what, kind::nothing);
    EXPECT_THAT(screen(), HasSubstr("\"a\" was not freed"));
  }
}

TEST_F(top_on_screen, frees_nothing_that_nobody_holds) {
  look({.queue = {{.name = "a", .ticket = 1}}});
  type("f");
  EXPECT_THAT(screen(), HasSubstr("\"a\" is not held"));
  EXPECT_EQ(type("y"), kind::nothing);
}

TEST_F(top_on_screen, filters_while_it_is_typed) {
  look({.held = {lock("orders/1"), lock("the-quick")}});
  EXPECT_EQ(type("/q"), kind::nothing) << "a letter like any other";
  EXPECT_THAT(screen(), AllOf(HasSubstr("Filter: q_"), HasSubstr("\nthe-quick"), Not(HasSubstr("\norders"))))
      << "anywhere";
  EXPECT_EQ(selected(), "the-quick");
  press(key::kind::backspace);
  type("^ord");
  EXPECT_THAT(screen(), AllOf(HasSubstr("\norders/1"), Not(HasSubstr("\nthe-quick"))));
  press(key::kind::enter);
  EXPECT_THAT(screen(), HasSubstr("Filter: ^ord "));
  press(key::kind::escape);
  EXPECT_THAT(screen(), AllOf(Not(HasSubstr("Filter")), HasSubstr("\norders"), HasSubstr("\nthe-quick")));
}

TEST_F(top_on_screen, says_how_long_a_quarantine_lasts) {
  look({.quarantine = 42s});
  EXPECT_THAT(screen(), HasSubstr("A quarantine is on: nothing is granted for 42s"));
  look({});
  EXPECT_THAT(screen(), Not(HasSubstr("quarantine")));
}

TEST_F(top_on_screen, tells_of_failures_until_a_look_succeeds) {
  look({.held = {lock("a")}});
  shown_.show_failure("the database is away");
  type("j");
  EXPECT_THAT(screen(), AllOf(HasSubstr("Trying again: the database is away"), HasSubstr("\na ")));
  look({.held = {lock("a")}});
  EXPECT_THAT(screen(), Not(HasSubstr("away")));
}

TEST_F(top_on_screen, tells_messages_until_the_next_key) {
  look({});
  shown_.show_message("freed \"a\"");
  look({});
  EXPECT_THAT(screen(), HasSubstr("freed \"a\""));
  type("x");
  EXPECT_THAT(screen(), Not(HasSubstr("freed")));
}

TEST_F(top_on_screen, shows_all_of_a_long_question) {
  auto long_one = lock(std::string(200, 'n'));
  long_one.note = "the-end";
  look({.held = {long_one}});
  type("f");
  auto all = screen({80, 24});
  EXPECT_THAT(all, HasSubstr("[y/N]"));
  EXPECT_THAT(all, HasSubstr("(the-end)"));
}

TEST_F(top_on_screen, says_where_a_holder_has_no_name) {
  auto transaction = lock("a", 0);
  transaction.owner.clear();
  transaction.held_by_transaction = true;
  look({.held = {transaction}});
  EXPECT_THAT(screen(), HasSubstr("a transaction"));
  type("f");
  EXPECT_THAT(screen({200, 24}), HasSubstr("an unknown token: a later holder would lose it too"));
}

TEST_F(top_on_screen, leaves_columns_out_in_the_order_of_the_manual) {
  auto noted = lock("a");
  noted.note = "by hand";
  look({.held = {noted}});
  const std::pair<std::size_t, const char*> narrower[] = {{120, "NAME TOKEN HELD LEASE WAIT LONGEST HOLDER NOTE"},
                                                          {80, "NAME HELD LEASE WAIT LONGEST HOLDER NOTE"},
                                                          {70, "NAME HELD LEASE WAIT HOLDER NOTE"},
                                                          {60, "NAME HELD LEASE WAIT HOLDER"},
                                                          {50, "NAME HELD WAIT HOLDER"},
                                                          {41, "NAME HELD HOLDER"},
                                                          {33, "NAME HOLDER"},
                                                          {20, "NAME"}};
  for (const auto& [columns, titles] : narrower) {
    auto heading = ::rowlock::command::to_utf8(shown_.lines({columns, 24})[1].text);
    heading.erase(std::unique(heading.begin(), heading.end(), [](char a, char b) { return a == ' ' && b == ' '; }),
                  heading.end());
    EXPECT_EQ(heading.substr(0, heading.find_last_not_of(' ') + 1), titles) << columns;
  }
  EXPECT_THAT(screen(), HasSubstr("by hand"));
}

std::vector<std::string> names_of(const std::vector<top_row>& rows) {
  std::vector<std::string> out;
  for (const auto& each : rows) out.push_back(each.name);
  return out;
}

lock_info lock(const std::string& name, std::optional<duration> held_for, std::optional<duration> expires_in) {
  return {.name = name, .held_for = held_for, .expires_in = expires_in};
}

TEST(top_rows, are_names_that_are_held_or_waited_for) {
  const auto rows = rows_of({.held = {lock("b", 1s, 1s), lock("c", 1s, 1s)},
                             .queue = {{.name = "a", .ticket = 1, .age = 5s},
                                       {.name = "b", .ticket = 2, .age = 2s},
                                       {.name = "b", .ticket = 3, .age = 9s}}});
  EXPECT_THAT(names_of(rows), ElementsAre("a", "b", "c"));
  EXPECT_FALSE(rows[0].holder.has_value());
  EXPECT_EQ(rows[0].waiting, 1U);
  EXPECT_EQ(rows[1].waiting, 2U);
  EXPECT_EQ(rows[1].longest_wait, 9s);
  EXPECT_FALSE(rows[2].longest_wait.has_value());
}

TEST(top_rows, are_sorted_with_the_unknown_last) {
  const auto rows =
      rows_of({.held = {lock("a", 5s, std::nullopt), lock("b", std::nullopt, 9s), lock("c", 7s, 3s),
                        lock("d", 5s, duration::min())},
               .queue = {{.name = "d", .ticket = 1}, {.name = "e", .ticket = 2}, {.name = "e", .ticket = 3}}});
  const auto sorted = [&](top_order by, bool is_reversed = false) {
    auto some = rows;
    sort_rows(some, by, is_reversed);
    return names_of(some);
  };
  EXPECT_THAT(sorted(top_order::name), ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_THAT(sorted(top_order::age), ElementsAre("c", "a", "d", "b", "e"));
  EXPECT_THAT(sorted(top_order::lease), ElementsAre("d", "c", "b", "a", "e"));
  EXPECT_THAT(sorted(top_order::queue), ElementsAre("e", "d", "a", "b", "c"));
  EXPECT_THAT(sorted(top_order::queue, true), ElementsAre("c", "b", "a", "d", "e"));
}

TEST(top_rows, match_a_text_or_a_beginning_as_printed) {
  const top_row row{.name = "my\norders/1"};
  for (const auto* filter : {"", "orders", "my", "^my", "^", "\\n"}) EXPECT_TRUE(matches(row, filter)) << filter;
  for (const auto* filter : {"Orders", "^orders", "\n", "^my orders"}) EXPECT_FALSE(matches(row, filter)) << filter;
}

TEST(top_cells, are_cut_to_columns) {
  EXPECT_EQ(::rowlock::command::fitted(L"abc", 5), L"abc  ");
  EXPECT_EQ(::rowlock::command::fitted_right(L"abc", 5), L"  abc");
  EXPECT_EQ(::rowlock::command::fitted(L"abcdef", 5), L"abcd+");
  EXPECT_EQ(::rowlock::command::fitted(L"abc", 0), L"");
  EXPECT_EQ(::rowlock::command::to_cells("caf\xc3\xa9 \xf0\x9f\x94\x92"), L"caf? ?") << "in the locale C";
  EXPECT_EQ(::rowlock::command::to_utf8(L"caf\u00e9 \U0001f512"), "caf\xc3\xa9 \xf0\x9f\x94\x92");
}

}  // namespace
}  // namespace rowlock::test
