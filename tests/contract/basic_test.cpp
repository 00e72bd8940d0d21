#include "contract/contract.hpp"

namespace rowlock::test {
namespace {

class basic : public contract {};
ROWLOCK_CONTRACT_SUITE(basic, every_pair());

TEST_P(basic, grants_a_free_name) {
  auto locks = connect();
  const auto held = locks.try_acquire("orders/42", with());
  ASSERT_TRUE(held.has_value());
  EXPECT_TRUE(static_cast<bool>(*held));
  EXPECT_EQ(held->name(), lock_name{"orders/42"});
  EXPECT_EQ(held->strategy(), GetParam().strategy);
  EXPECT_GT(held->token(), fencing_token{0});
  EXPECT_FALSE(held->lost().stop_requested());
  EXPECT_TRUE(held->lost().stop_possible());
  EXPECT_EQ(held->why_lost(), loss_reason::none);
}

TEST_P(basic, acquire_grants_a_free_name_without_waiting) {
  auto locks = connect();
  const auto held = locks.acquire("orders/42", with());
  EXPECT_TRUE(static_cast<bool>(held));
  EXPECT_EQ(held.name().view(), "orders/42");
}

TEST_P(basic, refuses_a_second_client) {
  auto first = connect();
  auto second = connect();
  const auto held = first.acquire("orders/42", with());
  EXPECT_FALSE(can_have(second, "orders/42"));
  EXPECT_FALSE(can_have(second, "orders/42")) << "the refusal must not change anything";
  EXPECT_FALSE(held.lost().stop_requested());
}

TEST_P(basic, refuses_the_same_thread_of_the_same_client) {
  auto locks = connect();
  const auto held = locks.acquire("orders/42", with());
  EXPECT_FALSE(can_have(locks, "orders/42"));
}

TEST_P(basic, leaves_other_names_free) {
  auto first = connect();
  auto second = connect();
  const auto held = first.acquire("orders/42", with());
  const auto other = second.try_acquire("orders/43", with());
  EXPECT_TRUE(other.has_value());
  EXPECT_TRUE(can_have(first, "orders/44"));
}

TEST_P(basic, frees_the_name_by_release) {
  auto first = connect();
  auto second = connect();
  auto held = first.acquire("orders/42", with());
  held.release();
  auto next = second.try_acquire("orders/42", with());
  ASSERT_TRUE(next.has_value());
  EXPECT_FALSE(can_have(first, "orders/42"));
  next->release();
  EXPECT_TRUE(can_have(first, "orders/42"));
}

TEST_P(basic, can_be_had_right_after_release_ten_times_over) {
  auto first = connect();
  auto second = connect();
  for (int i = 0; i < 10; ++i) {
    auto& locks = i % 2 == 0 ? first : second;
    auto held = locks.try_acquire("orders/42", with());
    ASSERT_TRUE(held.has_value()) << "cycle " << i;
    held->release();
  }
}

TEST_P(basic, frees_the_name_when_the_handle_is_dropped) {
  auto first = connect();
  auto second = connect();
  {
    const auto held = first.acquire("orders/42", with());
    EXPECT_FALSE(can_have(second, "orders/42"));
  }
  EXPECT_TRUE(can_have(second, "orders/42"));
}

TEST_P(basic, a_moved_handle_keeps_the_lock) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", with());
  const auto token = held.token();
  held_lock moved{std::move(held)};
  EXPECT_FALSE(static_cast<bool>(held));  // NOLINT(bugprone-use-after-move): what is left is empty, by contract
  EXPECT_TRUE(static_cast<bool>(moved));
  EXPECT_EQ(moved.token(), token);
  EXPECT_FALSE(can_have(locks, "orders/42"));
  moved.release();
  EXPECT_TRUE(can_have(locks, "orders/42"));
}

TEST_P(basic, move_assignment_releases_what_was_held_before) {
  auto locks = connect();
  auto one = locks.acquire("one", with());
  auto two = locks.acquire("two", with());
  one = std::move(two);
  EXPECT_EQ(one.name().view(), "two");
  EXPECT_TRUE(can_have(locks, "one"));
  EXPECT_FALSE(can_have(locks, "two"));
  one = held_lock{};
  EXPECT_TRUE(can_have(locks, "two"));
}

TEST_P(basic, an_empty_handle_answers_not_held) {
  held_lock empty;
  EXPECT_FALSE(static_cast<bool>(empty));
  EXPECT_TRUE(empty.lost().stop_requested());
  EXPECT_EQ(empty.why_lost(), loss_reason::none);
  EXPECT_TRUE(throws(errc::not_held, [&] { static_cast<void>(empty.name()); }));
  EXPECT_TRUE(throws(errc::not_held, [&] { static_cast<void>(empty.token()); }));
  EXPECT_TRUE(throws(errc::not_held, [&] { static_cast<void>(empty.strategy()); }));
  EXPECT_TRUE(throws(errc::not_held, [&] { static_cast<void>(empty.expires_in()); }));
  EXPECT_TRUE(throws(errc::not_held, [&] { empty.extend(1s); }));
  EXPECT_TRUE(throws(errc::not_held, [&] { empty.release(); }));
}

TEST_P(basic, a_moved_from_handle_answers_not_held) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", with());
  const auto moved = std::move(held);
  EXPECT_TRUE(throws(errc::not_held, [&] { held.release(); }));  // NOLINT(bugprone-use-after-move)
  EXPECT_TRUE(throws(errc::not_held, [&] { static_cast<void>(held.token()); }));
  EXPECT_FALSE(moved.lost().stop_requested());
  EXPECT_FALSE(can_have(locks, "orders/42"));
}

TEST_P(basic, a_handle_may_be_let_go_by_another_thread) {
  auto locks = connect();
  auto held = locks.acquire("orders/42", with());
  background elsewhere{[handle = std::move(held)](std::stop_token) mutable { handle.release(); }};
  elsewhere.get();
  EXPECT_TRUE(can_have(locks, "orders/42"));
}

TEST_P(basic, works_while_another_transaction_is_open_on_the_same_tables) {
  auto locks = connect();
  auto before = locks.acquire("before", with());
  const auto reader = db().reader();
  before.release();
  auto held = locks.acquire("orders/42", with());
  EXPECT_FALSE(can_have(locks, "orders/42"));
  held.release();
  EXPECT_TRUE(can_have(locks, "before"));
}

TEST_P(basic, a_vacant_row_and_a_deleted_row_are_both_free) {
  auto locks = connect();
  locks.acquire("orders/42", with()).release();
  ASSERT_TRUE(db().row("orders/42").has_value());
  EXPECT_TRUE(can_have(locks, "orders/42"));
  db().erase("orders/42");
  EXPECT_TRUE(can_have(locks, "orders/42"));
}

}  // namespace
}  // namespace rowlock::test
