#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "contract/contract.hpp"
#include "support/room.hpp"
#include "support/slowness.hpp"
#include "support/test_thread.hpp"

namespace rowlock::test {
namespace {

/// A name in each of two databases.
class multi : public contract {
 protected:
  multi() { shop_->migrate(); }
  client connect_far(client_options options = {}) {
    if (GetParam().holds_by_transaction) options.held_transactions = 16;
    return connect_patiently(far_->url(), std::move(options));
  }

  std::vector<multi_lock::part> parts() { return {{*stock_, "item"}, {*shop_, "order"}}; }
  std::vector<multi_lock::part> parts_backwards() { return {{*shop_, "order"}, {*stock_, "item"}}; }
  bool are_free() { return can_have(*stock_, "item") && can_have(*shop_, "order"); }

  std::unique_ptr<database> far_ = GetParam().open();
  std::optional<client> stock_{connect()};
  std::optional<client> shop_{connect_far()};
};
ROWLOCK_CONTRACT_SUITE(multi, usual_pairs());

TEST_P(multi, has_all_of_them_in_the_order_given) {
  multi_lock both{parts_backwards(), with()};
  auto held = both.acquire();
  ASSERT_EQ(held.size(), 2U);
  EXPECT_EQ(held.locks()[0].name().view(), "order");
  EXPECT_EQ(held.locks()[1].name().view(), "item");
  EXPECT_FALSE(can_have(*stock_, "item"));
  EXPECT_FALSE(can_have(*shop_, "order"));
  EXPECT_FALSE(both.try_acquire());
  EXPECT_FALSE(held.lost().stop_requested());
  held.release();
  EXPECT_TRUE(are_free());
  EXPECT_TRUE(both.try_acquire());
}

TEST_P(multi, lets_go_of_what_it_has_when_it_is_refused_another) {
  multi_lock both{parts(), with()};
  auto taken = shop_->acquire("order", with());
  EXPECT_FALSE(both.try_acquire());
  EXPECT_TRUE(can_have(*stock_, "item"));
  taken.release();
  const auto first = stock_->acquire("item", with());
  EXPECT_FALSE(both.try_acquire());
  EXPECT_TRUE(can_have(*shop_, "order"));
}

TEST_P(multi, waits_while_it_holds_nothing) {
  auto taken = shop_->acquire("order", with());
  background waiter{[&](std::stop_token stop) {
    multi_lock both{parts(), with()};
    return both.acquire(std::move(stop));
  }};
  ASSERT_TRUE(eventually([&] { return far_->tickets() == 1; })) << "it waits for the one that was refused";
  EXPECT_TRUE(can_have(*stock_, "item"));
  taken.release();
  auto held = waiter.get();
  ASSERT_EQ(held.size(), 2U);
  EXPECT_EQ(held.locks()[0].name().view(), "item") << "in the order given, whichever was waited for";
  EXPECT_EQ(held.locks()[1].name().view(), "order");
}

TEST_P(multi, is_waited_for_until_the_deadline_or_a_stop) {
  multi_lock both{parts(), with()};
  const auto taken = shop_->acquire("order", with());
  const stopwatch watch;
  EXPECT_FALSE(both.try_acquire_for(150ms));
  EXPECT_GE(watch.elapsed(), 150ms);
  EXPECT_LT(watch.elapsed(), 150ms + slack());
  EXPECT_FALSE(both.try_acquire_for(-1s));
  background waiter{[&](const std::stop_token& stop) {
    EXPECT_FALSE(both.try_acquire_for(patience * 2, stop));
    return error_of([&] { return static_cast<bool>(both.acquire(stop)); });
  }};
  EXPECT_FALSE(waiter.is_done_within(a_moment));
  waiter.stop();
  EXPECT_EQ(waiter.get()->code(), errc::cancelled);
  EXPECT_TRUE(can_have(*stock_, "item"));
}

TEST_P(multi, throws_the_error_of_one_and_lets_go_of_the_rest) {
  multi_lock both{parts(), with()};
  shop_->close();
  EXPECT_TRUE(throws(errc::client_closed, [&] { static_cast<void>(both.try_acquire()); }));
  EXPECT_TRUE(throws(errc::client_closed, [&] { static_cast<void>(both.acquire()); }));
  EXPECT_TRUE(can_have(*stock_, "item"));
}

TEST_P(multi, may_have_several_names_of_one_database) {
  multi_lock both{{{*stock_, "a"}, {*stock_, "b"}}, with()};
  const auto held = both.acquire();
  EXPECT_FALSE(can_have(*stock_, "a"));
  EXPECT_FALSE(can_have(*stock_, "b"));
}

TEST_P(multi, needs_parts_that_differ) {
  EXPECT_TRUE(throws(errc::invalid_option, [&] { const multi_lock none{{}, with()}; }));
  const auto twice = [&] { const multi_lock same{{{*stock_, "a"}, {*shop_, "a"}, {*stock_, "a"}}, with()}; };
  EXPECT_TRUE(throws(errc::invalid_option, twice));
  EXPECT_TRUE(throws(errc::invalid_option, [&] { const multi_lock short_lease{parts(), {.lease = 1ms}}; }));
  EXPECT_TRUE(throws(errc::unsupported, [&] { const multi_lock stays{parts(), {.at_least = 1s}}; }));
}

TEST_P(multi, never_deadlocks_in_opposite_orders_and_is_had_by_one_at_a_time) {
  constexpr int rounds = 8;
  auto other_stock = connect();
  auto other_shop = connect_far();
  room inside;
  const auto visit = [&](std::vector<multi_lock::part> in_this_order) {
    multi_lock both{std::move(in_this_order), with()};
    for (int i = 0; i < rounds; ++i) {
      const auto held = both.try_acquire_for(patience);
      if (held) inside.visit();
    }
  };
  {
    const test_thread one{[&] { visit(parts()); }};
    const test_thread two{[&] { visit(parts_backwards()); }};
    const test_thread three{[&] { visit({{other_shop, "order"}, {other_stock, "item"}}); }};
    const test_thread four{[&] { visit({{other_stock, "item"}, {other_shop, "order"}}); }};
  }
  EXPECT_EQ(inside.visits(), 4 * rounds);
  EXPECT_EQ(inside.crowded(), 0);
  EXPECT_TRUE(are_free());
}

}  // namespace
}  // namespace rowlock::test
