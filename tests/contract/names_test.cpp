#include <string>
#include <vector>

#include "contract/contract.hpp"
#include "support/odd_names.hpp"

namespace rowlock::test {
namespace {

class names : public two_clients {};
ROWLOCK_CONTRACT_SUITE(names, usual_pairs());
class names_of_rows : public names {};
ROWLOCK_CONTRACT_SUITE(names_of_rows, rows(usual_pairs()));

TEST_P(names, every_odd_one_is_a_name_of_its_own) {
  std::vector<held_lock> all;
  if (GetParam().holds_by_transaction) locks_ = connect({.held_transactions = odd_names().size()});
  for (const auto& name : odd_names()) {
    auto held = locks_.try_acquire(name, with());
    ASSERT_TRUE(held.has_value()) << name;
    EXPECT_EQ(held->name().view(), name);
    const auto row = db().row(name);
    ASSERT_TRUE(row.has_value()) << name;
    EXPECT_TRUE(GetParam().holds_by_transaction || row->version == held->token().value()) << name;
    const auto found = locks_.find(name);
    ASSERT_TRUE(found.has_value()) << name;
    EXPECT_EQ(found->name.view(), name);
    all.push_back(std::move(*held));
  }
  for (const auto& name : odd_names()) EXPECT_FALSE(can_have(other_, name)) << name;
  EXPECT_EQ(locks_.list().size(), all.size());
  all.clear();
  EXPECT_TRUE(locks_.list().empty());
  for (const auto& name : odd_names()) EXPECT_TRUE(can_have(other_, name)) << name;
}

TEST_P(names, the_longest_of_all_works_in_every_call) {
  std::string longest;
  while (longest.size() + 4 <= 255) longest += "\xf0\x9f\x94\x92";
  longest += std::string(255 - longest.size(), 'x');
  auto held = locks_.acquire(longest, with());
  if (GetParam().has_lease) held.extend(1h);
  EXPECT_TRUE(is_refused([&] { return locks_.try_acquire_for(longest, 1ms, with()); }));
  EXPECT_EQ(locks_.list(longest).size(), 1U);
  EXPECT_EQ(locks_.list(longest.substr(0, 40)).size(), 1U);
  mutex order{locks_, longest, with()};
  EXPECT_FALSE(order.try_lock());
  held.release();
  EXPECT_TRUE(order.try_lock());
  order.unlock();
}

TEST_P(names_of_rows, notes_and_holders_are_not_sql_either) {
  for (const auto& text : {std::string{"'); DROP TABLE rowlock_lock; --"}, std::string{"\""}, std::string{"\\"},
                           std::string{"a\nb"}, std::string{"\xf0\x9f\x94\x92"}, std::string(1000, 'n')}) {
    const auto held = locks_.acquire("orders/42", with({.as = holder::named(text.substr(0, 200)), .note = text}));
    const auto found = locks_.find("orders/42").value();
    EXPECT_EQ(found.note, text);
    EXPECT_EQ(found.thread, holder::named(text.substr(0, 200)).text());
  }
  EXPECT_TRUE(db().has_table("rowlock_lock"));
}

class options : public one_client {};
ROWLOCK_CONTRACT_SUITE(options, usual_pairs());
class options_of_rows : public options {};
ROWLOCK_CONTRACT_SUITE(options_of_rows, rows(usual_pairs()));
class options_of_leases : public options {};
ROWLOCK_CONTRACT_SUITE(options_of_leases, leases(usual_pairs()));

TEST_P(options, the_note_goes_with_its_holder) {
  locks_.acquire("orders/42", with({.note = "the first"})).release();
  const auto held = locks_.acquire("orders/42", with());
  EXPECT_EQ(locks_.find("orders/42").value().note, "");
}

TEST_P(options_of_rows, two_clients_of_one_process_are_two_owners_and_show_their_application) {
  const std::string longest(60, '~');
  auto first = connect({.application = longest});
  auto second = connect({.application = longest});
  const auto one = first.acquire("one", with());
  const auto two = second.acquire("two", with());
  const auto owner = first.find("one").value().owner;
  EXPECT_EQ(owner.substr(0, 61), longest + ":");
  EXPECT_NE(owner, first.find("two").value().owner);
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
  EXPECT_TRUE(throws(errc::invalid_option, [&] { mutex m(locks, "orders/42", {.lease = 99ms}); }));
  EXPECT_TRUE(throws(errc::invalid_option, [&] { mutex m(locks, "orders/42", with({.note = "\xff"})); }));
  EXPECT_NO_THROW(mutex(locks, "orders/42", with())) << "nothing is sent, so nothing can be missing";
}

}  // namespace
}  // namespace rowlock::test
