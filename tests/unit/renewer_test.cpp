#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/boot_clock.hpp"
#include "engine/gateway/gateway.hpp"
#include "engine/lease/renewer.hpp"
#include "engine/lease/watchdog.hpp"
#include "engine/maintenance.hpp"
#include "support/happening.hpp"
#include "testkit/eventually.hpp"
#include "unit/fake_database.hpp"

// The watchdog and the maintenance thread, with a database that the test plays. Deadlines lie in the past or in an
// hour: no time needs to pass.

namespace rowlock {
namespace {

using namespace std::chrono_literals;
using engine::lease_ptr;
using test::eventually;
using test::happening;

base::instant in(duration d) { return base::now() + d; }

lease_ptr make(const std::string& name, base::instant deadline, base::instant renewal, bool renews = true,
               std::optional<holder> again = {}) {
  lock_options options;
  options.renew = renews;
  auto a =
      std::make_shared<engine::lease_state>(name, std::move(again), core::acquisition_id{"id of " + name}, options);
  a->set_deadline(deadline);
  a->set_renewal_due(renewal);
  return a;
}

struct watchdog_test : testing::Test, engine::watchdog::listener {
  std::function<void()> report_of(const engine::lease_state& /*a*/) override { return {}; }
  void lost(const lease_ptr& a) override {
    losses.emplace_back(a->name.view(), a->why_lost());
    if (losses.size() == 2) two_lost.happens();
  }

  lease_ptr add(const char* name, base::instant deadline) {
    auto a = make(name, deadline, in(1h));
    EXPECT_TRUE(held.add(a));
    return a;
  }

  engine::lock_registry held;
  std::vector<std::pair<std::string, loss_reason>> losses;  // touched by the watchdog only, until it is stopped
  happening two_lost;
  engine::watchdog watchdog{held, *this};

 private:
  void TearDown() override { watchdog.stop(); }  // it calls this object
};

TEST_F(watchdog_test, fires_what_is_overdue_and_nothing_else) {
  const auto a = add("a", in(-1s));
  const auto b = add("b", in(1h));
  add("c", in(-1s))->is_unreachable = true;
  watchdog.start();
  ASSERT_TRUE(two_lost.within());
  watchdog.stop();
  EXPECT_EQ(losses, (std::vector<std::pair<std::string, loss_reason>>{{"a", loss_reason::expired},
                                                                      {"c", loss_reason::unreachable}}));
  EXPECT_TRUE(eventually([&] { return a->lost_token().stop_requested(); }));
  EXPECT_FALSE(b->lost_token().stop_requested());
  EXPECT_TRUE(b->is_held());
}

TEST_F(watchdog_test, marks_all_that_is_due_before_the_first_callback_runs) {
  const auto a = add("a", in(-1s));
  const auto b = add("b", in(-1s));
  std::atomic<int> called{0};
  std::atomic<bool> both_were_marked{true};
  const auto look = [&] {
    if (a->is_held() || b->is_held()) both_were_marked = false;
    ++called;
  };
  const std::stop_callback on_a{a->lost_token(), look};
  const std::stop_callback on_b{b->lost_token(), look};
  watchdog.start();
  ASSERT_TRUE(eventually([&] { return called == 2; }));
  watchdog.stop();
  EXPECT_TRUE(both_were_marked);
}

TEST_F(watchdog_test, a_deadline_that_comes_later_is_seen) {
  watchdog.start();
  const auto a = make("a", in(50ms), in(1h));
  happening fired;
  const std::stop_callback on_a{a->lost_token(), [&] { fired.happens(); }};
  ASSERT_TRUE(held.add(a));
  watchdog.arm(a->deadline());
  ASSERT_TRUE(fired.within());
  EXPECT_GE(base::now(), a->deadline());
}

TEST_F(watchdog_test, one_that_was_let_go_is_not_fired) {
  const auto a = make("a", in(-1s), in(1h));
  ASSERT_TRUE(a->release(in(-1h)));
  EXPECT_FALSE(a->lose(loss_reason::expired));
  ASSERT_TRUE(held.add(a));
  watchdog.start();
  watchdog.fire_and_wait({}, base::instant::max());
  watchdog.stop();
  EXPECT_FALSE(a->lost_token().stop_requested());
}

TEST_F(watchdog_test, fires_what_somebody_else_found_overdue_and_once) {
  const auto a = add("a", in(50ms));
  const auto b = add("b", in(60ms));
  EXPECT_FALSE(a->is_held_at(in(1h)));
  EXPECT_FALSE(b->is_held_at(in(1h)));
  EXPECT_TRUE(b->take_unfired());
  watchdog.start();
  watchdog.fire({b});
  ASSERT_TRUE(two_lost.within());
  watchdog.stop();
  EXPECT_EQ(losses.size(), 2U);
  EXPECT_TRUE(a->lost_token().stop_requested());
}

TEST_F(watchdog_test, fires_what_was_posted_just_before_it_stopped) {
  const auto a = make("a", in(1h), in(1h));
  const auto b = make("b", in(1h), in(1h));
  watchdog.start();
  for (const auto& each : {a, b}) {
    ASSERT_TRUE(each->lose(loss_reason::forced));
    watchdog.fire({each});
  }
  watchdog.stop();
  EXPECT_EQ(losses.size(), 2U);
}

struct renewer_test : testing::Test, engine::lease_listener {
  struct call {
    std::vector<std::string> names;
    driver::limits until;
  };
  std::vector<call> calls;
  std::vector<std::pair<std::string, loss_reason>> lost;
  /// What is left of it; nullopt: somebody else has it.
  std::function<std::optional<duration>(std::string_view name, duration lease)> answer =
      [](std::string_view /*name*/, duration lease) { return lease; };
  int told_renewed = 0;
  happening asked;

