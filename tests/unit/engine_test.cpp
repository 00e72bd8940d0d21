#include <gtest/gtest.h>

#include <chrono>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "base/alarm.hpp"
#include "core/error_detail.hpp"
#include "engine/identity.hpp"
#include "engine/lease/reconciler.hpp"
#include "strategy/strategy.hpp"
#include "support/errors.hpp"
#include "unit/fake_database.hpp"

// Parts of the engine that need neither a database nor time to pass.

namespace rowlock {
namespace {

using namespace std::chrono_literals;
using base::instant;

core::acquisition_id id(const char* text) { return core::acquisition_id{text}; }

using ids = std::vector<core::acquisition_id>;
ids ids_of(const std::vector<engine::unresolved>& some) {
  ids out;
  for (const auto& each : some) out.push_back(each.acquisition);
  return out;
}

constexpr instant never = instant::max();
constexpr instant at_once = instant::min();

struct unresolved_list : testing::Test {
  engine::unresolved_list list;
  const instant now{100s};
};

TEST_F(unresolved_list, gives_what_is_due_and_takes_failures_back_until_their_time_is_over) {
  list.add({.name = "a", .acquisition = id("1"), .until = now + 1s, .next = now});
  list.add({.name = "b", .acquisition = id("2"), .until = now + 1h, .next = now + 10s});
  EXPECT_EQ(list.next_due(), now);
  auto due = list.take_due(now);
  ASSERT_EQ(ids_of(due), ids{id("1")});
  list.put_back(std::move(due), now);
  EXPECT_EQ(list.next_due(), now + 50ms);
  list.put_back(list.take_due(now + 50ms), now + 50ms);
  EXPECT_EQ(list.next_due(), now + 150ms);
  list.put_back(list.take_due(now + 150ms), now + 1s);  // its time is over
  EXPECT_EQ(list.next_due(), now + 10s);
  EXPECT_EQ(list.take_due(never).size(), 1U);
  EXPECT_EQ(list.next_due(), never);
}

TEST_F(unresolved_list, gives_at_the_end_what_may_be_undone_already) {
  list.add({.name = "a", .acquisition = id("1"), .until = now + 1h, .from = now - 1s, .next = now + 10s});
  list.add({.name = "b", .acquisition = id("2"), .until = now + 1h, .from = now + 1s, .next = now + 1s});
  EXPECT_EQ(ids_of(list.take_permitted(now)), ids{id("1")});
  EXPECT_EQ(list.next_due(), now + 1s);
}

TEST_F(unresolved_list, a_batch_of_it_holds_a_name_once) {
  std::vector<engine::unresolved> some{{.name = "a", .acquisition = id("1")},
                                       {.name = "b", .acquisition = id("2")},
                                       {.name = "a", .acquisition = id("3")}};
  const auto rest = engine::take_repeated_names(some);
  EXPECT_EQ(ids_of(some), (ids{id("1"), id("2")}));
  EXPECT_EQ(ids_of(rest), ids{id("3")});
}

TEST_F(unresolved_list, tells_what_is_to_stay_yet_from_what_is_to_go_at_once) {
  std::vector<engine::unresolved> some{{.name = "a", .acquisition = id("1")},
                                       {.name = "b", .acquisition = id("2"), .stays_until = now + 1us},
                                       {.name = "c", .acquisition = id("3"), .stays_until = now}};
  const auto staying = engine::take_staying(some, now);
  EXPECT_EQ(ids_of(staying), ids{id("2")});
  EXPECT_EQ(ids_of(some), (ids{id("1"), id("3")}));
}

TEST_F(unresolved_list, permits_nobody_to_take_what_is_to_stay_yet) {
  list.add({.name = "a", .acquisition = id("1"), .until = now + 1h, .from = now, .stays_until = now + 1s});
  EXPECT_FALSE(list.permits("1", now).has_value());
  EXPECT_TRUE(list.permits("1", now + 1s).has_value());
  EXPECT_FALSE(list.permits("2", now + 1s).has_value());
}

// MySQL may cut the read back after the commit: then the shares may be there.
TEST(sharing, is_refused_by_a_wait_for_the_row_and_by_no_unknown_outcome) {
  for (const bool is_unknown : {false, true}) {
    test::fake_database db{
        [&](sheets::verb, std::span<const driver::request>, const driver::limits&) -> std::vector<driver::row> {
          throw detail::error_access::make(errc::call_timed_out, "a limit",
                                           {.retryable = true, .outcome_unknown = is_unknown});
        }};
    const strategies::acquire_args one{
        .name = "a", .owner = "app:1:1:1", .thread = "1", .acquisition = "1", .note = {}, .share = core::one_reader};
    std::vector<strategies::answer> answers;
    const auto share = [&](const store::access& on) { answers = strategies::share(on, {&one, 1}); };
    const auto e = test::error_of([&] { db.gateway().run({}, share); });
    EXPECT_EQ(e && e->outcome_is_unknown(), is_unknown);
    EXPECT_EQ(!answers.empty() && answers[0].what == strategies::verdict::busy, !is_unknown);
  }
}

TEST(alarm, wakes_for_the_earliest_and_remembers_what_came_before_the_wait) {
  base::alarm alarm;
  alarm.disarm();
  alarm.arm(never);
  alarm.arm(at_once);
  alarm.wait();  // returns
  alarm.disarm();
  alarm.arm(at_once);  // what was armed before does not hold it up
  alarm.wait();
  alarm.disarm();
  std::jthread other{[&] { alarm.arm(at_once); }};
  alarm.wait();
}

TEST(ids, attempts_differ_and_have_32_digits) {
  engine::identity who{"app"};
  const auto one = who.next_id();
  EXPECT_EQ(one.text().size(), core::acquisition_id::longest);
  EXPECT_NE(one, who.next_id());
  EXPECT_TRUE(who.made(one.text()));
  EXPECT_FALSE(engine::identity{"app"}.made(one.text()));
}

}  // namespace
}  // namespace rowlock
