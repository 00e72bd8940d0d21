#include <gtest/gtest.h>
#include <rowlock/error.hpp>

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/boot_clock.hpp"
#include "base/waits.hpp"
#include "core/error_detail.hpp"
#include "engine/maintenance.hpp"
#include "engine/queue/ticket_cleanup.hpp"
#include "engine/queue/ticket_upkeep.hpp"
#include "unit/fake_database.hpp"

// What it sends for a ticket whose reply was lost, and to which a release has granted the name.

namespace rowlock {
namespace {

using namespace std::chrono_literals;

struct ticket_cleanup_test : testing::Test {
  void take_ticket(const engine::ticket_upkeep::terms& by_terms) {
    const driver::limits until{.deadline = base::now() + 1h};
    EXPECT_THROW(tickets.take(waiter, name, holder::unique(), {}, by_terms, until), error);
    sent.clear();
  }
  std::vector<driver::row> answer(sheets::verb what) const {
    if (what == sheets::verb::inspect) return {test::held_row("a", attempt)};
    if (what == sheets::verb::release_alone) return {{attempt, {}, {}}};
    return {};
  }

  std::string attempt;
  std::vector<sheets::verb> sent;
  std::size_t deleted = 0;
  int locked_for = 0;  // so many deletions find the ticket locked
  test::fake_database db{[this](sheets::verb what, std::span<const driver::request> batch, const driver::limits&) {
    sent.push_back(what);
    if (what == sheets::verb::enqueue) {
      attempt = test::text_of(batch[0][3]);
      throw detail::error_access::make(errc::call_timed_out, "no answer", {.retryable = true, .outcome_unknown = true});
    }
    std::vector<driver::row> gone;
    const bool is_locked = what == sheets::verb::leave && locked_for > 0;
    if (is_locked) --locked_for;
    for (const auto& each : batch)
      if (what == sheets::verb::leave && !is_locked) gone.push_back({test::text_of(each[1]), {}});
    deleted += gone.size();
    return what == sheets::verb::leave ? gone : answer(what);
  }};
  const lock_name name{"a"};
  engine::identity who{"test"};
  engine::local_wait_queue queue;
  engine::maintenance unstarted{5s};
  engine::ticket_cleanup cleanup{db.gateway(), who, queue, unstarted};
  engine::ticket_upkeep tickets{db.gateway(), who, queue, cleanup, unstarted};
  engine::local_wait_queue::waiter waiter{queue, name};
};

TEST_F(ticket_cleanup_test, deletes_the_ticket_and_then_releases_what_was_granted_to_it) {
  take_ticket({.lease = 30s});
  cleanup.run({.deadline = base::now() + 1h});
  EXPECT_EQ(sent, (std::vector{sheets::verb::withdraw, sheets::verb::inspect, sheets::verb::release_alone}));
  EXPECT_NE(cleanup.next_due(), base::instant::max()) << "it may come yet";
}

// The release notifies no waiter of its own client.
TEST_F(ticket_cleanup_test, wakes_the_next_waiter_here_when_it_has_released_a_grant) {
  using engine::local_wait_queue;
  for (const bool is_granted : {false, true}) {
    take_ticket(is_granted ? engine::ticket_upkeep::terms{.lease = 30s} : engine::ticket_upkeep::terms{});
    waiter.listen();
    cleanup.run({.deadline = base::now() + 1h});
    EXPECT_EQ(waiter.wait(base::now(), {}, nullptr),
              is_granted ? local_wait_queue::outcome::hinted : local_wait_queue::outcome::out_of_time);
  }
}

TEST_F(ticket_cleanup_test, looks_for_no_grant_to_a_ticket_that_waits_for_none) {
  take_ticket({});
  cleanup.run({.deadline = base::now() + 1h});
  EXPECT_EQ(sent, std::vector{sheets::verb::withdraw});
}

// A release that grants the name to it has it locked until its commit.
TEST_F(ticket_cleanup_test, asks_again_for_a_locked_ticket_when_the_client_closes) {
  const driver::limits until{.deadline = base::now() + 1h};
  locked_for = 3;
  cleanup.leave_later(name, who.next_id(), core::ticket_number{1}, engine::ticket_cleanup::ticket_fate::abandoned);
  cleanup.leave_all(until);
  EXPECT_EQ(deleted, 1U);
  EXPECT_EQ(cleanup.next_due(), base::instant::max());
}

TEST_F(ticket_cleanup_test, does_not_wait_for_a_ticket_that_may_not_exist_when_the_client_closes) {
  take_ticket({});
  cleanup.leave_all({.deadline = base::now() + 1h});
  EXPECT_EQ(sent, std::vector{sheets::verb::withdraw});
}

// Each is due 200 ms after its grant.
TEST_F(ticket_cleanup_test, deletes_the_tickets_by_which_locks_were_granted_together_and_notifies_no_client) {
  using fate = engine::ticket_cleanup::ticket_fate;
  cleanup.leave_later(name, who.next_id(), core::ticket_number{1}, fate::used);
  base::rest(cleanup.next_due(), {});
  cleanup.leave_later(name, who.next_id(), core::ticket_number{2}, fate::used);
  cleanup.run({.deadline = base::now() + 1h});
  EXPECT_EQ(sent, std::vector{sheets::verb::leave});
  EXPECT_EQ(deleted, 2U);
  EXPECT_EQ(cleanup.next_due(), base::instant::max());
}

}  // namespace
}  // namespace rowlock