  test::fake_database database{
      [this](sheets::verb what, std::span<const driver::request> batch, const driver::limits& until) {
        return what == sheets::verb::renew ? renew(batch, until) : inspect(batch);
      }};
  engine::lock_registry held;
  engine::renewer renewer{database.gateway(), held, *this};
  engine::maintenance thread{5s};

  std::vector<driver::row> renew(std::span<const driver::request> batch, const driver::limits& until) {
    calls.push_back({{}, until});
    for (const auto& r : batch) calls.back().names.push_back(test::text_of(r[0]));
    asked.happens();
    std::vector<driver::row> out;
    for (const auto& r : batch)
      if (const auto left = answer(test::text_of(r[0]), duration{std::get<std::int64_t>(r[2])}))
        out.push_back({test::text_of(r[1]), left->count()});
    return out;
  }
  static std::vector<driver::row> inspect(std::span<const driver::request> batch) {
    std::vector<driver::row> out;
    for (const auto& r : batch) out.push_back(test::held_row(test::text_of(r[0]), "another id", "another"));
    return out;
  }
  void renewed(const engine::lease_state& /*a*/) noexcept override { ++told_renewed; }
  void renewal_failed(const engine::lease_state& /*a*/, const error& /*why*/) noexcept override {}
  void gone(const lease_ptr& a, loss_reason why) override { lost.emplace_back(a->name.view(), why); }

  lease_ptr add(const std::string& name, base::instant deadline = in(20s), base::instant renewal = in(-1ms),
                bool renews = true) {
    auto a = make(name, deadline, renewal, renews);
    EXPECT_TRUE(held.add(a));
    return a;
  }
  void start() {
    thread.add(renewer);
    thread.start();
  }
  void run_until_renewed() {
    start();
    ASSERT_TRUE(asked.within());
    thread.stop();
  }
  void expect_lost(loss_reason why) {
    add("a");
    run_until_renewed();
    ASSERT_FALSE(lost.empty());
    EXPECT_EQ(lost[0], (std::pair<std::string, loss_reason>{"a", why}));
  }
  using names = std::vector<std::string>;
};

TEST_F(renewer_test, renews_all_that_is_due_in_one_step) {
  const auto due = add("due");
  add("nearly due", in(20s), in(1s));
  add("later", in(1h), in(1h));
  add("never", in(20s), in(-1ms), false);
  const auto before = base::now();
  run_until_renewed();
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].names, (names{"due", "nearly due"}));
  EXPECT_GE(due->deadline(), before + 27s);
  EXPECT_GE(due->renewal_due(), before + 10s);
}

TEST_F(renewer_test, a_renewal_may_not_outlast_the_lease_it_prolongs) {
  add("a", in(2s));
  run_until_renewed();
  EXPECT_LE(calls.at(0).until.deadline, in(2s));
}

TEST_F(renewer_test, what_is_overdue_is_not_renewed) {
  const auto late = add("late", in(-1ms));
  add("due");
  run_until_renewed();
  EXPECT_EQ(calls.at(0).names, names{"due"});
  EXPECT_EQ(late->why_lost(), loss_reason::expired);
  EXPECT_TRUE(late->claim()) << "it must have been given back";
}

// Found due together, but sent in two batches: the second after the first was answered.
TEST_F(renewer_test, what_was_lost_since_it_was_found_due_is_not_renewed) {
  for (std::size_t i = 0; i < engine::batch_size; ++i) add("a/" + std::to_string(i));
  add("b/kept");
  const auto gone = add("b/lost");
  answer = [&](std::string_view, duration lease) {
    gone->lose(loss_reason::forced);
    return lease;
  };
  run_until_renewed();
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[1].names, names{"b/kept"});
}

