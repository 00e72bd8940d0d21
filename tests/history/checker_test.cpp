#include "history/checker.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "testkit/temp_folder.hpp"

namespace rowlock::test {
namespace {

constexpr std::int64_t tolerance = 5;

/// What the judge says first; empty: nothing.
std::string first_violation(const history& all, const name_rules& rules = {}) {
  const auto out = judge(
      all, [&](std::string_view /*name*/) { return rules; }, tolerance);
  return out.violations.empty() ? "" : out.violations.front();
}

belief alone(std::int64_t token, std::int64_t begin, std::int64_t end, std::string name = "a") {
  return {.name = std::move(name), .permits = 0, .token = token, .begin = begin, .end = end};
}
belief sharing(std::int64_t token, std::int64_t begin, std::int64_t end, std::int64_t permits = 1) {
  return {.name = "a", .permits = permits, .token = token, .begin = begin, .end = end};
}

TEST(history_checker, has_nothing_against_good_histories) {
  EXPECT_EQ(first_violation({}), "");
  EXPECT_EQ(first_violation({.beliefs = {alone(1, 0, 10), alone(2, 10, 20), alone(1, 0, 30, "b")}}), "");
  EXPECT_EQ(first_violation({.beliefs = {sharing(2, 0, 10), sharing(1, 1, 12), alone(3, 12, 13), sharing(4, 13, 14)}}),
            "");
  EXPECT_EQ(first_violation({.beliefs = {sharing(1, 0, 10, 2), sharing(2, 5, 9), sharing(3, 9, 12)}}, {.permits = 3}),
            "");
  EXPECT_EQ(
      first_violation({.confirmed = {{"a", 1, 7}}, .fenced = {{"a", 1, 7}, {"b", 9, 8}, {"a", 1, 9}, {"a", 2, 10}}}),
      "");
  EXPECT_EQ(first_violation({.waits = {{100, 105}}}), "");
}

TEST(history_checker, rejects_bad_histories) {
  const std::vector<std::pair<history, name_rules>> bad{
      {{.beliefs = {alone(1, 0, 10), alone(2, 9, 20)}}, {}},
      {{.beliefs = {alone(1, 0, 100), alone(2, 10, 20), alone(3, 50, 60)}}, {}},
      {{.beliefs = {sharing(1, 0, 10), alone(2, 9, 20)}}, {}},
      {{.beliefs = {alone(1, 0, 10), sharing(2, 9, 20)}}, {}},
      {{.beliefs = {sharing(1, 0, 30), sharing(2, 1, 3), alone(3, 29, 40)}}, {}},
      {{.beliefs = {sharing(1, 0, 10, 2), sharing(2, 1, 10, 2)}}, {.permits = 3}},
      {{.beliefs = {sharing(1, 0, 10), sharing(2, 1, 10), sharing(3, 2, 10), sharing(4, 9, 10)}}, {.permits = 3}},
      {{.beliefs = {alone(7, 0, 10), alone(7, 11, 12)}}, {}},
      {{.beliefs = {sharing(7, 0, 10), sharing(7, 1, 12)}}, {.excludes = false}},
      {{.beliefs = {alone(9, 0, 10), alone(8, 11, 12)}}, {}},
      {{.beliefs = {alone(9, 0, 10), sharing(8, 11, 12)}}, {}},
      {{.beliefs = {sharing(9, 0, 10), alone(8, 11, 12)}}, {}},
      {{.fenced = {{"a", 2, 1}, {"a", 1, 2}}}, {}},
      {{.fenced = {{"a", 1, 1}, {"a", 2, 1}}}, {}},
      {{.confirmed = {{"a", 1, 3}}, .fenced = {{"a", 1, 1}, {"a", 2, 2}}}, {}},
      {{.waits = {{100, 106}}}, {}},
  };
  for (std::size_t i = 0; i < bad.size(); ++i) EXPECT_NE(first_violation(bad[i].first, bad[i].second), "") << i;
}

TEST(history_checker, leaves_overlaps_alone_where_locks_are_freed_by_force) {
  EXPECT_EQ(first_violation({.beliefs = {alone(1, 0, 10), alone(2, 5, 20)}}, {.excludes = false}), "");
}

TEST(history_checker, counts_what_fencing_would_have_kept_out) {
  const history all{.unfenced = {{"a", 2, 1}, {"a", 1, 2}, {"b", 1, 3}, {"a", 2, 4}, {"a", 1, 5}}};
  EXPECT_EQ(judge(
                all, [](std::string_view /*name*/) { return name_rules{}; }, tolerance)
                .unfenced_overlaps,
            2);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in{text};
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

TEST(history_checker, tells_the_records_of_the_name_around_a_violation) {
  history all{.beliefs = {alone(4, 30, 40), alone(2, 10, 25), alone(1, 0, 10), alone(7, 12, 14, "b"), alone(3, 20, 30)},
              .confirmed = {{"a", 3, 101}},
              .fenced = {{"b", 7, 100}, {"a", 3, 101}}};
  all.beliefs[1].by = "player 6";
  EXPECT_EQ(lines_of(first_violation(all)),
            (std::vector<std::string>{
                "two believed at once: a with token 2 alone from 10 to 25, and a with token 3 alone from 20 to 30",
                "records 0 to 4 of 4 of this name:", "  a with token 1 alone from 0 to 10 by ",
                "  a with token 2 alone from 10 to 25 by player 6",
                "> a with token 3 alone from 20 to 30 by ; confirmed 101 at 0; fenced 101 at 1",
                "  a with token 4 alone from 30 to 40 by "}));
  EXPECT_EQ(lines_of(first_violation({.beliefs = {alone(1, 0, 10)}, .confirmed = {{"a", 1, 3}}})).size(), 3U);
  EXPECT_EQ(lines_of(first_violation({.beliefs = {alone(1, 0, 10)}, .waits = {{100, 106}}})).size(), 1U)
      << "of no name";
}

TEST(history_checker, tells_no_more_than_can_be_read) {
  history all;
  for (std::int64_t i = 1; i <= 1000; ++i) {
    all.beliefs.push_back(alone(i, 10 * i, 10 * i + 15));
    for (int n = 0; n < 50; ++n) all.unfenced.push_back({"a", i, 50 * i + n});
  }
  const auto out = judge(
      all, [](std::string_view /*name*/) { return name_rules{}; }, tolerance);
  ASSERT_EQ(out.violations.size(), 999U);
  std::size_t size = 0;
  for (std::size_t i = 0; i < 999; ++i) {
    EXPECT_EQ(lines_of(out.violations[i]).size() > 1, i < 5) << i;
    if (i < 5) size += out.violations[i].size();
  }
  EXPECT_LT(size, 25'000U);
}

TEST(history_record, is_read_as_far_as_it_was_written) {
  const temp_folder folder;
  {
    record one{folder / "one"};
    const auto number = one.begins({.name = "a", .permits = 2, .token = 7, .begin = 100, .end = 0});
    one.confirmed({.name = "a", .token = 7, .number = 9});
    one.ends(number, 150);
    one.waited({.limit = 10, .took = 12});
    record other{folder / "other"};
    other.begins({.name = "b", .permits = 0, .token = 8, .begin = 200, .end = 0});
    std::ofstream{folder / "other", std::ios::app} << "E 1 25";  // it was killed here
  }
  const auto all = read_records(folder.path());
  ASSERT_EQ(all.beliefs.size(), 2U);
  for (const auto& each : all.beliefs) EXPECT_EQ(each.end, each.name == "a" ? 150 : 200);
  ASSERT_EQ(all.confirmed.size(), 1U);
  EXPECT_EQ(all.confirmed[0].number, 9);
  EXPECT_EQ(all.waits.size(), 1U);
  const auto writes = read_writes("a 7 9;b 8 10");
  ASSERT_EQ(writes.size(), 2U);
  EXPECT_EQ(writes[1].name, "b");
  EXPECT_EQ(writes[1].number, 10);
}

}  // namespace
}  // namespace rowlock::test
