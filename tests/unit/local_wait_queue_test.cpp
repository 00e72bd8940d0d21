#include "engine/queue/local_wait_queue.hpp"

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

#include "base/boot_clock.hpp"
#include "core/wait.hpp"
#include "engine/lease/lease_state.hpp"
#include "testkit/eventually.hpp"

namespace rowlock {
namespace {

using namespace std::chrono_literals;
using base::instant;
using outcome = engine::local_wait_queue::outcome;
using waiter = engine::local_wait_queue::waiter;

constexpr instant never = instant::max();
constexpr instant at_once = instant::min();

bool is_hinted(waiter& p) { return p.wait(at_once, {}) == outcome::hinted; }

core::acquisition_id id(const char* text) { return core::acquisition_id{text}; }
constexpr core::ticket_number ticket(std::int64_t number) { return core::ticket_number{number}; }

std::vector<std::int64_t> numbers_of(const std::vector<engine::queue_ticket>& some) {
  std::vector<std::int64_t> out;
  for (const auto& t : some) out.push_back(core::to_integer(t.number));
  return out;
}

/// One with a ticket.
struct ticketed : waiter {
  ticketed(engine::local_wait_queue& in, const char* name, std::int64_t number,
           std::int64_t max_other_permits = core::sharing{}.max_other_permits)
      : waiter{in, name} {
    take(core::acquisition_id{std::to_string(number)}, core::ticket_number{number}, max_other_permits);
  }
};

struct local_wait_queue_test : testing::Test {
  engine::local_wait_queue line;
};

TEST_F(local_wait_queue_test, the_first_is_hinted_and_the_second_is_not) {
  EXPECT_TRUE(line.is_empty("a"));
  waiter first{line, "a"};
  waiter second{line, "a"};
  EXPECT_FALSE(line.is_empty("a"));
  EXPECT_EQ(first.wait(never, {}), outcome::hinted);
  EXPECT_FALSE(is_hinted(second));
}

TEST_F(local_wait_queue_test, a_hint_between_try_and_sleep_is_kept) {
  waiter one{line, "a"};
  one.listen();
  line.hint("a");
  EXPECT_EQ(one.wait(never, {}), outcome::hinted);
  one.listen();
  EXPECT_FALSE(is_hinted(one));
}

TEST_F(local_wait_queue_test, a_hint_is_for_the_head_of_its_own_queue_only_and_says_whether_there_was_one) {
  EXPECT_FALSE(line.hint("a"));
  waiter a{line, "a"};
  waiter behind{line, "a"};
  waiter b{line, "b"};
  a.listen();
  b.listen();
  EXPECT_TRUE(line.hint("a"));
  EXPECT_FALSE(line.hint("c"));
  EXPECT_TRUE(is_hinted(a));
  EXPECT_FALSE(is_hinted(behind));
  EXPECT_FALSE(is_hinted(b));
  line.hint_all();
  EXPECT_TRUE(is_hinted(b));
}

TEST_F(local_wait_queue_test, a_hint_without_a_name_is_for_the_only_name) {
  EXPECT_TRUE(line.hint_the_only_name()) << "there is nobody to look for";
  waiter a{line, "a"};
  waiter behind{line, "a"};
  a.listen();
  behind.listen();
  EXPECT_TRUE(line.hint_the_only_name());
  EXPECT_TRUE(is_hinted(a));
  EXPECT_FALSE(is_hinted(behind));
  waiter b{line, "b"};
  a.listen();
  b.listen();
  EXPECT_FALSE(line.hint_the_only_name());
  EXPECT_FALSE(is_hinted(a));
  EXPECT_FALSE(is_hinted(b));
}

TEST_F(local_wait_queue_test, whoever_sleeps_past_the_end_of_a_lease_is_hinted) {
  ticketed one{line, "a", 7};
  one.listen();
  auto woken = std::async(std::launch::async, [&] { return one.wait(never, {}); });
  while (woken.wait_for(1ms) != std::future_status::ready) {  // it may not sleep yet
    line.hint_late({.name = "a", .attempt = id("7"), .number = ticket(8)}, 1h);
    line.hint_late({.name = "a", .attempt = id("7"), .number = ticket(7)}, std::nullopt);
    line.hint_late({.name = "a", .attempt = id("7"), .number = ticket(7)}, 1h);
  }
  EXPECT_EQ(woken.get(), outcome::hinted);
}

TEST_F(local_wait_queue_test, whoever_wakes_in_time_for_the_end_of_a_lease_is_not_hinted) {
  ticketed one{line, "a", 7};
  one.listen();
  EXPECT_EQ(one.wait(base::now(), {}), outcome::out_of_time);
  line.hint_late({.name = "a", .attempt = id("7"), .number = ticket(7)}, 0s);
  EXPECT_FALSE(is_hinted(one));
}

TEST_F(local_wait_queue_test, a_head_that_leaves_hints_the_next) {
  auto first = std::make_unique<waiter>(line, "a");
  waiter second{line, "a"};
  waiter third{line, "a"};
  first.reset();
  EXPECT_EQ(second.wait(never, {}), outcome::hinted);
  EXPECT_FALSE(is_hinted(third));
}

TEST_F(local_wait_queue_test, one_that_leaves_from_the_middle_hints_nobody) {
  waiter first{line, "a"};
  auto second = std::make_unique<waiter>(line, "a");
  waiter third{line, "a"};
  second.reset();
  EXPECT_FALSE(is_hinted(third));
}

TEST_F(local_wait_queue_test, stop_and_close_end_waits_at_any_place_and_what_is_closed_lets_no_client_wait) {
  waiter first{line, "a"};
  waiter second{line, "a"};
  std::stop_source stop;
  std::jthread stopper{[&] { stop.request_stop(); }};
  EXPECT_EQ(second.wait(never, stop.get_token()), outcome::stopped);
  std::jthread closer{[&] { line.close(); }};
  EXPECT_EQ(second.wait(never, {}), outcome::closed);
  EXPECT_EQ(first.wait(never, {}), outcome::closed);
  waiter late{line, "a"};
  EXPECT_EQ(late.wait(never, {}), outcome::closed);
}

TEST_F(local_wait_queue_test, a_hint_for_everybody_reaches_every_place_of_the_name) {
  waiter first{line, "a"};
  waiter second{line, "a"};
  waiter other{line, "b"};
  other.listen();
  line.hint_everybody("a");
  EXPECT_TRUE(is_hinted(first));
  EXPECT_TRUE(is_hinted(second));
  EXPECT_FALSE(is_hinted(other));
}

// --- with tickets ----------------------------------------------------------------------------------------------------

TEST_F(local_wait_queue_test, stands_in_the_order_of_tickets_whatever_the_order_of_arrival) {
  std::optional<waiter> a{std::in_place, line, "a"};
  std::optional<waiter> b{std::in_place, line, "a"};
  std::optional<waiter> c{std::in_place, line, "a"};
  c->take(id("c"), ticket(5));
  EXPECT_TRUE(c->is_first()) << "whoever has none stands behind";
  a->take(id("a"), ticket(7));
  b->take(id("b"), ticket(6));
  EXPECT_TRUE(c->is_first());
  EXPECT_EQ(numbers_of(line.tickets()), (std::vector<std::int64_t>{5, 6, 7}));
  c.reset();
  EXPECT_TRUE(b->is_first());
  b.reset();
  EXPECT_TRUE(a->is_first());
}

TEST_F(local_wait_queue_test, one_that_passes_the_first_becomes_the_first_and_is_hinted) {
  ticketed first{line, "a", 8};
  waiter second{line, "a"};
  first.listen();
  second.take(id("2"), ticket(3));
  EXPECT_FALSE(first.is_first());
  EXPECT_FALSE(is_hinted(first));
  EXPECT_TRUE(second.is_first());
  EXPECT_TRUE(is_hinted(second));
}

TEST_F(local_wait_queue_test, one_that_steps_back_hints_whoever_comes_first_then) {
  waiter first{line, "a"};
  ticketed second{line, "a", 4};
  second.listen();
  waiter third{line, "a"};
  ASSERT_TRUE(second.is_first());
  second.take(id("2 again"), ticket(9));  // it had lost the other
  EXPECT_TRUE(second.is_first()) << "the others have none";
  second.listen();
  first.take(id("1"), ticket(8));
  EXPECT_TRUE(is_hinted(first));
  first.listen();
  first.take(id("1 again"), ticket(10));
  EXPECT_TRUE(second.is_first());
  EXPECT_TRUE(is_hinted(second));
}

TEST_F(local_wait_queue_test, the_first_is_hinted_when_its_ticket_is_committed) {
  waiter one{line, "a"};
  one.listen();
  one.take(id("1"), ticket(4));
  EXPECT_TRUE(is_hinted(one)) << "it is to try once more before it sleeps";
}

TEST_F(local_wait_queue_test, one_that_joins_behind_hints_nobody) {
  ticketed first{line, "a", 4};
  first.listen();
  ticketed second{line, "a", 5};
  EXPECT_FALSE(is_hinted(first));
  EXPECT_FALSE(is_hinted(second));
}

TEST_F(local_wait_queue_test, tells_its_ticket_until_that_is_given_up) {
  waiter one{line, "a"};
  EXPECT_EQ(one.ticket().number, core::ticket_number::none);
  one.take(id("attempt"), ticket(4));
  EXPECT_EQ(one.ticket().name, "a");
  EXPECT_EQ(one.ticket().attempt, id("attempt"));
  EXPECT_EQ(one.ticket().number, ticket(4));
  one.give_up_ticket();
  EXPECT_EQ(one.ticket().number, core::ticket_number::none);
  EXPECT_TRUE(line.tickets().empty()) << "there is nothing to keep alive";
}

TEST_F(local_wait_queue_test, whose_ticket_is_gone_wakes_at_any_place) {
  ticketed first{line, "a", 4};
  ticketed second{line, "a", 5};
  first.listen();
  line.displace(second.ticket());
  EXPECT_TRUE(is_hinted(second));
  EXPECT_EQ(second.ticket().number, core::ticket_number::none);
  EXPECT_FALSE(is_hinted(first));
  EXPECT_EQ(numbers_of(line.tickets()), std::vector<std::int64_t>{4});
}

TEST_F(local_wait_queue_test, the_first_is_woken_once_when_the_mark_is_gone_that_a_waiter_relies_on) {
  ticketed first{line, "a", 4};
  ticketed second{line, "a", 5};
  second.mark(true);
  first.listen();
  line.lost_mark(first.ticket());
  EXPECT_FALSE(is_hinted(first)) << "it tries by itself, as long as its row is not marked";
  line.lost_mark(second.ticket());
  EXPECT_FALSE(second.is_marked());
  EXPECT_TRUE(is_hinted(first));
  first.listen();
  line.lost_mark(second.ticket());
  line.lost_mark({.name = "b", .attempt = id("5"), .number = ticket(5)});
  EXPECT_FALSE(is_hinted(first));
}

TEST_F(local_wait_queue_test, what_was_displaced_and_replaced_meanwhile_stays) {
  ticketed one{line, "a", 4};
  const auto gone = one.ticket();
  one.take(id("2"), ticket(6));
  one.listen();
  line.displace(gone);
  line.displace({.name = "a", .attempt = id("another"), .number = ticket(6)});
  line.displace({.name = "b", .attempt = id("2"), .number = ticket(6)});
  EXPECT_FALSE(is_hinted(one));
  EXPECT_EQ(one.ticket().number, ticket(6));
}

TEST_F(local_wait_queue_test, a_displaced_first_goes_to_the_end_at_once) {
  ticketed first{line, "a", 4};
  ticketed second{line, "a", 5};
  line.displace(first.ticket());
  EXPECT_TRUE(second.is_first());
  EXPECT_TRUE(is_hinted(second));
  first.take(id("1 again"), ticket(6));
  EXPECT_TRUE(second.is_first());
  EXPECT_EQ(numbers_of(line.tickets()), (std::vector<std::int64_t>{5, 6}));
}

TEST_F(local_wait_queue_test, one_that_has_just_been_granted_the_lock_lets_no_newcomer_before_the_others) {
  std::optional<ticketed> granted{std::in_place, line, "a", 4};
  ticketed second{line, "a", 5};
  waiter newcomer{line, "a"};
  granted->give_up_ticket();
  newcomer.take(id("3"), ticket(9));
  granted.reset();
  EXPECT_TRUE(second.is_first());
}

TEST_F(local_wait_queue_test, tickets_are_kept_alive_from_the_first_on) {
  waiter first{line, "a"};
  EXPECT_EQ(line.refresh_due(), never);
  const auto before = base::now();
  first.take(id("1"), ticket(4));
  const auto due = line.refresh_due();
  EXPECT_GE(due, before + core::ticket_refresh);
  EXPECT_LE(due, base::now() + core::ticket_refresh);
  ticketed second{line, "b", 5};
  EXPECT_EQ(line.refresh_due(), due) << "a later one does not put it off";
  EXPECT_EQ(line.tickets().size(), 2U);
}

TEST_F(local_wait_queue_test, looks_are_for_the_first_of_each_queue_and_when_they_are_due) {
  EXPECT_EQ(line.next_look(), never);
  waiter first{line, "a"};
  waiter second{line, "a"};
  EXPECT_EQ(line.next_look(), never) << "nobody has a ticket yet";
  first.take(id("1"), ticket(4));
  second.take(id("2"), ticket(5));
  ticketed other{line, "b", 6};
  const auto now = base::now();
  EXPECT_LE(line.next_look(), now);
  EXPECT_EQ(line.leaders_due(now).size(), 2U);
  EXPECT_GT(line.next_look(), now);
  EXPECT_LE(line.next_look(), now + 500ms);
  EXPECT_TRUE(line.leaders_due(now).empty()) << "they have just been looked at";
  EXPECT_EQ(line.leaders().size(), 2U) << "whenever they were looked at";
  EXPECT_EQ(line.leaders_due(now + 500ms).size(), 2U);
}

// A set may have to wait for another name.
TEST_F(local_wait_queue_test, looks_are_also_for_the_first_behind_a_set) {
  waiter set{line, "a", engine::local_wait_queue::purpose::all};
  ticketed first{line, "a", 5};
  ticketed second{line, "a", 6};
  set.take(id("1"), ticket(4));
  const auto now = base::now();
  EXPECT_EQ(numbers_of(line.leaders()), (std::vector<std::int64_t>{4, 5}));
  EXPECT_EQ(numbers_of(line.leaders_due(now)), (std::vector<std::int64_t>{4, 5}));
  EXPECT_GT(line.next_look(), now);
}

TEST_F(local_wait_queue_test, who_is_behind_others_is_looked_at_more_rarely) {
  ticketed one{line, "a", 4};
  const auto later = base::now() + 1min;  // at its longest, a look is due every 250 to 500 ms
  line.was_looked_at(one.ticket(), true, {});
  ASSERT_EQ(line.leaders_due(later).size(), 1U);
  EXPECT_GE(line.next_look(), later + 500ms);
  line.was_looked_at(one.ticket(), false, {});
  ASSERT_EQ(line.leaders_due(later + 1s).size(), 1U);
  EXPECT_LE(line.next_look(), later + 1s + 500ms);
}

TEST_F(local_wait_queue_test, a_name_that_changes_hands_is_looked_at_soon_again) {
  ticketed one{line, "a", 4};
  const auto later = base::now() + 1min;
  ASSERT_EQ(line.leaders_due(later).size(), 1U);
  line.was_looked_at(one.ticket(), false, fencing_token{7});
  EXPECT_LE(line.next_look(), base::now() + 5ms);
  ASSERT_EQ(line.leaders_due(later).size(), 1U);
  line.was_looked_at(one.ticket(), false, fencing_token{7});
  EXPECT_GE(line.next_look(), later + 200ms) << "the same holder as before";
}

TEST_F(local_wait_queue_test, a_new_first_is_looked_at_at_once) {
  std::optional<ticketed> first{std::in_place, line, "a", 4};
  const ticketed second{line, "a", 5};
  ASSERT_EQ(line.leaders_due(base::now() + 1min).size(), 1U);
  first.reset();
  EXPECT_LE(line.next_look(), base::now());
  EXPECT_EQ(numbers_of(line.leaders_due(base::now())), std::vector<std::int64_t>{5});
}

// --- handed over inside the process ----------------------------------------------------------------------------------

using engine::lease_ptr;

constexpr auto any_offer = [](const lease_ptr& /*o*/) { return true; };
constexpr auto any_lease = [](const engine::lease_state& /*o*/) { return true; };

/// Waits on a thread of its own, and says how that ended.
struct offering {
  offering(engine::local_wait_queue& in, instant until = never, core::ticket_number number = core::ticket_number::none,
           std::int64_t max_other_permits = core::sharing{}.max_other_permits)
      : at{in, "a"} {
    if (number != core::ticket_number::none) at.take(id("with a ticket"), number, max_other_permits);
    at.listen();
    ended = std::async(std::launch::async, [this, until] { return at.wait(until, stop.get_token(), mine); });
  }
  bool has_ended() const { return ended.wait_for(0s) == std::future_status::ready; }