// As where it was lost, and taken again by the same client, before anybody had marked the first as lost.
TEST_F(renewer_test, a_name_is_once_in_a_batch) {
  for (const auto* name : {"a", "a", "a", "b"}) add(name);
  run_until_renewed();
  EXPECT_EQ(calls.at(0).names, (names{"a", "b"}));
}

// The deadline passes before the answer does, and nobody else has looked.
TEST_F(renewer_test, an_answer_after_the_deadline_is_not_believed) {
  const auto a = add("a");
  answer = [&](std::string_view, duration lease) {
    a->shorten_deadline(in(-1ms));
    return lease;
  };
  run_until_renewed();
  EXPECT_FALSE(a->is_held());
  EXPECT_LT(a->deadline(), base::now());
  EXPECT_EQ(told_renewed, 0);
}

TEST_F(renewer_test, what_ends_while_the_answer_is_awaited_ended_because_the_database_was_unreachable) {
  const auto a = add("a");
  EXPECT_EQ(a->why_overdue(), loss_reason::expired);
  loss_reason meanwhile{};
  answer = [&](std::string_view, duration lease) {
    meanwhile = a->why_overdue();
    return lease;
  };
  run_until_renewed();
  EXPECT_EQ(meanwhile, loss_reason::unreachable);
  EXPECT_EQ(a->why_overdue(), loss_reason::expired) << "the answer came";
}

TEST_F(renewer_test, what_the_database_says_is_lost_is_lost) {
  answer = [](std::string_view, duration) { return std::nullopt; };
  expect_lost(loss_reason::taken_over);
}

TEST_F(renewer_test, a_lock_without_its_table_is_lost) {
  answer = [](std::string_view, duration) -> std::optional<duration> {
    throw error{errc::schema_missing, "there is no table"};
  };
  expect_lost(loss_reason::row_vanished);
}

TEST_F(renewer_test, a_failure_neither_ends_it_nor_loses_the_lock) {
  answer = [](std::string_view, duration) -> std::optional<duration> { throw std::runtime_error{"no database"}; };
  const auto a = add("a");
  const auto deadline = a->deadline();
  start();
  ASSERT_TRUE(asked.within());
  a->set_renewal_due(in(-1ms));
  thread.wake_at(base::instant::min());
  ASSERT_TRUE(asked.within()) << "it must still be at work";
  thread.stop();
  EXPECT_TRUE(a->is_held());
  EXPECT_TRUE(a->is_unreachable);
  EXPECT_EQ(a->deadline(), deadline);
  EXPECT_TRUE(lost.empty());
}

TEST_F(renewer_test, what_covers_the_time_it_may_be_held_is_not_renewed) {
  const auto limited = [&](const std::string& name, base::instant limit) {
    auto a = add(name);
    a->hold_limit = limit;
    a->set_deadline(in(20s));
    return a;
  };
  const auto covered = limited("covered", in(10s));
  const auto not_yet = limited("not yet", in(1h));
  EXPECT_EQ(covered->deadline(), covered->hold_limit);
  EXPECT_EQ(covered->why_overdue(), loss_reason::hold_limit);
  EXPECT_EQ(not_yet->why_overdue(), loss_reason::expired);
  run_until_renewed();
  EXPECT_EQ(calls.at(0).names, names{"not yet"});
}

TEST_F(renewer_test, one_with_an_extend_under_way_is_left_alone) {
  ASSERT_TRUE(add("busy")->claim());
  const auto idle = add("idle");
  run_until_renewed();
  EXPECT_EQ(calls.at(0).names, names{"idle"});
  EXPECT_TRUE(idle->claim()) << "it must have been given back";
}

struct lock_registry : testing::Test {
  lease_ptr add(const char* name, base::instant deadline = in(1h)) {
    auto a = make(name, deadline, in(1h), true, job);
    EXPECT_TRUE(held.add(a));
    return a;
  }
  lease_ptr reentered(const char* name) { return held.reenter(name, job, true, base::now()); }

  engine::lock_registry held;
  const holder job = holder::named("job");
};

TEST_F(lock_registry, the_same_holder_gets_it_again_until_the_last_handle_goes) {
  const auto a = add("a");
  EXPECT_EQ(reentered("a"), a);
  EXPECT_EQ(reentered("b"), nullptr);
  EXPECT_EQ(held.reenter("a", holder::unique(), true, base::now()), nullptr);
  EXPECT_FALSE(held.drop(*a));
  EXPECT_TRUE(held.drop(*a));
  EXPECT_EQ(reentered("a"), nullptr);
}

