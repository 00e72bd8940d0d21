#include "core/acquire_machine.hpp"

#include <gtest/gtest.h>
#include <rowlock/error.hpp>

#include <chrono>
#include <optional>

#include "core/error_detail.hpp"
#include "core/wait.hpp"
#include "support/errors.hpp"

// How a call waits for a name: no thread, no clock, no server.

namespace rowlock {
namespace {

using namespace std::chrono_literals;
using core::acquire_machine;
using action = acquire_machine::action;
using wakeup = acquire_machine::wakeup;
using test::error_of;

constexpr base::instant begin{100s};
constexpr acquire_machine::position behind{.is_first = false, .has_ticket = true};
constexpr acquire_machine::position first{.is_first = true, .has_ticket = true};
constexpr acquire_machine::position without_ticket{.is_first = true, .has_ticket = false};

error retryable() { return detail::error_access::make(errc::connection_failed, "no connection", {.retryable = true}); }

TEST(acquire_machine, goes_before_the_queue_only_if_nobody_waits_here_and_has_a_ticket_before_it_sleeps) {
  acquire_machine machine{begin, begin + 1s};
  EXPECT_EQ(machine.begin(false).what, action::try_once);
  EXPECT_EQ(machine.begin(true).what, action::enter_queue);
  EXPECT_EQ(machine.after_first_try(begin + 1ms).what, action::enter_queue);
  EXPECT_EQ(machine.after_first_try(begin + 1s).what, action::give_up);
  EXPECT_EQ(machine.in_queue(begin, without_ticket).what, action::take_ticket);
  EXPECT_EQ(machine.in_queue(begin, first).what, action::sleep);
  EXPECT_EQ(machine.in_queue(begin + 1s, without_ticket).what, action::give_up) << "it could come back late";
}

TEST(acquire_machine, sleeps_to_the_next_attempt_if_it_is_first_and_else_to_the_deadline) {
  acquire_machine machine{begin, begin + 60s};
  machine.was_refused({.left = 10s}, begin, 0);
  const auto next = machine.in_queue(begin, first).until;
  EXPECT_GT(next, begin);
  EXPECT_LT(next, begin + 1s);
  EXPECT_EQ(machine.after_ticket(first).what, action::look) << "it tries after it has the ticket";
  EXPECT_EQ(machine.after_ticket(behind).until, begin + 60s) << "it is woken when it comes to the front";
  EXPECT_EQ(machine.after_ticket(without_ticket).until, next) << "it has to ask for one again";
}

TEST(acquire_machine, tries_only_as_the_first_and_with_a_ticket) {
  acquire_machine machine{begin, begin + 60s};
  EXPECT_EQ(machine.after_sleep(begin + 1s, wakeup::hinted).what, action::look);
  EXPECT_EQ(machine.after_look(begin + 1s, behind).what, action::sleep);
  EXPECT_EQ(machine.after_look(begin + 2s, without_ticket).what, action::take_ticket);
  EXPECT_EQ(machine.after_look(begin + 3s, first).what, action::try_once);
}

// --- with hand-over inside the process

constexpr acquire_machine::position behind_without_ticket{};
constexpr acquire_machine::position first_held_here{.is_first = true, .held_here_until = begin + 50ms};

TEST(acquire_machine, leaves_the_database_alone_while_the_lock_may_be_handed_over_to_it) {
  acquire_machine machine{begin, begin + 60s, 100ms};
  EXPECT_EQ(machine.begin(false, true).what, action::enter_queue);
  const auto step = machine.in_queue(begin, first_held_here);
  EXPECT_EQ(step.what, action::sleep);
  EXPECT_EQ(step.until, begin + 50ms) << "then it looks itself";
  acquire_machine without{begin, begin + 60s};
  EXPECT_EQ(without.in_queue(begin, first_held_here).what, action::take_ticket);
}

TEST(acquire_machine, sleeps_no_longer_than_its_own_time) {
  acquire_machine machine{begin, begin + 10ms, 100ms};
  EXPECT_EQ(machine.in_queue(begin, first_held_here).until, begin + 10ms);
  EXPECT_EQ(machine.in_queue(begin, behind_without_ticket).until, begin + 10ms);
  EXPECT_EQ(machine.in_queue(begin + 10ms, first_held_here).what, action::give_up);
}

TEST(acquire_machine, takes_a_ticket_when_it_has_waited_for_its_patience) {
  acquire_machine machine{begin, begin + 60s, 100ms};
  const auto step = machine.in_queue(begin, behind_without_ticket);
  EXPECT_EQ(step.what, action::sleep);
  EXPECT_EQ(step.until, begin + 100ms);
  machine.after_sleep(begin + 100ms, wakeup::out_of_time);
  EXPECT_EQ(machine.after_look(begin + 100ms, behind_without_ticket).what, action::take_ticket);
  EXPECT_EQ(machine.after_ticket(behind).until, begin + 60s);
}

TEST(acquire_machine, first_without_a_ticket_tries_only_when_it_was_told_of_a_release_that_is_for_it) {
  const acquire_machine::position yielding{.is_first = true, .yields_to_other_clients = true};
  const auto after = [](wakeup by, const acquire_machine::position& where) {
    acquire_machine machine{begin, begin + 60s, 100ms};
    machine.after_sleep(begin + 1ms, by);
    return machine.after_look(begin + 1ms, where).what;
  };
  EXPECT_EQ(after(wakeup::hinted, without_ticket), action::try_once);
  EXPECT_EQ(after(wakeup::out_of_time, without_ticket), action::take_ticket);
  EXPECT_EQ(after(wakeup::hinted, yielding), action::take_ticket);
  acquire_machine refused{begin, begin + 60s, 100ms};
  refused.after_sleep(begin + 1ms, wakeup::hinted);
  refused.after_look(begin + 1ms, without_ticket);
  refused.was_refused({.left = 10s}, begin + 2ms, 0);
  EXPECT_EQ(refused.in_queue(begin + 2ms, without_ticket).what, action::take_ticket);
}

TEST(acquire_machine, with_a_ticket_does_not_try_what_may_be_handed_over_to_it) {
  acquire_machine machine{begin, begin + 60s, 100ms};
  machine.after_sleep(begin + 1ms, wakeup::hinted);
  const acquire_machine::position held{.is_first = true, .has_ticket = true, .held_here_until = begin + 50ms};
  const auto step = machine.after_look(begin + 1ms, held);
  EXPECT_EQ(step.what, action::sleep);
  EXPECT_EQ(step.until, begin + 50ms);
  EXPECT_EQ(machine.after_look(begin + 50ms, held).what, action::try_once) << "it was not";
}

// --- attempts without a ticket, for a lock that is held only briefly

constexpr core::retry_backoff::refusal by_a_lease{.left = 10s};

acquire_machine refused_once(base::instant now, std::optional<duration> handover_patience = {}) {
  acquire_machine machine{begin, begin + 1s, handover_patience};
  machine.was_refused(by_a_lease, now, 0);
  machine.try_briefly();
  return machine;
}

TEST(acquire_machine, tries_briefly_for_about_as_long_as_a_ticket_takes) {
  auto now = begin + 100us;
  auto machine = refused_once(now);
  int tries = 0;
  for (auto step = machine.in_queue(now, without_ticket); step.what != action::take_ticket;
       step = machine.in_queue(now, without_ticket)) {
    if (step.what == action::sleep) {
      now = step.until;
      continue;
    }
    ASSERT_EQ(step.what, action::try_once);
    now += 100us;
    ++tries;
    machine.was_refused(by_a_lease, now, 0);
  }
  EXPECT_EQ(tries, 7);
  EXPECT_EQ(now, begin + 8 * 100us + 10 * 100us) << "attempts and pauses";
  EXPECT_TRUE(machine.has_tried_briefly());
  EXPECT_TRUE(machine.needed_no_ticket());
  machine.after_ticket(first);
  EXPECT_FALSE(machine.needed_no_ticket());
}

TEST(acquire_machine, does_not_sleep_long_between_slow_attempts_nor_past_the_deadline) {
  auto now = begin + 50ms;
  auto machine = refused_once(now);
  for (int i = 0; i < 7; ++i) {
    const auto step = machine.in_queue(now, without_ticket);
    if (step.what == action::sleep) {
      EXPECT_LE(step.until, now + 4ms);
      now = step.until;
    }
    machine.in_queue(now, without_ticket);
    machine.was_refused(by_a_lease, now, 0);
  }
  const auto late = begin + 1s - 1us;
  auto last = refused_once(late);
  for (int i = 0; i < 3; ++i) {
    const auto step = last.in_queue(late, without_ticket);
    EXPECT_LE(step.until, begin + 1s);
    if (step.what == action::try_once) last.was_refused(by_a_lease, late, 0);
  }
}

TEST(acquire_machine, takes_a_ticket_at_once_if_others_come_first_or_it_is_not_known_when_the_name_is_free) {
  const auto after = [](const core::retry_backoff::refusal& why, const acquire_machine::position& at) {
    auto machine = refused_once(begin);
    machine.was_refused(why, begin, 0);
    return machine.in_queue(begin, at).what;
  };
  EXPECT_EQ(after(by_a_lease, without_ticket), action::try_once);
  EXPECT_EQ(after({}, without_ticket), action::take_ticket) << "a transaction holds it";
  EXPECT_EQ(after({.left = 10s, .is_behind = true}, without_ticket), action::take_ticket);
  EXPECT_EQ(after({.left = 1s, .is_free = true}, without_ticket), action::take_ticket);
  EXPECT_EQ(after({.left = 1s, .is_shared = true}, without_ticket), action::take_ticket) << "by several clients";
  EXPECT_EQ(after(by_a_lease, {.is_first = true, .yields_to_other_clients = true}), action::take_ticket);
  EXPECT_EQ(after(by_a_lease, behind_without_ticket), action::take_ticket);
  acquire_machine not_asked{begin, begin + 1s};
  not_asked.was_refused(by_a_lease, begin, 0);
  EXPECT_EQ(not_asked.in_queue(begin, without_ticket).what, action::take_ticket);
  auto failed = refused_once(begin);
  failed.failed(retryable(), false, false, begin, 0);
  EXPECT_EQ(failed.in_queue(begin, without_ticket).what, action::take_ticket);
  auto displaced = refused_once(begin);
  displaced.after_ticket(first);
  EXPECT_EQ(displaced.in_queue(begin, without_ticket).what, action::take_ticket);
}

TEST(acquire_machine, tries_briefly_at_once_when_it_is_notified) {
  auto machine = refused_once(begin + 100us);
  for (int i = 0; i < 3; ++i) {
    machine.in_queue(begin + 100us, without_ticket);
    machine.was_refused(by_a_lease, begin + 100us, 0);
  }
  ASSERT_EQ(machine.in_queue(begin + 100us, without_ticket).what, action::sleep);
  machine.after_sleep(begin + 101us, wakeup::hinted);
  EXPECT_EQ(machine.after_look(begin + 101us, without_ticket).what, action::try_once);
}

TEST(acquire_machine, does_not_try_briefly_what_may_be_handed_over_to_it) {
  auto machine = refused_once(begin, 100ms);
  EXPECT_EQ(machine.in_queue(begin, first_held_here).what, action::sleep);
  EXPECT_EQ(machine.in_queue(begin, behind_without_ticket).what, action::sleep);
  EXPECT_EQ(machine.in_queue(begin, without_ticket).what, action::try_once);
}

TEST(acquire_machine, tries_often_again_when_it_has_come_to_the_front) {
  acquire_machine machine{begin, begin + 1h};
  const auto now = begin + 10min;
  machine.was_refused({}, now, 0);
  const auto slow = machine.in_queue(now, first).until - now;
  EXPECT_EQ(machine.after_look(now, first).what, action::try_once);
  machine.was_refused({}, now, 0);
  const auto fast = machine.in_queue(now, first).until - now;
  EXPECT_LT(fast, slow) << "what it has waited before does not count";
}

TEST(acquire_machine, ends_on_stop_and_at_the_deadline_and_not_by_a_hint) {
  acquire_machine machine{begin, begin + 1s};
  EXPECT_EQ(machine.after_sleep(begin, wakeup::stopped).what, action::give_up);
  EXPECT_EQ(machine.after_sleep(begin + 500ms, wakeup::out_of_time).what, action::look) << "it is time for an attempt";
  EXPECT_EQ(machine.after_sleep(begin + 1s, wakeup::out_of_time).what, action::give_up);
  EXPECT_EQ(machine.after_sleep(begin + 1s, wakeup::hinted).what, action::look);
}

TEST(acquire_machine, rides_out_what_may_be_over_the_next_time) {
  acquire_machine machine{begin, begin + 1h};
  EXPECT_NO_THROW(machine.failed(retryable(), false, false, begin, 0));
  EXPECT_GT(machine.in_queue(begin, first).until, begin);
  EXPECT_NO_THROW(machine.failed(error{errc::cancelled, "stopped"}, true, false, begin, 0));
  EXPECT_TRUE(test::throws(errc::permission_denied, [&] {
    machine.failed(error{errc::permission_denied, "no"}, false, false, begin, 0);
  }));
}

// Else two threads that have all transactions between them, and want another, would wait for ever.
TEST(acquire_machine, does_not_wait_for_a_transaction_that_nobody_gives_back) {
  acquire_machine machine{begin, begin + 1h};
  const auto full = detail::error_access::make(errc::pool_exhausted, "full", {.retryable = true});
  EXPECT_NO_THROW(machine.failed(full, false, false, begin, 0));
  EXPECT_TRUE(error_of([&] { machine.failed(full, false, true, begin, 0); }));
}

TEST(acquire_machine, throws_in_the_end_if_it_was_never_answered) {
  acquire_machine machine{begin, begin + 10s};
  EXPECT_NO_THROW(machine.throw_if_never_answered(5s, false));
  machine.failed(retryable(), false, false, begin, 0);
  EXPECT_TRUE(error_of([&] { machine.throw_if_never_answered(5s, false); }));
  machine.was_refused({}, begin, 0);
  machine.failed(retryable(), false, false, begin, 0);
  EXPECT_NO_THROW(machine.throw_if_never_answered(5s, false)) << "somebody has had it";
}

TEST(acquire_machine, that_was_given_less_time_than_a_call_reads_as_busy_if_only_its_turn_was_missing) {
  const auto after = [](errc code, bool cuts_calls) {
    acquire_machine machine{begin, begin + 1s};
    machine.failed(detail::error_access::make(code, "late", {.retryable = true}), false, false, begin, 0);
    return error_of([&] { machine.throw_if_never_answered(5s, cuts_calls); });
  };
  EXPECT_FALSE(after(errc::pool_exhausted, false));
  EXPECT_FALSE(after(errc::call_timed_out, true));
  EXPECT_TRUE(after(errc::call_timed_out, false));
  EXPECT_TRUE(after(errc::connection_failed, true));
}

}  // namespace
}  // namespace rowlock
