#include "command/top_rows.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

// What several looks tell together: no database, no terminal.

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;
using ::rowlock::command::grant_rate;
using ::rowlock::command::overview;
using ::rowlock::command::top_history;
using ::rowlock::command::top_order;
using ::rowlock::command::top_row;
using testing::ElementsAre;
using testing::IsEmpty;

lock_info lock(const std::string& name, std::int64_t token, std::optional<duration> held_for = 1s,
               std::optional<duration> expires_in = 30s) {
  return {.name = name,
          .token = fencing_token{token},
          .owner = "shop:host:1:abc",
          .held_for = held_for,
          .expires_in = expires_in};
}
waiter_info waiter(const std::string& name, std::int64_t ticket, duration age = 1s) {
  return {.name = name, .ticket = ticket, .owner = "shop:host:2:abd", .thread = "1", .age = age};
}

class top_rows : public testing::Test {
 protected:
  /// A second after the last look.
  void look(const overview& seen) { history_.add(seen, now_ += 1s); }
  void look(int times, const overview& seen) {
    for (int i = 0; i < times; ++i) look(seen);
  }
  const top_row& row(std::size_t i) const { return history_.rows().at(i); }

  top_history history_;
  top_history::clock::time_point now_{};
};

std::vector<std::string> names_of(const std::vector<top_row>& rows) {
  std::vector<std::string> out;
  for (const auto& each : rows) out.push_back(each.name);
  return out;
}

TEST_F(top_rows, are_names_that_are_held_or_waited_for) {
  look({.held = {lock("b", 1), lock("c", 1)}, .queue = {waiter("a", 1, 5s), waiter("b", 2, 2s), waiter("b", 3, 9s)}});
  EXPECT_THAT(names_of(history_.rows()), ElementsAre("a", "b", "c"));
  EXPECT_FALSE(row(0).holder.has_value());
  EXPECT_EQ(row(0).waiting, 1U);
  EXPECT_EQ(row(1).waiting, 2U);
  EXPECT_EQ(row(1).longest_wait, 9s);
  EXPECT_FALSE(row(2).longest_wait.has_value());
  look({});
  EXPECT_THAT(names_of(history_.rows()), IsEmpty());
}

TEST_F(top_rows, have_no_rate_after_one_look) {
  look({.held = {lock("a", 1)}});
  EXPECT_EQ(row(0).grants, std::nullopt);
  EXPECT_EQ(history_.grants(), std::nullopt);
}

TEST_F(top_rows, count_a_token_that_has_changed_as_one_grant) {
  look({.held = {lock("a", 100)}});
  look({.held = {lock("a", 100)}});
  EXPECT_EQ(row(0).grants, (grant_rate{0, false}));
  look({.held = {lock("a", 5'000'000)}});
  look({.held = {lock("a", 5'000'000)}});
  look({.held = {lock("a", 5'000'000)}});
  EXPECT_EQ(row(0).grants, (grant_rate{0.25, false})) << "however much it has grown: it is no count";
}

TEST_F(top_rows, say_that_there_may_have_been_more_grants_than_looks) {
  for (int token = 1; token <= 4; ++token) look({.held = {lock("a", token), lock("b", 1)}});
  EXPECT_EQ(row(0).grants, (grant_rate{1, true}));
  EXPECT_EQ(row(1).grants, (grant_rate{0, false}));
  EXPECT_EQ(history_.grants(), (grant_rate{1, true}));
  look({.held = {lock("a", 4), lock("b", 1)}});
  EXPECT_EQ(row(0).grants, (grant_rate{0.75, false}));
}

TEST_F(top_rows, count_a_name_that_has_come_since_the_last_look) {
  look({.held = {lock("b", 1)}});
  look({.held = {lock("a", 1), lock("b", 1)}});
  EXPECT_EQ(row(0).grants, (grant_rate{1, true}));
  EXPECT_EQ(history_.grants(), (grant_rate{1, true}));
}

TEST_F(top_rows, remember_a_name_that_is_not_held_for_a_while) {
  look({.held = {lock("a", 7)}});
  look(3, {});
  look({.held = {lock("a", 7)}});
  EXPECT_EQ(row(0).grants, (grant_rate{0, false})) << "the same holder";
  look({});
  look({.held = {lock("a", 8)}});
  EXPECT_EQ(row(0).grants->per_second * 6, 1);
}

TEST_F(top_rows, forget_what_is_more_than_ten_looks_ago) {
  look({.held = {lock("a", 1)}});
  look({.held = {lock("a", 2)}});
  look(9, {.held = {lock("a", 2)}});
  EXPECT_EQ(row(0).grants, (grant_rate{0.1, false}));
  look({.held = {lock("a", 2)}});
  EXPECT_EQ(row(0).grants, (grant_rate{0, false}));
  EXPECT_EQ(history_.grants(), (grant_rate{0, false}));
}

TEST_F(top_rows, know_no_rate_of_a_transaction_without_a_token) {
  look(3, {.held = {lock("a", 0)}});
  EXPECT_EQ(row(0).grants, std::nullopt);
}

TEST_F(top_rows, have_the_lengths_of_the_queue_at_the_last_looks) {
  look({.queue = {waiter("a", 1), waiter("a", 2)}});
  look({});
  look({});
  look({.queue = {waiter("a", 3)}});
  EXPECT_THAT(row(0).lengths, ElementsAre(2, 0, 0, 1));
  look(20, {.queue = {waiter("a", 3)}});
  EXPECT_EQ(row(0).lengths, std::vector<std::size_t>(top_history::depth, 1));
}

TEST_F(top_rows, are_sorted_with_the_unknown_last) {
  look({.held = {lock("a", 1, 5s, std::nullopt), lock("b", 1, std::nullopt, 9s), lock("c", 1, 7s, 3s),
                 lock("d", 1, 5s, 3s)},
        .queue = {waiter("d", 1), waiter("e", 2), waiter("e", 3)}});
  const auto sorted = [&](top_order by, bool is_reversed = false) {
    auto rows = history_.rows();
    sort_rows(rows, by, is_reversed);
    return names_of(rows);
  };
  EXPECT_THAT(sorted(top_order::name), ElementsAre("a", "b", "c", "d", "e"));
  EXPECT_THAT(sorted(top_order::age), ElementsAre("c", "a", "d", "b", "e"));
  EXPECT_THAT(sorted(top_order::lease), ElementsAre("c", "d", "b", "a", "e"));
  EXPECT_THAT(sorted(top_order::queue), ElementsAre("e", "d", "a", "b", "c"));
  EXPECT_THAT(sorted(top_order::queue, true), ElementsAre("c", "b", "a", "d", "e"));
  EXPECT_THAT(sorted(top_order::rate), ElementsAre("a", "b", "c", "d", "e"));
}

TEST_F(top_rows, match_a_text_or_a_beginning_as_printed) {
  const top_row row{.name = "my\norders/1"};
  for (const auto* filter : {"", "orders", "my", "^my", "^", "\\n"}) EXPECT_TRUE(matches(row, filter)) << filter;
  for (const auto* filter : {"Orders", "^orders", "\n", "^my orders"}) EXPECT_FALSE(matches(row, filter)) << filter;
}

}  // namespace
}  // namespace rowlock::test