TEST(lease_state, once_found_overdue_is_lost_for_good) {
  const auto end = in(1h);
  const auto a = make("a", end, in(1h));
  EXPECT_TRUE(a->is_held_at(end - 1us));
  EXPECT_FALSE(a->is_held_at(end));
  EXPECT_EQ(a->why_lost(), loss_reason::expired);
  EXPECT_FALSE(a->set_left(end, 1h, end));
  EXPECT_EQ(a->deadline(), end);
  EXPECT_FALSE(a->is_held_at(end - 1us));
  EXPECT_FALSE(a->release(end - 1us));
  EXPECT_FALSE(a->lose(loss_reason::forced)) << "somebody else has told of it";
  EXPECT_TRUE(a->take_unfired());
  EXPECT_FALSE(a->take_unfired()) << "it is fired once";
}

TEST(lease_state, is_not_prolonged_by_an_answer_after_its_deadline) {
  const auto end = in(1h);
  const auto a = make("a", end, in(1h));
  EXPECT_TRUE(a->set_left(end - 1us, 30s, end - 1us));
  EXPECT_EQ(a->deadline(), end - 1us + 27s);
  EXPECT_FALSE(a->set_left(end, 1h, a->deadline()));
  EXPECT_EQ(a->deadline(), end - 1us + 27s);
  EXPECT_EQ(a->why_lost(), loss_reason::expired);
}

// Law 5: however long the answer was under way, the lease may have begun to run when the request was sent.
TEST(lease_state, is_believed_in_from_when_the_request_was_sent) {
  const auto sent = in(1h);
  const auto a = make("a", in(2h), in(1h));
  EXPECT_TRUE(a->set_left(sent, 30s, sent + 5s));
  EXPECT_EQ(a->deadline(), sent + 27s);
  EXPECT_EQ(a->over(), sent + 35s);
  const auto b = make("b", in(2h), in(1h));
  b->set_first_left(sent, 30s, sent + 5s);
  EXPECT_EQ(b->deadline(), sent + 27s);
}

TEST(lease_state, that_is_overdue_cannot_be_let_go_of) {
  const auto a = make("a", in(-1ms), in(1h));
  EXPECT_FALSE(a->release(base::now()));
  EXPECT_EQ(a->why_lost(), loss_reason::expired);
}

TEST(lease_state, that_was_lost_otherwise_is_not_found_overdue) {
  const auto end = in(1h);
  const auto a = make("a", end, in(1h));
  ASSERT_TRUE(a->lose(loss_reason::taken_over));
  EXPECT_FALSE(a->is_held_at(end));
  EXPECT_EQ(a->why_lost(), loss_reason::taken_over);
  EXPECT_FALSE(a->take_unfired()) << "whoever lost it fires";
}

TEST(lease_state, that_somebody_else_has_before_its_lease_can_have_run_out_was_freed) {
  const auto end = in(1h);
  const auto a = make("a", end, in(1h));
  EXPECT_EQ(a->why_gone(loss_reason::taken_over, end - 1us, 0), loss_reason::forced);
  EXPECT_EQ(a->why_gone(loss_reason::taken_over, end, 0), loss_reason::taken_over);
  for (const auto other : {loss_reason::expired, loss_reason::forced, loss_reason::row_vanished})
    EXPECT_EQ(a->why_gone(other, end - 1us, 0), other);
  a->term = 1;
  EXPECT_EQ(a->why_gone(loss_reason::forced, end - 1us, 1), loss_reason::forced);
  EXPECT_EQ(a->why_gone(loss_reason::forced, end - 1us, 2), loss_reason::forgotten) << "a failover has lost it";
  EXPECT_EQ(a->why_gone(loss_reason::taken_over, end, 2), loss_reason::taken_over);
}

TEST(lease_state, without_a_lease_that_somebody_else_has_was_freed) {
  const engine::lease_state a{
      "a", {}, core::acquisition_id{"id of a"}, lock_options{.strategy = strategy::for_update}, 10s, nullptr};
  EXPECT_EQ(a.why_gone(loss_reason::taken_over, base::instant::max() - 1us, 0), loss_reason::forced);
}

TEST_F(lock_registry, what_is_overdue_or_lost_is_not_given_again) {
  const auto a = add("a", in(-1ms));
  EXPECT_FALSE(held.has("a", job, base::now()));
  EXPECT_FALSE(a->is_held()) << "whoever is told so marks it";
  EXPECT_EQ(held.reenter("a", job, true, in(-1h)), nullptr);
  add("b")->lose(loss_reason::taken_over);
  EXPECT_EQ(reentered("b"), nullptr);
}

TEST_F(lock_registry, a_lost_one_that_goes_does_not_take_its_successor_along) {
  const auto first = add("a");
  first->lose(loss_reason::expired);
  const auto second = add("a");
  EXPECT_TRUE(held.drop(*first));
  EXPECT_EQ(reentered("a"), second);
}

TEST_F(lock_registry, closed_takes_nothing) {
  add("a");
  EXPECT_EQ(held.close().size(), 1U);
  EXPECT_FALSE(held.add(make("b", in(1h), in(1h))));
}

}  // namespace
}  // namespace rowlock
