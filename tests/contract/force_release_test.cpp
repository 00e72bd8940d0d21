#include <optional>

#include "contract/contract.hpp"

namespace rowlock::test {
namespace {

/// An operator frees a name, whoever has it.
class force_release : public contract {
 protected:
  /// Whoever holds has to hear of it soon: by a renewal, or by what is asked for as often where there is no lease.
  static constexpr auto short_lease = 3s;
  static client_options soon() { return {.transaction_limit = short_lease}; }

  loss_reason expected_reason() const {
    return GetParam().holds_by_transaction ? loss_reason::session_ended : loss_reason::forced;
  }
};
ROWLOCK_CONTRACT_SUITE(force_release, every_pair());
class force_release_of_leases : public force_release {};
ROWLOCK_CONTRACT_SUITE(force_release_of_leases, leases(every_pair()));
class force_release_of_rows : public force_release {};
ROWLOCK_CONTRACT_SUITE(force_release_of_rows, rows(every_pair()));

TEST_P(force_release, takes_the_lock_from_a_holder_who_lives) {
  auto locks = connect(soon());
  auto desk = connect();
  const auto held = locks.acquire("orders/42", with({.lease = short_lease}));
  const auto other = locks.acquire("orders/43", with());
  EXPECT_TRUE(desk.force_release("orders/42"));
  const auto next = desk.try_acquire("orders/42", with());
  ASSERT_TRUE(next.has_value()) << "at once";
  EXPECT_GT(next->token(), held.token());
  EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
  EXPECT_EQ(held.why_lost(), expected_reason()) << to_string(held.why_lost());
  EXPECT_FALSE(next->lost().stop_requested());
  EXPECT_FALSE(other.lost().stop_requested()) << "what has another name is left alone";
}

TEST_P(force_release, is_heard_of_as_such_where_nobody_has_taken_it_since) {
  auto locks = connect(soon());
  auto desk = connect();
  const auto held = locks.acquire("orders/42", with({.lease = short_lease}));
  EXPECT_TRUE(desk.force_release("orders/42"));
  EXPECT_FALSE(desk.find("orders/42").has_value());
  EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
  EXPECT_EQ(held.why_lost(), expected_reason()) << to_string(held.why_lost());
  EXPECT_FALSE(desk.find("orders/42").has_value()) << "its holder does not take it again";
}

TEST_P(force_release, frees_nothing_where_nobody_has_it) {
  auto locks = connect();
  EXPECT_FALSE(locks.force_release("orders/42")) << "never heard of";
  locks.acquire("orders/42", with()).release();
  const auto token = db().row("orders/42").value().version;
  EXPECT_FALSE(locks.force_release("orders/42")) << "vacant";
  EXPECT_EQ(db().row("orders/42").value().version, token) << "and changes nothing";
}

TEST_P(force_release_of_leases, frees_nothing_where_the_lease_has_ended) {
  auto locks = connect();
  auto desk = connect();
  const auto held = locks.acquire("orders/42", with({.lease = 100ms, .renew = false}));
  ASSERT_TRUE(eventually([&] { return !desk.find("orders/42").has_value(); }));
  EXPECT_FALSE(desk.force_release("orders/42"));
  EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
  EXPECT_EQ(held.why_lost(), loss_reason::expired);
}

TEST_P(force_release, a_second_time_frees_nothing) {
  auto locks = connect();
  auto desk = connect();
  const auto held = locks.acquire("orders/42", with());
  EXPECT_TRUE(desk.force_release("orders/42"));
  EXPECT_FALSE(desk.force_release("orders/42"));
}

TEST_P(force_release, with_a_token_frees_that_one_alone) {
  auto locks = connect();
  auto desk = connect();
  const auto held = locks.acquire("orders/42", with());
  const bool is_known = desk.find("orders/42").value().token != fencing_token{};
  if (is_known) {
    EXPECT_FALSE(desk.force_release("orders/42", fencing_token{held.token().value() + 1}));
    EXPECT_FALSE(desk.force_release("orders/42", fencing_token{held.token().value() - 1}));
    EXPECT_TRUE(desk.find("orders/42").has_value());
    EXPECT_FALSE(held.lost().stop_requested());
  }
  EXPECT_TRUE(desk.force_release("orders/42", held.token()));
  EXPECT_FALSE(desk.find("orders/42").has_value());
}

TEST_P(force_release_of_rows, with_the_token_of_one_who_has_gone_leaves_the_next_alone) {
  auto locks = connect();
  auto desk = connect();
  auto held = locks.acquire("orders/42", with());
  const auto gone = held.token();
  held.release();
  const auto next = locks.acquire("orders/42", with());
  EXPECT_FALSE(desk.force_release("orders/42", gone));
  EXPECT_EQ(desk.find("orders/42").value().token, next.token());
}

TEST_P(force_release_of_leases, frees_what_is_released_later) {
  auto locks = connect();
  auto desk = connect();
  locks.acquire("orders/42", with({.lease = 1h, .at_least = 30min})).release();
  ASSERT_FALSE(can_have(desk, "orders/42"));
  EXPECT_TRUE(desk.force_release("orders/42"));
  EXPECT_TRUE(can_have(desk, "orders/42"));
}

TEST_P(force_release, of_a_lock_of_the_same_client_is_heard_of_at_once) {
  const recorder told;
  auto locks = connect({.observer = told.observer()});
  auto held = locks.acquire("orders/42", with());
  EXPECT_TRUE(locks.force_release("orders/42"));
  EXPECT_TRUE(GetParam().holds_by_transaction || held.lost().stop_requested());
  EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
  EXPECT_EQ(held.why_lost(), expected_reason()) << to_string(held.why_lost());
  EXPECT_TRUE(eventually([&] { return told.lost("orders/42"); }));
  EXPECT_TRUE(throws(errc::lock_lost, [&] { held.release(); }));
  EXPECT_TRUE(can_have(locks, "orders/42"));
}

TEST_P(force_release, lets_the_next_in_who_waits) {
  for (const auto turns : {fairness::unfair, fairness::fifo}) {
    auto locks = connect();
    auto other = connect();
    auto desk = connect();
    const auto held = locks.acquire("orders/42", with());
    background waiter{
        [&](std::stop_token stop) { return other.acquire("orders/42", with({.fairness = turns}), stop); }};
    ASSERT_TRUE(eventually([&] { return desk.waiters("orders/42").size() == 1; }));
    EXPECT_FALSE(waiter.is_done_within(a_moment));
    EXPECT_TRUE(desk.force_release("orders/42"));
    const auto next = waiter.get();
    EXPECT_GT(next.token(), held.token());
    EXPECT_TRUE(eventually([&] { return desk.waiters("orders/42").empty(); })) << "its ticket may go after the grant";
  }
}

TEST_P(force_release, lets_in_one_who_waits_in_the_client_that_frees_it) {
  auto locks = connect();
  auto desk = connect();
  const auto held = locks.acquire("orders/42", with());
  background waiter{[&](std::stop_token stop) { return desk.acquire("orders/42", with(), stop); }};
  ASSERT_TRUE(eventually([&] { return desk.waiters("orders/42").size() == 1; }));
  EXPECT_TRUE(desk.force_release("orders/42"));
  EXPECT_GT(waiter.get().token(), held.token());
}

TEST_P(force_release, of_a_closed_client_is_refused) {
  auto locks = connect();
  locks.close();
  EXPECT_TRUE(throws(errc::client_closed, [&] { locks.force_release("orders/42"); }));
}

}  // namespace
}  // namespace rowlock::test
