#include "core/force_release_machine.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>

// How a name is freed: no thread, no clock, no server.

namespace rowlock {
namespace {

using namespace std::chrono_literals;
using core::force_release_machine;
using core::lock_owner;
using core::session_number;
using action = force_release_machine::action;

constexpr base::instant begin{100s};
constexpr base::instant end = begin + 5s;

force_release_machine machine_for(std::optional<fencing_token> only = {}) { return {only, 5s, end}; }

lock_owner lease(std::int64_t version, std::optional<session_number> pinned_by = {}) {
  return {.token = fencing_token{version},
          .committed = fencing_token{version},
          .is_committed = true,
          .acquisition = "a",
          .session = pinned_by};
}
lock_owner transaction(std::int64_t committed, std::optional<session_number> session = session_number{7}) {
  return {.committed = fencing_token{committed}, .session = session};
}

TEST(force_release_machine, frees_a_lease_at_once) {
  auto machine = machine_for();
  EXPECT_EQ(machine.saw(lease(3), begin), action::free_lease_now);
  EXPECT_EQ(machine.owner().committed, fencing_token{3});
}

TEST(force_release_machine, has_nothing_to_free_where_nobody_has_it) {
  EXPECT_EQ(machine_for().saw(std::nullopt, begin), action::nothing_to_free);
}

TEST(force_release_machine, spares_another_token) {
  EXPECT_EQ(machine_for(fencing_token{4}).saw(lease(3), begin), action::nothing_to_free);
  EXPECT_EQ(machine_for(fencing_token{3}).saw(lease(3), begin), action::free_lease_now);
}

// A transaction whose token is not known has one that is greater than what was committed.
TEST(force_release_machine, spares_a_transaction_that_took_the_name_after_that_token) {
  EXPECT_EQ(machine_for(fencing_token{3}).saw(transaction(3), begin), action::nothing_to_free);
  EXPECT_EQ(machine_for(fencing_token{4}).saw(transaction(3), begin), action::look_again);
}

TEST(force_release_machine, ends_a_session_only_after_it_was_seen_for_longer_than_a_statement) {
  auto machine = machine_for();
  EXPECT_EQ(machine.saw(transaction(3), begin), action::look_again);
  EXPECT_EQ(machine.saw(transaction(3), begin + 99ms), action::look_again);
  EXPECT_EQ(machine.saw(transaction(3), begin + 100ms), action::end_session_now);
  EXPECT_EQ(machine.saw(transaction(3), begin + 200ms), action::look_again) << "it is told once";
  EXPECT_EQ(machine.saw(std::nullopt, begin + 300ms), action::freed);
}

TEST(force_release_machine, takes_what_was_seen_for_a_moment_for_a_statement) {
  auto machine = machine_for();
  EXPECT_EQ(machine.saw(transaction(3), begin), action::look_again);
  EXPECT_EQ(machine.saw(std::nullopt, begin + 50ms), action::nothing_to_free);
}

TEST(force_release_machine, counts_anew_for_another_session) {
  auto machine = machine_for();
  EXPECT_EQ(machine.saw(transaction(3), begin), action::look_again);
  EXPECT_EQ(machine.saw(transaction(3, session_number{8}), begin + 100ms), action::look_again);
  EXPECT_EQ(machine.saw(transaction(3, session_number{8}), begin + 200ms), action::end_session_now);
}

TEST(force_release_machine, never_touches_the_one_that_comes_after) {
  auto machine = machine_for();
  EXPECT_EQ(machine.saw(transaction(3), begin), action::look_again);
  EXPECT_EQ(machine.saw(transaction(3), begin + 100ms), action::end_session_now);
  EXPECT_EQ(machine.saw(lease(5), begin + 150ms), action::freed);
}

TEST(force_release_machine, ends_the_transaction_that_pins_a_lease) {
  auto machine = machine_for();
  EXPECT_EQ(machine.saw(lease(3, session_number{7}), begin), action::free_lease_now);
  EXPECT_EQ(machine.was_not_freed(begin), action::look_again);
  EXPECT_EQ(machine.saw(lease(3, session_number{7}), begin + 100ms), action::free_lease_now);
  EXPECT_EQ(machine.was_not_freed(begin + 100ms), action::end_session_now);
}

TEST(force_release_machine, looks_twice_before_it_believes_that_a_pin_is_gone) {
  auto machine = machine_for(fencing_token{3});
  EXPECT_EQ(machine.saw(lease(3, session_number{7}), begin), action::free_lease_now);
  EXPECT_EQ(machine.saw(std::nullopt, begin + 1ms), action::look_again) << "the row was changed just then";
  EXPECT_EQ(machine.saw(transaction(3), begin + 101ms), action::end_session_now);
  auto other = machine_for(fencing_token{3});
  EXPECT_EQ(other.saw(lease(3, session_number{7}), begin), action::free_lease_now);
  EXPECT_EQ(other.saw(std::nullopt, begin + 1ms), action::look_again);
  EXPECT_EQ(other.saw(std::nullopt, begin + 2ms), action::freed);
}

// A renewal keeps the row locked beside the pin for a moment, and may be the one that is named.
TEST(force_release_machine, knows_a_pin_that_was_seen_beside_another) {
  auto seen = lease(3, session_number{6});
  seen.other_sessions = {session_number{7}};
  auto machine = machine_for(fencing_token{3});
  EXPECT_EQ(machine.saw(seen, begin), action::free_lease_now);
  EXPECT_EQ(machine.was_not_freed(begin), action::look_again);
  EXPECT_EQ(machine.saw(transaction(3), begin + 50ms), action::look_again) << "it has run out, and is still pinned";
  EXPECT_EQ(machine.saw(transaction(3), begin + 150ms), action::end_session_now);
  EXPECT_EQ(machine.saw(std::nullopt, begin + 200ms), action::freed);
}

TEST(force_release_machine, ends_all_that_pin_a_lease) {
  auto both = transaction(3, session_number{6});
  both.other_sessions = {session_number{7}};
  auto seen = both;
  seen.token = fencing_token{3};
  seen.is_committed = true;
  auto machine = machine_for(fencing_token{3});
  EXPECT_EQ(machine.saw(seen, begin), action::free_lease_now);
  EXPECT_EQ(machine.was_not_freed(begin), action::look_again);
  EXPECT_EQ(machine.saw(both, begin + 100ms), action::end_session_now);
  EXPECT_EQ(machine.owner().session, session_number{6});
  EXPECT_EQ(machine.saw(transaction(3), begin + 110ms), action::look_again) << "the other one keeps it";
  EXPECT_EQ(machine.saw(transaction(3), begin + 210ms), action::end_session_now);
  EXPECT_EQ(machine.owner().session, session_number{7});
  EXPECT_EQ(machine.saw(transaction(3, session_number{8}), begin + 220ms), action::freed) << "who has taken it since";
}

TEST(force_release_machine, gives_up_on_a_session_that_does_not_end) {
  auto machine = machine_for();
  EXPECT_EQ(machine.saw(transaction(3), begin), action::look_again);
  EXPECT_EQ(machine.saw(transaction(3), begin + 1s), action::end_session_now);
  EXPECT_EQ(machine.saw(transaction(3), end), action::not_ended);
}

TEST(force_release_machine, gives_up_where_the_server_does_not_tell_whose_session_it_is) {
  auto machine = machine_for();
  EXPECT_EQ(machine.saw(transaction(3, std::nullopt), begin), action::look_again);
  EXPECT_EQ(machine.saw(transaction(3, std::nullopt), begin + 999ms), action::look_again);
  EXPECT_EQ(machine.saw(transaction(3, std::nullopt), begin + 1s), action::unknown_session);
}

}  // namespace
}  // namespace rowlock
