#include "runtime/waiting_line.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "core/wait.hpp"
#include "driver/boot_clock.hpp"

namespace rowlock {
namespace {

using namespace std::chrono_literals;
using core::instant;
using outcome = runtime::waiting_line::outcome;
using place = runtime::waiting_line::place;

constexpr instant never = instant::max();
constexpr instant at_once = instant::min();

bool is_hinted(place& p) { return p.wait(at_once, {}) == outcome::hinted; }

std::vector<std::int64_t> numbers_of(const std::vector<runtime::queue_ticket>& some) {
  std::vector<std::int64_t> out;
  for (const auto& t : some) out.push_back(t.number);
  return out;
}

TEST(waiting_line, the_first_is_hinted_and_the_second_is_not) {
  runtime::waiting_line line;
  EXPECT_TRUE(line.is_empty("a"));
  place first{line, "a"};
  place second{line, "a"};
  EXPECT_FALSE(line.is_empty("a"));
  EXPECT_EQ(first.wait(never, {}), outcome::hinted);
  EXPECT_EQ(second.wait(at_once, {}), outcome::out_of_time);
}

TEST(waiting_line, a_hint_between_try_and_sleep_is_kept) {
  runtime::waiting_line line;
  place one{line, "a"};
  one.listen();
  line.hint("a");
  EXPECT_EQ(one.wait(never, {}), outcome::hinted);
  one.listen();
  EXPECT_EQ(one.wait(at_once, {}), outcome::out_of_time);
}

TEST(waiting_line, a_hint_is_for_the_head_of_its_own_queue_only) {
  runtime::waiting_line line;
  place a{line, "a"};
  place behind{line, "a"};
  place b{line, "b"};
  a.listen();
  b.listen();
  line.hint("a");
  EXPECT_EQ(a.wait(at_once, {}), outcome::hinted);
  EXPECT_EQ(behind.wait(at_once, {}), outcome::out_of_time);
  EXPECT_EQ(b.wait(at_once, {}), outcome::out_of_time);
  line.hint_all();
  EXPECT_EQ(b.wait(at_once, {}), outcome::hinted);
}

TEST(waiting_line, whoever_sleeps_past_the_end_of_a_lease_is_hinted) {
  runtime::waiting_line line;
  place one{line, "a"};
  one.take("1", 7);
  one.listen();
  auto woken = std::async(std::launch::async, [&] { return one.wait(never, {}); });
  while (woken.wait_for(1ms) != std::future_status::ready) {  // it may not sleep yet
    line.hint_late({.name = "a", .attempt = "1", .number = 8}, 1h);
    line.hint_late({.name = "a", .attempt = "1", .number = 7}, std::nullopt);
    line.hint_late({.name = "a", .attempt = "1", .number = 7}, 1h);
  }
  EXPECT_EQ(woken.get(), outcome::hinted);
}

TEST(waiting_line, whoever_wakes_in_time_for_the_end_of_a_lease_is_not_hinted) {
  runtime::waiting_line line;
  place one{line, "a"};
  one.take("1", 7);
  one.listen();
  EXPECT_EQ(one.wait(driver::now(), {}), outcome::out_of_time);
  line.hint_late({.name = "a", .attempt = "1", .number = 7}, 0s);
  EXPECT_FALSE(is_hinted(one));
}

TEST(waiting_line, a_head_that_leaves_hints_the_next) {
  runtime::waiting_line line;
  auto first = std::make_unique<place>(line, "a");
  place second{line, "a"};
  place third{line, "a"};
  first.reset();
  EXPECT_EQ(second.wait(never, {}), outcome::hinted);
  EXPECT_EQ(third.wait(at_once, {}), outcome::out_of_time);
}

TEST(waiting_line, one_that_leaves_from_the_middle_hints_nobody) {
  runtime::waiting_line line;
  place first{line, "a"};
  auto second = std::make_unique<place>(line, "a");
  place third{line, "a"};
  second.reset();
  EXPECT_EQ(third.wait(at_once, {}), outcome::out_of_time);
}

TEST(waiting_line, stop_and_close_end_waits_at_any_place) {
  runtime::waiting_line line;
  place first{line, "a"};
  place second{line, "a"};
  std::stop_source stop;
  std::jthread stopper{[&] { stop.request_stop(); }};
  EXPECT_EQ(second.wait(never, stop.get_token()), outcome::stopped);
  std::jthread closer{[&] { line.close(); }};
  EXPECT_EQ(second.wait(never, {}), outcome::closed);
  EXPECT_EQ(first.wait(never, {}), outcome::closed);
}

TEST(waiting_line, tells_whether_anybody_was_there_to_hint) {
  runtime::waiting_line line;
  EXPECT_FALSE(line.hint("a"));
  place one{line, "a"};
  EXPECT_TRUE(line.hint("a"));
  EXPECT_FALSE(line.hint("b"));
}

TEST(waiting_line, a_hint_for_everybody_reaches_every_place_of_the_name) {
  runtime::waiting_line line;
  place first{line, "a"};
  place second{line, "a"};
  place other{line, "b"};
  other.listen();
  line.hint_everybody("a");
  EXPECT_TRUE(is_hinted(first));
  EXPECT_TRUE(is_hinted(second));
  EXPECT_FALSE(is_hinted(other));
}

TEST(waiting_line, what_is_closed_lets_nobody_wait) {
  runtime::waiting_line line;
  line.close();
  place late{line, "a"};
  EXPECT_EQ(late.wait(never, {}), outcome::closed);
}

// --- with tickets ----------------------------------------------------------------------------------------------------

TEST(waiting_line, stands_in_the_order_of_tickets_whatever_the_order_of_arrival) {
  runtime::waiting_line line;
  std::optional<place> a{std::in_place, line, "a"};
  std::optional<place> b{std::in_place, line, "a"};
  std::optional<place> c{std::in_place, line, "a"};
  c->take("c", 5);
  EXPECT_TRUE(c->is_first()) << "whoever has none stands behind";
  a->take("a", 7);
  b->take("b", 6);
  EXPECT_TRUE(c->is_first());
  EXPECT_EQ(numbers_of(line.tickets()), (std::vector<std::int64_t>{5, 6, 7}));
  c.reset();
  EXPECT_TRUE(b->is_first());
  b.reset();
  EXPECT_TRUE(a->is_first());
}

TEST(waiting_line, one_that_passes_the_first_becomes_the_first_and_is_hinted) {
  runtime::waiting_line line;
  place first{line, "a"};
  place second{line, "a"};
  first.take("1", 8);
  first.listen();
  second.take("2", 3);
  EXPECT_FALSE(first.is_first());
  EXPECT_FALSE(is_hinted(first));
  EXPECT_TRUE(second.is_first());
  EXPECT_TRUE(is_hinted(second));
}

TEST(waiting_line, one_that_steps_back_hints_whoever_comes_first_then) {
  runtime::waiting_line line;
  place first{line, "a"};
  place second{line, "a"};
  second.take("2", 4);
  second.listen();
  place third{line, "a"};
  ASSERT_TRUE(second.is_first());
  second.take("2 again", 9);  // it had lost the other
  EXPECT_TRUE(second.is_first()) << "the others have none";
  second.listen();
  first.take("1", 8);
  EXPECT_TRUE(is_hinted(first));
  first.listen();
  first.take("1 again", 10);
  EXPECT_TRUE(second.is_first());
  EXPECT_TRUE(is_hinted(second));
}

TEST(waiting_line, the_first_is_hinted_when_its_ticket_is_committed) {
  runtime::waiting_line line;
  place one{line, "a"};
  one.listen();
  one.take("1", 4);
  EXPECT_TRUE(is_hinted(one)) << "it is to try once more before it sleeps";
}

TEST(waiting_line, one_that_joins_behind_hints_nobody) {
  runtime::waiting_line line;
  place first{line, "a"};
  first.take("1", 4);
  first.listen();
  place second{line, "a"};
  second.take("2", 5);
  EXPECT_FALSE(is_hinted(first));
  EXPECT_FALSE(is_hinted(second));
}

TEST(waiting_line, tells_its_ticket_until_that_is_given_up) {
  runtime::waiting_line line;
  place one{line, "a"};
  EXPECT_EQ(one.ticket().number, 0);
  one.take("attempt", 4);
  EXPECT_EQ(one.ticket().name, "a");
  EXPECT_EQ(one.ticket().attempt, "attempt");
  EXPECT_EQ(one.ticket().number, 4);
  one.give_up_ticket();
  EXPECT_EQ(one.ticket().number, 0);
  EXPECT_TRUE(line.tickets().empty()) << "there is nothing to keep alive";
}

TEST(waiting_line, whose_ticket_is_gone_wakes_at_any_place) {
  runtime::waiting_line line;
  place first{line, "a"};
  place second{line, "a"};
  first.take("1", 4);
  second.take("2", 5);
  first.listen();
  line.displace(second.ticket());
  EXPECT_TRUE(is_hinted(second));
  EXPECT_EQ(second.ticket().number, 0);
  EXPECT_FALSE(is_hinted(first));
  EXPECT_EQ(numbers_of(line.tickets()), std::vector<std::int64_t>{4});
}

TEST(waiting_line, what_was_displaced_and_replaced_meanwhile_stays) {
  runtime::waiting_line line;
  place one{line, "a"};
  one.take("1", 4);
  const auto gone = one.ticket();
  one.take("2", 6);
  one.listen();
  line.displace(gone);
  line.displace({.name = "a", .attempt = "another", .number = 6});
  line.displace({.name = "b", .attempt = "2", .number = 6});
  EXPECT_FALSE(is_hinted(one));
  EXPECT_EQ(one.ticket().number, 6);
}

TEST(waiting_line, a_displaced_first_goes_to_the_end_at_once) {
  runtime::waiting_line line;
  place first{line, "a"};
  place second{line, "a"};
  first.take("1", 4);
  second.take("2", 5);
  line.displace(first.ticket());
  EXPECT_TRUE(second.is_first());
  EXPECT_TRUE(is_hinted(second));
  first.take("1 again", 6);
  EXPECT_TRUE(second.is_first());
  EXPECT_EQ(numbers_of(line.tickets()), (std::vector<std::int64_t>{5, 6}));
}

TEST(waiting_line, one_that_has_just_been_granted_the_lock_lets_no_newcomer_before_the_others) {
  runtime::waiting_line line;
  std::optional<place> granted{std::in_place, line, "a"};
  place second{line, "a"};
  place newcomer{line, "a"};
  granted->take("1", 4);
  second.take("2", 5);
  granted->give_up_ticket();
  newcomer.take("3", 9);
  granted.reset();
  EXPECT_TRUE(second.is_first());
}

TEST(waiting_line, tickets_are_kept_alive_from_the_first_on) {
  runtime::waiting_line line;
  place first{line, "a"};
  EXPECT_EQ(line.beat_due(), never);
  const auto before = driver::now();
  first.take("1", 4);
  const auto due = line.beat_due();
  EXPECT_GE(due, before + core::ticket_beat);
  EXPECT_LE(due, driver::now() + core::ticket_beat);
  place second{line, "b"};
  second.take("2", 5);
  EXPECT_EQ(line.beat_due(), due) << "a later one does not put it off";
  EXPECT_EQ(line.tickets().size(), 2U);
}

TEST(waiting_line, looks_are_for_the_first_of_each_queue_and_when_they_are_due) {
  runtime::waiting_line line;
  EXPECT_EQ(line.next_look(), never);
  place first{line, "a"};
  place second{line, "a"};
  EXPECT_EQ(line.next_look(), never) << "nobody has a ticket yet";
  first.take("1", 4);
  second.take("2", 5);
  place other{line, "b"};
  other.take("3", 6);
  const auto now = driver::now();
  EXPECT_LE(line.next_look(), now);
  EXPECT_EQ(line.firsts_due(now).size(), 2U);
  EXPECT_GT(line.next_look(), now);
  EXPECT_LE(line.next_look(), now + 500ms);
  EXPECT_TRUE(line.firsts_due(now).empty()) << "they have just been looked at";
  EXPECT_EQ(line.firsts().size(), 2U) << "whenever they were looked at";
  EXPECT_EQ(line.firsts_due(now + 500ms).size(), 2U);
}

TEST(waiting_line, who_is_behind_others_is_looked_at_more_rarely) {
  runtime::waiting_line line;
  place one{line, "a"};
  one.take("1", 4);
  const auto later = driver::now() + 1min;  // at its longest, a look is due every 250 to 500 ms
  line.was_looked_at(one.ticket(), true, {});
  ASSERT_EQ(line.firsts_due(later).size(), 1U);
  EXPECT_GE(line.next_look(), later + 500ms);
  line.was_looked_at(one.ticket(), false, {});
  ASSERT_EQ(line.firsts_due(later + 1s).size(), 1U);
  EXPECT_LE(line.next_look(), later + 1s + 500ms);
}

TEST(waiting_line, a_name_that_changes_hands_is_looked_at_soon_again) {
  runtime::waiting_line line;
  place one{line, "a"};
  one.take("1", 4);
  const auto later = driver::now() + 1min;
  ASSERT_EQ(line.firsts_due(later).size(), 1U);
  line.was_looked_at(one.ticket(), false, fencing_token{7});
  EXPECT_LE(line.next_look(), driver::now() + 5ms);
  ASSERT_EQ(line.firsts_due(later).size(), 1U);
  line.was_looked_at(one.ticket(), false, fencing_token{7});
  EXPECT_GE(line.next_look(), later + 200ms) << "the same holder as before";
}

TEST(waiting_line, a_new_first_is_looked_at_at_once) {
  runtime::waiting_line line;
  std::optional<place> first{std::in_place, line, "a"};
  place second{line, "a"};
  first->take("1", 4);
  second.take("2", 5);
  ASSERT_EQ(line.firsts_due(driver::now() + 1min).size(), 1U);
  first.reset();
  EXPECT_LE(line.next_look(), driver::now());
  EXPECT_EQ(numbers_of(line.firsts_due(driver::now())), std::vector<std::int64_t>{5});
}

}  // namespace
}  // namespace rowlock
