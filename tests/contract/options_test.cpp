#include <string>
#include <vector>

#include "contract/contract.hpp"

namespace rowlock::test {
namespace {

class options : public contract {};
ROWLOCK_CONTRACT_SUITE(options, usual_pairs());
class options_of_rows : public options {};
ROWLOCK_CONTRACT_SUITE(options_of_rows, rows(usual_pairs()));
class options_of_leases : public options {};
ROWLOCK_CONTRACT_SUITE(options_of_leases, leases(usual_pairs()));

TEST_P(options_of_rows, the_note_may_be_as_long_as_promised) {
  auto locks = connect();
  const std::string note(1000, 'n');
  const auto held = locks.acquire("orders/42", with({.note = note}));
  EXPECT_EQ(locks.find("orders/42").value().note, note);
}

TEST_P(options, the_note_goes_with_its_holder) {
  auto locks = connect();
  locks.acquire("orders/42", with({.note = "the first"})).release();
  const auto held = locks.acquire("orders/42", with());
  EXPECT_EQ(locks.find("orders/42").value().note, "");
}

TEST_P(options, the_holder_may_have_the_longest_name) {
  auto locks = connect();
  const std::string task(200, 't');
  const auto held = locks.acquire("orders/42", with({.as = holder::named(task)}));
  EXPECT_TRUE(locks.try_acquire("orders/42", with({.as = holder::named(task)})).has_value());
}

TEST_P(options_of_rows, the_application_is_shown) {
  const std::string longest(60, '~');
  auto locks = connect({.application = longest});
  const auto held = locks.acquire("orders/42", with());
  EXPECT_EQ(locks.find("orders/42").value().owner.substr(0, 61), longest + ":");
}

TEST_P(options_of_rows, two_clients_of_one_process_are_two_owners) {
  auto first = connect();
  auto second = connect();
  const auto one = first.acquire("one", with());
  const auto two = second.acquire("two", with());
  EXPECT_NE(first.find("one").value().owner, first.find("two").value().owner);
}

TEST_P(options, one_connection_is_enough_for_many_threads) {
  auto locks = connect({.connections = 1});
  auto held = locks.acquire("orders/42", with());
  std::vector<std::unique_ptr<background<void>>> waiters;
  for (int i = 0; i < 12; ++i)
    waiters.push_back(std::make_unique<background<void>>(
        [&](std::stop_token stop) { locks.acquire("orders/42", with(), stop).release(); }));
  EXPECT_FALSE(waiters.front()->is_done_within(a_moment));
  EXPECT_FALSE(can_have(locks, "orders/42")) << "the waiters leave the connection to others";
  EXPECT_EQ(locks.list().size(), 1U);
  held.release();
  for (auto& waiter : waiters) EXPECT_NO_THROW(waiter->get());
}

TEST_P(options_of_leases, one_connection_renews_while_others_wait) {
  auto locks = connect({.connections = 1});
  const auto held = locks.acquire("orders/42", with({.lease = 2s}));
  background waiter{[&](std::stop_token stop) { return locks.try_acquire_for("orders/42", 1h, with(), stop); }};
  const auto end = db().row("orders/42").value().expires_at.value();
  EXPECT_TRUE(eventually([&] { return db().row("orders/42").value().expires_at.value() > end; }));
  EXPECT_FALSE(held.lost().stop_requested());
}

TEST_P(options, the_shortest_and_the_longest_limits_are_accepted) {
  EXPECT_NO_THROW(connect({.connections = 100, .connect_timeout = 1h, .call_timeout = 1h}));
  EXPECT_NO_THROW(static_cast<void>(connect_bare({.connect_timeout = 1h, .call_timeout = 1ms})));
}

TEST_P(options, bad_lock_options_are_refused_before_anything_is_sent) {
  auto locks = connect_bare();
  const auto broken = lock_options{.strategy = GetParam().strategy, .lease = 1ms};
  EXPECT_TRUE(throws(errc::invalid_option, [&] { static_cast<void>(locks.try_acquire("orders/42", broken)); }))
      << "else it would be the missing schema";
  EXPECT_TRUE(throws(errc::invalid_option, [&] { static_cast<void>(locks.acquire("orders/42", broken)); }));
  EXPECT_TRUE(throws(errc::invalid_option, [&] { static_cast<void>(locks.try_acquire_for("x", 1h, broken)); }));
  EXPECT_TRUE(throws(errc::invalid_name, [&] { static_cast<void>(locks.find("")); }));
}

}  // namespace
}  // namespace rowlock::test
