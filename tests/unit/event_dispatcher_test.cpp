#include "engine/events/event_dispatcher.hpp"

#include <gtest/gtest.h>
#include <rowlock/events.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "base/boot_clock.hpp"
#include "support/happening.hpp"
#include "testkit/eventually.hpp"

namespace rowlock {
namespace {

using namespace std::chrono_literals;
using engine::event_dispatcher;
using test::eventually;
using test::happening;

const auto in_an_hour = [] { return base::now() + 1h; };

struct patient_dispatcher : event_dispatcher {
  explicit patient_dispatcher(observer to) : event_dispatcher{std::move(to), 1h} {}
};

event warning(const std::string& sentence) { return {events::warning{sentence}}; }
event cheap() { return {events::reconnected{}}; }
event loss() { return {events::lost{.name = "orders/42", .token = {}}}; }
event failure() { return {events::failed{error{errc::connection_failed, "gone"}}}; }

/// Keeps the event_dispatcher's thread in its first event until it is let go.
struct blocking {
  happening has_begun;
  happening may_end;
  std::atomic<bool> was_first{false};

  void operator()() {
    if (was_first.exchange(true)) return;
    has_begun.happens();
    EXPECT_TRUE(may_end.within());
  }
};

TEST(event_dispatcher, writes_a_line_for_each_event_whatever_the_names_are) {
  patient_dispatcher tells{{}};
  testing::internal::CaptureStderr();
  tells.add({events::lost{.name = "a\x1b[2J\nrowlock: all is well \u202e\xC2\x9B", .token = {}}});
  tells.close(in_an_hour());
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "rowlock: lost the lock \"a\\x1b[2J\\nrowlock: all is well \\u202e\\u009b\" (none)\n");
}

TEST(event_dispatcher, tells_in_order_on_a_thread_of_its_own_and_survives_an_observer_that_throws) {
  std::vector<std::string> seen;
  std::set<std::thread::id> threads;
  patient_dispatcher tells{[&](const event& e) {
    seen.push_back(std::get<events::warning>(e.what).sentence);
    threads.insert(std::this_thread::get_id());
    throw 1;
  }};
  for (const auto* each : {"one", "two", "three"}) tells.add(warning(each));
  tells.close(in_an_hour());
  EXPECT_EQ(seen, (std::vector<std::string>{"one", "two", "three"}));
  EXPECT_EQ(threads.size(), 1U);
  EXPECT_FALSE(threads.contains(std::this_thread::get_id()));
}

TEST(event_dispatcher, keeps_each_threads_order_where_several_report) {
  std::vector<std::string> seen;
  {
    patient_dispatcher tells{[&](const event& e) { seen.push_back(std::get<events::warning>(e.what).sentence); }};
    std::vector<std::jthread> threads;
    for (const char who : {'a', 'b', 'c', 'd'})
      threads.emplace_back([&tells, who] {
        for (int i = 1000; i < 2000; ++i) tells.add(warning(who + std::to_string(i)));
      });
    threads.clear();
  }
  ASSERT_EQ(seen.size(), 4000U);
  std::stable_sort(seen.begin(), seen.end(), [](const auto& x, const auto& y) { return x[0] < y[0]; });
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
}

TEST(event_dispatcher, tells_nothing_once_it_is_closed) {
  patient_dispatcher never_told{[](const event&) { FAIL(); }};
  never_told.close(in_an_hour());
  int told = 0;
  patient_dispatcher tells{[&](const event&) { ++told; }};
  tells.add(cheap());
  tells.close(in_an_hour());
  tells.add(loss());
  tells.close(in_an_hour());
  EXPECT_EQ(told, 1);
}

TEST(event_dispatcher, drops_what_is_cheap_where_the_observer_falls_behind_and_says_how_much) {
  blocking gate;
  std::vector<event> seen;
  patient_dispatcher tells{[&](const event& e) {
    seen.push_back(e);
    gate();
  }};
  tells.add(warning("first"));
  ASSERT_TRUE(gate.has_begun.within());
  for (std::size_t i = 0; i < event_dispatcher::most + 234; ++i) tells.add(cheap());
  tells.add(loss());
  tells.add(warning("behind"));
  EXPECT_EQ(tells.dropped(), 234U);
  gate.may_end.happens();
  tells.close(in_an_hour());
  std::vector<std::uint64_t> dropped;
  std::size_t cheap_ones = 0;
  for (const event& e : seen) {
    if (const auto* found = std::get_if<events::dropped>(&e.what)) dropped.push_back(found->events);
    if (std::holds_alternative<events::reconnected>(e.what)) ++cheap_ones;
  }
  EXPECT_EQ(dropped, std::vector<std::uint64_t>{234});
  EXPECT_EQ(cheap_ones, event_dispatcher::most);
  EXPECT_EQ(seen.size(), event_dispatcher::most + 4) << "the loss, both warnings, and that some were dropped";
}

TEST(event_dispatcher, keeps_again_what_is_cheap_once_the_observer_has_caught_up) {
  blocking gate;
  std::atomic<bool> has_caught_up{false};
  std::atomic<int> told{0};
  patient_dispatcher tells{[&](const event& e) {
    gate();
    ++told;
    if (std::holds_alternative<events::dropped>(e.what)) has_caught_up = true;
  }};
  tells.add(warning("first"));
  ASSERT_TRUE(gate.has_begun.within());
  for (std::size_t i = 0; i < event_dispatcher::most + 1; ++i) tells.add(cheap());
  gate.may_end.happens();
  ASSERT_TRUE(eventually([&] { return has_caught_up.load(); }));
  const int before = told;
  tells.add(cheap());
  EXPECT_TRUE(eventually([&] { return told > before; }));
  EXPECT_EQ(tells.dropped(), 1U);
}

TEST(event_dispatcher, keeps_failures_for_longer_and_losses_always) {
  blocking gate;
  patient_dispatcher tells{[&](const event&) { gate(); }};
  tells.add(warning("first"));
  ASSERT_TRUE(gate.has_begun.within());
  for (std::size_t i = 0; i < event_dispatcher::most_failures; ++i) tells.add(failure());
  EXPECT_EQ(tells.dropped(), 0U);
  tells.add(failure());
  EXPECT_EQ(tells.dropped(), 1U);
  for (int i = 0; i < 100; ++i) tells.add(loss());
  EXPECT_EQ(tells.dropped(), 1U);
  gate.may_end.happens();
}

TEST(event_dispatcher, is_left_behind_by_close_where_the_observer_keeps_it) {
  auto gate = std::make_shared<blocking>();
  auto told = std::make_shared<std::atomic<int>>(0);
  std::weak_ptr<blocking> watched = gate;
  {
    patient_dispatcher tells{[gate, told](const event&) {
      ++*told;
      (*gate)();
    }};
    tells.add(loss());
    tells.add(loss());
    ASSERT_TRUE(gate->has_begun.within());
    tells.close(base::now() + 10ms);
  }
  EXPECT_EQ(*told, 1);
  std::exchange(gate, nullptr)->may_end.happens();
  EXPECT_TRUE(eventually([&] { return watched.expired(); })) << "what the observer has goes with the thread";
  EXPECT_EQ(*told, 1) << "nothing is told after close has returned";
}

TEST(event_dispatcher, may_be_closed_and_destroyed_by_the_observer) {
  happening is_gone;
  std::atomic<int> told{0};
  std::atomic<bool> may_go{false};
  std::unique_ptr<event_dispatcher> tells;
  tells = std::make_unique<event_dispatcher>(
      [&](const event&) {
        ++told;
        EXPECT_TRUE(eventually([&] { return may_go.load(); }));
        tells->close(base::now() + 1h);
        tells.reset();
        is_gone.happens();
      },
      1h);
  tells->add(loss());
  tells->add(loss());
  may_go = true;
  ASSERT_TRUE(is_gone.within());
  EXPECT_EQ(told, 1);
}

TEST(event_dispatcher, tells_what_its_observer_reports) {
  happening done;
  std::atomic<event_dispatcher*> self{nullptr};
  patient_dispatcher tells{[&](const event& e) {
    const auto& sentence = std::get<events::warning>(e.what).sentence;
    if (sentence == "xxx") return done.happens();
    self.load()->add(warning(sentence + "x"));
  }};
  self = &tells;
  tells.add(warning(""));
  EXPECT_TRUE(done.within());
}

TEST(event_dispatcher, tells_clog_only_what_people_are_to_read) {
  patient_dispatcher tells{{}};
  EXPECT_FALSE(tells.wants_all());
  EXPECT_TRUE((event_dispatcher{[](const event&) {}, 1h}).wants_all());
  testing::internal::CaptureStderr();
  tells.add(cheap());
  tells.add(failure());
  tells.add(loss());
  tells.add(warning("mind the gap"));
  tells.close(in_an_hour());
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "rowlock: lost the lock \"orders/42\" (none)\nrowlock: mind the gap\n");
}

}  // namespace
}  // namespace rowlock
