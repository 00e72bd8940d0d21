#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "contract/queueing.hpp"
#include "support/slowness.hpp"

namespace rowlock::test {
namespace {

constexpr const char* name = "nightly";

class at_least : public two_clients {
 protected:
  static std::int64_t us(duration d) { return d.count(); }
  lock_row row() { return db().row(name).value(); }
  bool is_vacant() { return !row().owner.has_value(); }
  /// When it ends that stays so long since it was granted.
  std::int64_t end_of(duration stay) { return row().acquired_at.value() + us(stay); }
  void wait_until(std::int64_t t) {
    ASSERT_TRUE(eventually([&] { return db().now() >= t; }));
  }

  /// The name stays taken until `stay` after its grant, and no longer.
  void expect_stay(client& other, std::int64_t version, duration stay) {
    const auto before = row();
    EXPECT_TRUE(before.owner.has_value());
    EXPECT_EQ(before.version, version) << "it is no change of ownership";
    EXPECT_EQ(before.expires_at.value(), before.acquired_at.value() + us(stay));
    const auto next = other.acquire(name, with());
    EXPECT_GE(row().acquired_at.value(), before.expires_at.value());
    EXPECT_LT(row().acquired_at.value() - before.expires_at.value(), us(slack()));
    EXPECT_GT(next.token().value(), version);
  }
};
ROWLOCK_CONTRACT_SUITE(at_least, leases(usual_pairs()));

TEST_P(at_least, keeps_others_out_after_an_early_release_and_lets_them_in_then) {
  for (const duration lease : {duration{1h}, duration{on_this_machine(1s)}}) {
    auto held = locks_.acquire(name, with({.lease = lease, .at_least = 1500ms}));
    const auto version = held.token().value();
    const auto lost = held.lost();
    held.release();
    EXPECT_FALSE(lost.stop_requested());
    EXPECT_FALSE(can_have(other_, name));
    EXPECT_FALSE(can_have(locks_, name));
    expect_stay(other_, version, 1500ms);
  }
}

TEST_P(at_least, is_honoured_by_every_way_of_letting_go) {
  const auto options = with({.lease = 1h, .at_least = 800ms});
  const auto give_all_up = [&](client& locks, void (rowlock::client::*gives_up)(), loss_reason why) {
    const auto held = locks.acquire(name, options);
    const auto beside = locks.acquire("another", with());
    (locks.*gives_up)();
    EXPECT_EQ(held.why_lost(), why);
    EXPECT_TRUE(can_have(other_, "another"));
  };
  const std::vector<std::pair<std::string, std::function<void(client&)>>> ways{
      {"destructor", [&](client& locks) { const auto held = locks.acquire(name, options); }},
      {"assignment",
       [&](client& locks) {
         auto held = locks.acquire(name, options);
         held = locks.acquire("another", with());
       }},
      {"unlock",
       [&](client& locks) {
         mutex nightly{locks, name, options};
         nightly.lock();
         nightly.unlock();
       }},
      {"mutex",
       [&](client& locks) {
         mutex nightly{locks, name, options};
         nightly.lock();
       }},
      {"release_all", [&](client& locks) { give_all_up(locks, &client::release_all, loss_reason::forced); }},
      {"close", [&](client& locks) { give_all_up(locks, &client::close, loss_reason::client_closed); }},
      {"client", [&](client& locks) {
         const auto held = locks.acquire(name, options);
         const client gone = std::move(locks);
       }}};
  for (const auto& [way, let_go] : ways) {
    SCOPED_TRACE(way);
    auto locks = connect();
    let_go(locks);
    expect_stay(other_, row().version, 800ms);
  }
}

TEST_P(at_least, is_over_for_a_release_that_comes_later) {
  auto held = locks_.acquire(name, with({.lease = 1h, .at_least = 300ms}));
  const stopwatch since;
  const auto version = held.token().value();
  ASSERT_TRUE(eventually([&] { return since.elapsed() >= 300ms; }));
  held.release();
  EXPECT_TRUE(is_vacant());
  EXPECT_GT(row().version, version);
  EXPECT_TRUE(can_have(locks_, name));
}

TEST_P(at_least, shows_the_late_holder_meanwhile) {
  auto held = locks_.acquire(name, with({.lease = 1h, .at_least = 30s, .note = "the short one"}));
  const auto token = held.token();
  held.release();
  const auto found = other_.find(name);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->token, token);
  EXPECT_EQ(found->note, "the short one");
  EXPECT_FALSE(found->owner.empty());
  EXPECT_EQ(found->thread, "(released)");
  ASSERT_TRUE(found->expires_in.has_value());
  EXPECT_GT(*found->expires_in, 0s);
  EXPECT_LE(*found->expires_in, 30s);
  EXPECT_EQ(other_.list().size(), 1U);
}

TEST_P(at_least, is_for_the_late_holder_too) {
  const auto options = with({.lease = 1h, .at_least = 3s, .as = holder::named("job")});
  const auto first = locks_.acquire(name, options).token();
  EXPECT_FALSE(locks_.try_acquire(name, options).has_value());
  mutex nightly{locks_, name, options};
  EXPECT_FALSE(nightly.try_lock());
  const auto end = end_of(3s);
  EXPECT_GT(locks_.acquire(name, options).token(), first);
  EXPECT_GE(row().acquired_at.value(), end);
}

TEST_P(at_least, is_that_of_the_first_of_several_acquisitions) {
  const auto by = holder::named("job");
  auto first = locks_.acquire(name, with({.lease = 1h, .at_least = 30s, .as = by}));
  auto second = locks_.acquire(name, with({.lease = 1h, .at_least = 2h, .as = by}));
  first.release();
  EXPECT_EQ(second.why_lost(), loss_reason::none);
  EXPECT_GT(row().expires_at.value(), end_of(50min)) << "it is held still";
  second.release();
  EXPECT_EQ(row().expires_at.value(), end_of(30s));
}

TEST_P(at_least, ends_renewing) {
  const auto lease = on_this_machine(1s);
  auto held = locks_.acquire(name, with({.lease = lease, .at_least = 30s}));
  const auto beside = locks_.acquire("beside", with({.lease = lease}));
  held.release();
  const auto end = db().row("beside").value().expires_at.value();
  ASSERT_TRUE(eventually([&] { return db().row("beside").value().expires_at.value() > end + us(lease); }))
      << "the renewer has been round more than once";
  EXPECT_TRUE(throws(errc::not_held, [&] { held.extend(1h); }));
  EXPECT_TRUE(throws(errc::not_held, [&] { held.release(); }));
  EXPECT_EQ(row().expires_at.value(), end_of(30s));
}

TEST_P(at_least, is_honoured_by_a_release_that_failed_and_is_repeated_unless_it_is_over_by_then) {
  for (const duration stay : {duration{30min}, duration{1s}}) {
    auto locks = connect_bare({.call_timeout = 300ms});
    auto held = locks.acquire(name, with({.lease = 1h, .at_least = stay}));
    const auto version = held.token().value();
    auto in_the_way = db().stall();
    EXPECT_TRUE(error_of([&] { held.release(); }).has_value());
    if (stay == 1s) wait_until(end_of(1500ms));
    in_the_way.reset();
    ASSERT_TRUE(eventually([&] { return stay == 1s ? is_vacant() : row().expires_at.value() == end_of(stay); }));
    EXPECT_EQ(can_have(other_, name), stay == 1s);
    EXPECT_EQ(row().version > version, stay == 1s);
    db().erase(name);
  }
}

/// Whoever waits knows of a lease that is much longer than the stay.
TEST_P(at_least, wakes_a_waiter_soon_after_it_though_the_lease_was_longer) {
  constexpr duration stay = 4500ms;  // between two beats of the ticket, which would find the name free too
  auto other = connect();
  for (auto* waiting : {&locks_, &other}) {
    auto held = locks_.acquire(name, with({.lease = 1h, .at_least = stay}));
    const auto tickets = db().tickets();
    background waiter{[&](std::stop_token stop) {
      auto got = waiting->acquire(name, with(), stop);
      const auto granted_at = row().acquired_at.value();
      got.release();
      return granted_at;
    }};
    ASSERT_TRUE(eventually([&] { return db().tickets() > tickets; }));
    wait_until(end_of(3s));  // by now it tries but rarely
    const auto end = end_of(stay);
    held.release();
    const auto granted_at = waiter.get();
    EXPECT_GE(granted_at, end);
    EXPECT_LT(granted_at - end, us(1s));
  }
}

}  // namespace
}  // namespace rowlock::test
