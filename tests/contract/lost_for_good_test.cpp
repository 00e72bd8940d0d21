#include <optional>
#include <utility>

#include "contract/contract.hpp"
#include "contract/stuck_callback.hpp"

namespace rowlock::test {
namespace {

/// A lock that was called lost stays lost: nobody may stop its work, and then find another at work under the same
/// token.
class lost_for_good : public contract {
 protected:
  client connect_with_short_calls(client_options options = {}) {
    connect().close();
    options.call_timeout = 150ms;
    return connect_bare(std::move(options));
  }

  /// The answer to an extend does not come, and so the lock is believed in no longer than that; in the database it
  /// lasts.
  void lose_by_the_clock(held_lock& held) {
    const auto in_the_way = db().stall();
    EXPECT_TRUE(error_of([&] { held.extend(100ms); }).has_value());
    EXPECT_TRUE(eventually([&] { return held.why_lost() != loss_reason::none; }));
  }

  static std::uint64_t losses(const client& of) {
    std::uint64_t all = 0;
    for (const auto& each : of.stats().losses) all += each.lost;
    return all;
  }
};
ROWLOCK_CONTRACT_SUITE(lost_for_good, leases(every_pair()));

// Meanwhile nothing is heard of the callback of another lock that was lost, whatever thread it runs on.
TEST_P(lost_for_good, not_extended_or_renewed_and_told_of_once) {
  const recorder told;
  auto locks = connect_with_short_calls({.observer = told.observer()});
  auto held = locks.acquire("orders/42", with({.lease = 3s}));
  const auto lost = held.lost();
  const auto other = locks.acquire("other", with({.lease = 3s}));
  stuck_callback slow{other};
  db().vacate("other");  // now, since the callback of a lock that is lost already would run in this thread
  ASSERT_TRUE(slow.entered.within());
  lose_by_the_clock(held);
  EXPECT_TRUE(throws(errc::lock_lost, [&] { held.extend(1h); }));
  EXPECT_TRUE(connect().try_acquire_for("orders/42", patience, with()).has_value());
  EXPECT_NE(held.why_lost(), loss_reason::none);
  EXPECT_EQ(held.expires_in(), duration::zero());
  slow.let_go.happens();
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
  EXPECT_TRUE(throws(errc::lock_lost, [&] { held.release(); }));
  EXPECT_TRUE(eventually([&] { return told.losses().size() == 2; }));
  locks.close();
  EXPECT_EQ(told.losses().size(), 2U) << "each is told once";
  EXPECT_EQ(losses(locks), 2U);
}

// Nobody else comes by before the handle goes.
TEST_P(lost_for_good, told_of_though_its_handle_went_at_once) {
  const recorder told;
  auto locks = connect_with_short_calls({.observer = told.observer()});
  auto held = std::optional{locks.acquire("orders/42", with({.lease = 3s}))};
  const auto lost = held->lost();
  lose_by_the_clock(*held);
  held.reset();
  EXPECT_TRUE(eventually([&] { return lost.stop_requested(); }));
  EXPECT_TRUE(eventually([&] { return told.lost("orders/42"); }));
  EXPECT_EQ(losses(locks), 1U);
}

// The next holder's lease is the shorter one.
TEST_P(lost_for_good, a_renewal_leaves_the_next_holder_alone) {
  auto locks = connect();
  auto beside = connect();
  const auto held = locks.acquire("orders/42", with({.lease = 3s}));
  db().vacate("orders/42");
  const auto next = beside.acquire("orders/42", with({.lease = 2s, .renew = false}));
  const auto end = db().row("orders/42").value().expires_at;
  ASSERT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
  EXPECT_EQ(db().row("orders/42").value().expires_at, end);
}

}  // namespace
}  // namespace rowlock::test
