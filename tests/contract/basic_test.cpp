#include "contract/contract.hpp"

namespace rowlock::test {
namespace {

class basic : public two_clients {};
ROWLOCK_CONTRACT_SUITE(basic, every_pair());

TEST_P(basic, grants_a_free_name) {
  std::optional<held_lock> ways[] = {locks_.try_acquire("orders/42", with()), locks_.acquire("orders/43", with())};
  for (const auto& held : ways) {
    ASSERT_TRUE(held.has_value());
    EXPECT_TRUE(static_cast<bool>(*held));
    EXPECT_EQ(held->strategy(), GetParam().strategy);
    EXPECT_GT(held->token(), fencing_token{0});
    EXPECT_FALSE(held->lost().stop_requested());
    EXPECT_TRUE(held->lost().stop_possible());
    EXPECT_EQ(held->why_lost(), loss_reason::none);
  }
  EXPECT_EQ(ways[0]->name(), lock_name{"orders/42"});
}

TEST_P(basic, refuses_a_name_while_it_is_held_and_grants_it_right_after_the_release_ten_times_over) {
  for (int i = 0; i < 10; ++i) {
    auto& own = i % 2 == 0 ? locks_ : other_;
    auto& another = i % 2 == 0 ? other_ : locks_;
    auto held = own.try_acquire("orders/42", with());
    ASSERT_TRUE(held.has_value()) << "cycle " << i;
    EXPECT_FALSE(can_have(another, "orders/42"));
    EXPECT_FALSE(can_have(another, "orders/42")) << "the refusal must not change anything";
    EXPECT_FALSE(can_have(own, "orders/42")) << "nor is it for the same thread of the same client";
    EXPECT_FALSE(held->lost().stop_requested());
    if (i % 3 != 0) held->release();
  }
}

TEST_P(basic, a_moved_handle_keeps_the_lock) {
  auto held = locks_.acquire("orders/42", with());
  const auto token = held.token();
  held_lock moved{std::move(held)};
  EXPECT_FALSE(static_cast<bool>(held));  // NOLINT(bugprone-use-after-move): what is left is empty, by contract
  EXPECT_TRUE(throws(errc::not_held, [&] { held.release(); }));
  EXPECT_TRUE(throws(errc::not_held, [&] { static_cast<void>(held.token()); }));
  EXPECT_TRUE(static_cast<bool>(moved));
  EXPECT_EQ(moved.token(), token);
  EXPECT_FALSE(can_have(locks_, "orders/42"));
  moved.release();
  EXPECT_TRUE(can_have(locks_, "orders/42"));
}

TEST_P(basic, move_assignment_releases_what_was_held_before) {
  auto one = locks_.acquire("one", with());
  auto two = locks_.acquire("two", with());
  one = std::move(two);
  EXPECT_EQ(one.name().view(), "two");
  EXPECT_TRUE(can_have(locks_, "one"));
  EXPECT_FALSE(can_have(locks_, "two"));
  one = held_lock{};
  EXPECT_TRUE(can_have(locks_, "two"));
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

TEST_P(basic, a_handle_may_be_let_go_by_another_thread) {
  auto held = locks_.acquire("orders/42", with());
  background elsewhere{[handle = std::move(held)](std::stop_token) mutable { handle.release(); }};
  elsewhere.get();
  EXPECT_TRUE(can_have(locks_, "orders/42"));
}

TEST_P(basic, works_while_another_transaction_is_open_on_the_same_tables) {
  auto before = locks_.acquire("before", with());
  const auto reader = db().reader();
  before.release();
  auto held = locks_.acquire("orders/42", with());
  EXPECT_FALSE(can_have(locks_, "orders/42"));
  held.release();
  EXPECT_TRUE(can_have(locks_, "before"));
}

}  // namespace
}  // namespace rowlock::test