  const lease_ptr mine = std::make_shared<engine::lease_state>("a", std::nullopt, holder::unique(), lock_options{});
  waiter at;
  std::stop_source stop;
  std::future<outcome> ended;
};

/// Retries while the waiter does not wait yet.
bool hand_over(engine::local_wait_queue& in, const lease_ptr& expected) {
  return test::eventually([&] { return in.hand_over("a", [&](const lease_ptr& o) { return o == expected; }); });
}

TEST_F(local_wait_queue_test, hands_over_to_the_first_that_waits_and_wakes_only_it) {
  offering second{line};
  ASSERT_TRUE(test::eventually([&] { return line.takes("a", any_lease); }));
  offering first{line, never, ticket(3)};  // goes before one without
  ASSERT_TRUE(hand_over(line, first.mine));
  EXPECT_EQ(first.ended.get(), outcome::handed);
  EXPECT_TRUE(second.at.is_first()) << "whoever was handed the lock waits no more";
  EXPECT_FALSE(second.has_ended()) << "the holder hands it over when it has done";
  ASSERT_TRUE(hand_over(line, second.mine));
  EXPECT_EQ(second.ended.get(), outcome::handed);
  EXPECT_TRUE(line.is_empty("a"));
}

TEST_F(local_wait_queue_test, hands_over_past_nobody) {
  waiter first{line, "a"};  // which takes nothing
  offering second{line};
  EXPECT_FALSE(line.hand_over("a", any_offer));
  EXPECT_FALSE(line.hand_over("b", any_offer));
  EXPECT_FALSE(line.takes("a", any_lease));
  second.stop.request_stop();
  EXPECT_EQ(second.ended.get(), outcome::stopped);
}

TEST_F(local_wait_queue_test, wakes_nobody_who_offers_to_take_it_when_the_first_leaves_with_the_lock) {
  offering second{line};
  ASSERT_TRUE(test::eventually([&] { return line.takes("a", any_lease); }));
  std::optional<waiter> first{std::in_place, line, "a"};
  first->take(id("1"), ticket(3));  // goes before one without
  EXPECT_FALSE(second.at.is_first());
  first->leave_with_lock();
  first.reset();
  EXPECT_TRUE(second.at.is_first());
  EXPECT_FALSE(second.has_ended()) << "it would find the lock held, and miss that it is handed over";
  ASSERT_TRUE(hand_over(line, second.mine));
  EXPECT_EQ(second.ended.get(), outcome::handed);
}

TEST_F(local_wait_queue_test, an_offer_that_does_not_fit_stays_where_it_is) {
  offering one{line};
  EXPECT_TRUE(test::eventually([&] { return line.takes("a", any_lease); }));
  EXPECT_FALSE(line.takes("a", [](const engine::lease_state& /*o*/) { return false; }));
  EXPECT_FALSE(line.hand_over("a", [](const lease_ptr& /*o*/) { return false; }));
  EXPECT_TRUE(one.at.is_first());
  line.hint("a");
  EXPECT_EQ(one.ended.get(), outcome::hinted);
  EXPECT_FALSE(line.hand_over("a", any_offer)) << "it does not wait just now";
}

TEST_F(local_wait_queue_test, wakes_the_next_one_too_if_it_would_sleep_for_long) {
  offering first{line, never, ticket(3)};
  offering second{line, never, ticket(4)};
  ASSERT_TRUE(hand_over(line, first.mine));
  EXPECT_EQ(first.ended.get(), outcome::handed);
  EXPECT_EQ(second.ended.get(), outcome::hinted);
}

TEST_F(local_wait_queue_test, tells_of_readers_that_sleep_right_behind_one) {
  constexpr auto any_number = core::sharing::unlimited;
  ticketed first{line, "a", 1, any_number};
  offering one{line, never, ticket(2), any_number};
  const ticketed awake{line, "a", 3, any_number};
  offering two{line, never, ticket(4), any_number};
  offering three{line, never, ticket(5), any_number};
  offering writer{line, never, ticket(6)};
  offering behind_it{line, never, ticket(7), any_number};
  const auto numbers = [&](std::size_t most) {
    std::vector<engine::queue_ticket> out;
    for (const auto& each : first.readers_behind(most)) out.push_back(each.ticket);
    return numbers_of(out);
  };
  EXPECT_TRUE(test::eventually([&] { return numbers(9) == std::vector<std::int64_t>{2, 4, 5}; }));
  EXPECT_EQ(numbers(2), (std::vector<std::int64_t>{2, 4}));
  EXPECT_TRUE(behind_it.at.readers_behind(9).empty());
  for (auto* each : {&one, &two, &three, &writer, &behind_it}) each->stop.request_stop();
}

TEST_F(local_wait_queue_test, hands_over_to_the_one_with_a_ticket) {
  ticketed first{line, "a", 1};
  offering one{line, never, ticket(2)};
  offering two{line, never, ticket(3)};
  const auto to = [&](const offering& whom) {
    const auto its = whom.at.ticket();
    return test::eventually([&] { return line.hand_over_to(its, [&](const lease_ptr& o) { return o == whom.mine; }); });
  };
  ASSERT_TRUE(to(two));
  EXPECT_EQ(two.ended.get(), outcome::handed);
  EXPECT_EQ(two.at.ticket_number(), core::ticket_number::none) << "whoever handed it over deletes it";
  EXPECT_FALSE(one.has_ended());
  EXPECT_TRUE(first.is_first());
  ASSERT_TRUE(to(one));
  EXPECT_FALSE(line.hand_over_to({.name = "a", .attempt = id("with a ticket"), .number = ticket(2)}, any_offer))
      << "it is gone";
}

TEST_F(local_wait_queue_test, what_is_closed_hands_nothing_over) {
  offering one{line};
  line.close();
  EXPECT_FALSE(line.hand_over("a", any_offer));
  EXPECT_EQ(one.ended.get(), outcome::closed);
}

TEST_F(local_wait_queue_test, gives_way_for_as_long_as_it_was_told) {
  line.yield_to_other_clients("a", never);
  waiter one{line, "a"};
  EXPECT_FALSE(one.where(base::now()).yields_to_other_clients) << "nobody had waited";
  const auto until = base::later(base::now(), 1h);
  line.yield_to_other_clients("a", until);
  EXPECT_TRUE(one.where(base::now()).yields_to_other_clients);
  EXPECT_FALSE(one.where(until).yields_to_other_clients);
}

TEST_F(local_wait_queue_test, either_hands_over_or_gives_up) {
  constexpr int rounds = 2000;
  int handed = 0;
  int ended_as_handed = 0;
  for (int i = 0; i < rounds; ++i) {
    offering one{line, base::later(base::now(), std::chrono::microseconds{i % 200})};
    std::jthread giving{[&] {
      while (!one.has_ended())
        if (line.hand_over("a", any_offer)) {
          ++handed;
          break;
        }
    }};
    if (i % 2 == 0) one.stop.request_stop();
    if (one.ended.wait_for(1min) != std::future_status::ready) break;
    giving.join();
    if (one.ended.get() == outcome::handed) ++ended_as_handed;
  }
  EXPECT_EQ(handed, ended_as_handed);
}

}  // namespace
}  // namespace rowlock
