#include <optional>

#include "contract/contract.hpp"

namespace rowlock::test {
namespace {

/// An operator frees a name, whoever has it.
class force_release : public two_clients {
 protected:
  /// Whoever holds has to hear of it soon: by a renewal, or by what is asked for as often where there is no lease.
  static constexpr auto short_lease = 3s;
  static client_options soon() { return {.transaction_limit = short_lease}; }

  loss_reason expected_reason() const {
    return GetParam().holds_by_transaction ? loss_reason::session_ended : loss_reason::forced;
  }
};
ROWLOCK_CONTRACT_SUITE(force_release, usual_pairs());
class force_release_of_leases : public force_release {};
ROWLOCK_CONTRACT_SUITE(force_release_of_leases, leases(usual_pairs()));

TEST_P(force_release, takes_the_lock_from_a_holder_who_lives) {
  auto locks = connect(soon());
  for (const bool is_taken : {true, false}) {
    const auto held = locks.acquire("orders/42", with({.lease = short_lease}));
    const auto beside = locks.acquire("orders/43", with());
    EXPECT_TRUE(other_.force_release("orders/42"));
    EXPECT_FALSE(other_.find("orders/42").has_value());
    EXPECT_FALSE(other_.force_release("orders/42")) << "a second time";
    const auto next = is_taken ? other_.try_acquire("orders/42", with()) : std::nullopt;
    ASSERT_EQ(next.has_value(), is_taken) << "at once";
    EXPECT_TRUE(!next || next->token() > held.token());
    EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_EQ(held.why_lost(), expected_reason()) << to_string(held.why_lost());
    EXPECT_TRUE(!next || !next->lost().stop_requested());
    EXPECT_EQ(other_.find("orders/42").has_value(), is_taken) << "its holder does not take it again";
    EXPECT_FALSE(beside.lost().stop_requested()) << "what has another name is left alone";
  }
}

TEST_P(force_release, frees_nothing_where_nobody_has_it) {
  EXPECT_FALSE(locks_.force_release("orders/42")) << "never heard of";
  locks_.acquire("orders/42", with()).release();
  const auto token = db().row("orders/42").value().version;
  EXPECT_FALSE(locks_.force_release("orders/42")) << "vacant";
  EXPECT_EQ(db().row("orders/42").value().version, token) << "and changes nothing";
  if (!GetParam().has_lease) return;
  const auto held = locks_.acquire("orders/42", with({.lease = 100ms, .renew = false}));
  ASSERT_TRUE(eventually([&] { return !other_.find("orders/42").has_value(); }));
  EXPECT_FALSE(other_.force_release("orders/42")) << "expired";
  EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
  EXPECT_EQ(held.why_lost(), loss_reason::expired);
}

TEST_P(force_release, with_a_token_frees_that_one_alone) {
  const auto former = locks_.acquire("orders/42", with()).token().value();
  const auto held = locks_.acquire("orders/42", with());
  const auto token = held.token().value();
  const bool is_known = other_.find("orders/42").value().token == held.token();
  EXPECT_TRUE(is_known || GetParam().holds_by_transaction);
  for (const auto wrong : is_known ? std::vector{former, token - 1, token + 1} : std::vector<std::int64_t>{}) {
    EXPECT_FALSE(other_.force_release("orders/42", fencing_token{wrong})) << wrong;
    EXPECT_EQ(other_.find("orders/42").value().token, held.token());
    EXPECT_FALSE(held.lost().stop_requested());
  }
  EXPECT_TRUE(other_.force_release("orders/42", held.token()));
  EXPECT_FALSE(other_.find("orders/42").has_value());
}

TEST_P(force_release_of_leases, frees_what_is_released_later) {
  locks_.acquire("orders/42", with({.lease = 1h, .at_least = 30min})).release();
  ASSERT_FALSE(can_have(other_, "orders/42"));
  EXPECT_TRUE(other_.force_release("orders/42"));
  EXPECT_TRUE(can_have(other_, "orders/42"));
}

TEST_P(force_release, of_a_lock_of_the_same_client_is_heard_of_at_once) {
  auto held = locks_.acquire("orders/42", with());
  EXPECT_TRUE(locks_.force_release("orders/42"));
  EXPECT_TRUE(GetParam().holds_by_transaction || held.lost().stop_requested());
  EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
  EXPECT_EQ(held.why_lost(), expected_reason()) << to_string(held.why_lost());
  EXPECT_TRUE(eventually([&] { return told_.lost("orders/42"); }));
  EXPECT_TRUE(throws(errc::lock_lost, [&] { held.release(); }));
  EXPECT_TRUE(can_have(locks_, "orders/42"));
}

TEST_P(force_release, lets_the_next_in_who_waits) {
  auto desk = connect();
  for (auto* const waiting : {&other_, &desk})
    for (const auto turns : {fairness::unfair, fairness::fifo}) {
      const auto held = locks_.acquire("orders/42", with());
      background waiter{
          [&](std::stop_token stop) { return waiting->acquire("orders/42", with({.fairness = turns}), stop); }};
      ASSERT_TRUE(eventually([&] { return desk.waiters("orders/42").size() == 1; }));
      EXPECT_FALSE(waiter.is_done_within(a_moment));
      EXPECT_TRUE(desk.force_release("orders/42"));
      const auto next = waiter.get();
      EXPECT_GT(next.token(), held.token());
      EXPECT_TRUE(eventually([&] { return desk.waiters("orders/42").empty(); })) << "its ticket may go after the grant";
    }
}

}  // namespace
}  // namespace rowlock::test
