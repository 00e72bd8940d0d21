// What the report keeps of a run that is too long to be kept as a whole.

#include "timeline.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "recorder.hpp"

namespace flash_sale {
namespace {

purchase buy_at(std::int64_t time, std::int64_t order) {
  return {.asked = time - 3, .granted = time - 2, .ordered = time - 1, .released = time, .order = order};
}

std::vector<std::int64_t> orders_of(const std::vector<purchase>& lane) {
  std::vector<std::int64_t> orders;
  for (const auto& each : lane) orders.push_back(each.order);
  return orders;
}

void record(recorder& into, std::int64_t order) {
  into.ask();
  into.grant();
  into.release();
  into.bought(order);
}

TEST(recorder, keeps_the_latest_purchases_in_their_order) {
  recorder some{3};
  for (std::int64_t order = 1; order <= 5; ++order) record(some, order);
  EXPECT_EQ(orders_of(some.latest()), (std::vector<std::int64_t>{3, 4, 5}));
}

TEST(recorder, keeps_all_purchases_where_they_fit) {
  recorder some{3};
  for (std::int64_t order = 1; order <= 3; ++order) record(some, order);
  EXPECT_EQ(orders_of(some.latest()), (std::vector<std::int64_t>{1, 2, 3}));
}

TEST(recorder, without_capacity_keeps_nothing) {
  recorder off{0};
  record(off, 1);
  EXPECT_TRUE(off.latest().empty());
}

TEST(recorder, counts_a_repeated_attempt_by_itself) {
  recorder some{3};
  some.ask();
  some.grant();
  some.retry();
  some.grant();
  some.order();
  some.release();
  const auto kept = some.latest();
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_TRUE(kept[0].conflicted);
  EXPECT_FALSE(kept[1].conflicted);
  EXPECT_EQ(kept[1].asked, kept[0].released);
}

TEST(timeline, is_whole_where_no_thread_forgot_anything) {
  const auto all = make_timeline({{buy_at(10, 1)}, {buy_at(20, 2), buy_at(30, 3)}}, 3, 5, 3);
  EXPECT_TRUE(all.is_whole());
  EXPECT_EQ(all.orders(), 3U);
  EXPECT_EQ(all.oversold(), 1U);
  EXPECT_EQ(all.ended, 30);
  EXPECT_EQ(all.sold_out, buy_at(20, 2).ordered);
}

TEST(timeline, begins_where_the_most_forgetful_thread_still_knows_everything) {
  const auto part = make_timeline({{buy_at(10, 1), buy_at(40, 4)}, {buy_at(20, 2), buy_at(30, 3)}}, 2, 5, 0);
  EXPECT_FALSE(part.is_whole());
  EXPECT_EQ(part.shown_from, 20);
  EXPECT_EQ(orders_of(part.lanes[0]), (std::vector<std::int64_t>{4}));
  EXPECT_EQ(orders_of(part.lanes[1]), (std::vector<std::int64_t>{2, 3}));
}

TEST(timeline, has_no_more_than_fits_on_the_page) {
  constexpr std::int64_t many = 10'000;
  std::vector<purchase> lane;
  for (std::int64_t at = 1; at <= many; ++at) lane.push_back(buy_at(10 * at, at));
  const auto part = make_timeline({lane}, lane.size() + 1, 0, many / 2);
  EXPECT_EQ(part.orders(), 7000U);
  EXPECT_EQ(part.oversold(), static_cast<std::size_t>(many / 2 + 1));
  EXPECT_EQ(part.lanes[0].front().order, many - 7000 + 1);
}

TEST(timeline, without_the_last_unit_does_not_say_when_it_was_sold) {
  EXPECT_EQ(make_timeline({{buy_at(10, 11), buy_at(20, 12)}}, 2, 5, 10).sold_out, 0);
}

}  // namespace
}  // namespace flash_sale
