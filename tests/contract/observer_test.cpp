#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "contract/contract.hpp"
#include "support/happening.hpp"
#include "support/slowness.hpp"

namespace rowlock::test {
namespace {

class observer : public two_clients {
 protected:
  static bool has_renewals() { return GetParam().has_lease || GetParam().holds_by_transaction; }
};
ROWLOCK_CONTRACT_SUITE(observer, any_pair());
class observer_of_rows : public observer {};
ROWLOCK_CONTRACT_SUITE(observer_of_rows, rows(any_pair()));
class observer_of_leases : public observer {};
ROWLOCK_CONTRACT_SUITE(observer_of_leases, leases(any_pair()));

TEST_P(observer, reports_a_loss_once_after_lost_has_fired_with_the_time_that_the_lock_was_held) {
  const recorder told;
  std::atomic<bool> too_early{false};
  std::stop_token lost;
  std::atomic<bool> ready{false};
  auto locks = connect({.observer = [&, record = told.observer()](const event& e) {
    if (std::holds_alternative<events::lost>(e.what) && ready && !lost.stop_requested()) too_early = true;
    record(e);
  }});
  const auto held = locks.acquire("orders/42", with());
  const stopwatch since;
  lost = held.lost();
  ready = true;
  EXPECT_TRUE(eventually([&] { return since.elapsed() > 20ms; }));
  locks.release_all();
  ASSERT_TRUE(eventually([&] { return told.lost("orders/42"); }));
  locks.close();
  EXPECT_FALSE(too_early);
  const auto losses = told.losses();
  ASSERT_EQ(losses.size(), 1U);
  EXPECT_EQ(losses[0].name.view(), "orders/42");
  EXPECT_EQ(losses[0].token, held.token());
  EXPECT_EQ(losses[0].reason, loss_reason::forced);
  EXPECT_GE(losses[0].held, 20ms);
  EXPECT_TRUE(told.all<events::released>().empty());
}

TEST_P(observer, that_blocks_keeps_no_lock_from_being_renewed_released_or_lost) {
  auto gate = std::make_shared<happening>();
  auto locks = connect(
      {.call_timeout = 1s, .transaction_limit = 1s, .observer = [gate](const event&) { EXPECT_TRUE(gate->within()); }});
  const auto is_kept = locks.acquire("kept", with({.lease = brisk_lease}));
  locks.acquire("let go", with()).release();
  EXPECT_TRUE(can_have(locks, "let go"));
  if (has_renewals()) {
    EXPECT_TRUE(eventually([&] { return locks.stats().renewals >= 3; }));
  }
  if (GetParam().has_lease) {
    const auto brief = locks.acquire("brief", with({.lease = 100ms, .renew = false}));
    EXPECT_TRUE(eventually([&] { return brief.lost().stop_requested(); }));
  }
  EXPECT_FALSE(is_kept.lost().stop_requested());
  locks.release_all();
  EXPECT_TRUE(is_kept.lost().stop_requested());
  const stopwatch watch;
  locks.close();
  EXPECT_LT(watch.elapsed(), 10s) << "it is left behind";
  gate->happens();
}

TEST_P(observer, is_told_in_the_order_in_which_a_name_changes_hands) {
  on_threads(4, [&](int /*t*/) {
    for (int i = 0; i < 10; ++i) locks_.acquire("orders/42", with()).release();
  });
  locks_.close();
  fencing_token holder{};
  fencing_token last{};
  for (const auto& e : told_.told()) {
    if (const auto* got = std::get_if<events::acquired>(&e.what)) {
      EXPECT_EQ(holder, fencing_token{}) << "nobody has it";
      EXPECT_GT(got->token, last);
      holder = last = got->token;
    } else if (const auto* let_go = std::get_if<events::released>(&e.what)) {
      EXPECT_EQ(std::exchange(holder, {}), let_go->token);
    }
  }
  EXPECT_EQ(told_.all<events::acquired>().size(), 40U);
  EXPECT_EQ(told_.all<events::released>().size(), 40U);
}

TEST_P(observer, is_told_of_a_lock_that_somebody_else_had_all_the_time_and_not_of_a_call_that_was_stopped) {
  const auto theirs = other_.acquire("orders/42", with());
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(locks_.try_acquire_for("orders/42", 1h, with(), stop.get_token()).has_value());
  EXPECT_FALSE(locks_.try_acquire("orders/42", with()).has_value());
  EXPECT_TRUE(is_refused([&] { return locks_.try_acquire_for("orders/42", 100ms, with()); }));
  locks_.close();
  const auto busy = told_.all<events::busy>();
  ASSERT_EQ(busy.size(), 2U);
  for (const auto& each : busy) {
    EXPECT_EQ(each.name.view(), "orders/42");
    EXPECT_EQ(each.strategy, GetParam().strategy);
  }
  EXPECT_GE(busy[0].waited, 0s);
  EXPECT_GE(busy[1].waited, 100ms);
  EXPECT_TRUE(told_.all<events::acquired>().empty());
}

TEST_P(observer, reports_one_grant_and_one_release_of_a_lock_acquired_several_times_and_counts_it_once) {
  mutex order{locks_, "orders/42", with()};
  for (int i = 0; i < 3; ++i) order.lock();
  const auto token = order.held().token();
  EXPECT_EQ(locks_.stats().held, 1U);
  for (int i = 0; i < 3; ++i) order.unlock();
  locks_.close();
  const auto got = told_.all<events::acquired>();
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].name.view(), "orders/42");
  EXPECT_EQ(got[0].token, token);
  EXPECT_EQ(got[0].strategy, GetParam().strategy);
  EXPECT_GE(got[0].waited, 0s);
  const auto let_go = told_.all<events::released>();
  ASSERT_EQ(let_go.size(), 1U);
  EXPECT_EQ(let_go[0].name.view(), "orders/42");
  EXPECT_EQ(let_go[0].token, token);
  EXPECT_GE(let_go[0].held, 0s);
  EXPECT_EQ(told_.told().size(), 2U) << "of nothing else";
  for (const auto& each : locks_.stats().strategies) {
    EXPECT_EQ(each.acquired, each.strategy == GetParam().strategy ? 1U : 0U);
    EXPECT_EQ(each.released, each.acquired);
  }
}

TEST_P(observer_of_leases, is_told_of_renewals) {
  const recorder told;
  const auto lease = on_this_machine(1s);
  auto locks = connect({.transaction_limit = lease, .observer = told.observer()});
  const auto held = locks.acquire("orders/42", with({.lease = lease}));
  ASSERT_TRUE(eventually([&] { return told.all<events::renewed>().size() >= 2; }));
  const auto first = told.all<events::renewed>().front();
  EXPECT_EQ(first.name.view(), "orders/42");
  EXPECT_EQ(first.token, held.token());
  EXPECT_GT(first.left, 0s);
  EXPECT_LE(first.left, lease);
}

TEST_P(observer_of_rows, is_told_of_what_failed_by_its_code) {
  {
    const auto held = locks_.acquire("orders/42", with());
    db().drop_tables();
    EXPECT_TRUE(throws(errc::schema_missing, [&] { static_cast<void>(locks_.find("orders/42")); }));
    const auto seen = locks_.stats().errors;
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_EQ(seen[0].code, errc::schema_missing);
    EXPECT_GE(seen[0].failures, 1U);
  }
  locks_.close();
  const auto failed = told_.all<events::failed>();
  ASSERT_GE(failed.size(), 1U);
  EXPECT_EQ(failed[0].cause.code(), errc::schema_missing);
  ASSERT_FALSE(told_.failures().empty());
  EXPECT_EQ(told_.failures()[0].name.view(), "orders/42");
  EXPECT_NE(std::string{told_.failures()[0].cause.what()}, "");
}

TEST_P(observer, is_told_of_sweeps_and_not_of_the_sweepers_own_lock) {
  db().add_unused(30);
  sweeper sweeps{locks_, {.every = 1h}};
  EXPECT_EQ(sweeps.sweep_once(), 30U);
  const auto seen = locks_.stats();
  EXPECT_EQ(seen.sweeps, 1U);
  EXPECT_EQ(seen.swept_rows, 30U);
  EXPECT_EQ(seen.held, 0U);
  EXPECT_EQ(seen.strategies[0].acquired, 0U);
  sweeps.stop();
  locks_.close();
  const auto swept = told_.all<events::swept>();
  ASSERT_EQ(swept.size(), 1U);
  EXPECT_EQ(swept[0].rows, 30U);
  EXPECT_EQ(swept[0].tickets, 0U);
  EXPECT_GT(swept[0].took, 0s);
  for (const auto& each : told_.told())
    EXPECT_TRUE(std::holds_alternative<events::swept>(each.what) || std::holds_alternative<events::failed>(each.what) ||
                std::holds_alternative<events::reconnected>(each.what))
        << "a call may fail and be repeated, on a busy server; but of the lock nothing is told: " << each.what.index();
}

TEST_P(observer, may_try_to_lock_list_and_count) {
  happening done;
  std::atomic<client*> locks{nullptr};
  auto made = connect({.observer = [&](const event& e) {
    const auto* lost = std::get_if<events::lost>(&e.what);
    if (lost == nullptr || lost->name.view() != "orders/42") return;
    EXPECT_TRUE(can_have(*locks, "orders/43"));
    EXPECT_NO_THROW(locks.load()->find("orders/42"));
    EXPECT_NO_THROW(locks.load()->list());
    EXPECT_EQ(locks.load()->stats().held, 0U);
    done.happens();
  }});
  locks = &made;
  const auto held = made.acquire("orders/42", with());
  made.release_all();
  EXPECT_TRUE(done.within());
}

TEST_P(observer, may_close_the_client_and_is_told_nothing_after_that) {
  happening done;
  std::atomic<int> told{0};
  std::atomic<client*> locks{nullptr};
  auto made = connect({.observer = [&](const event&) {
    if (locks == nullptr) return;
    ++told;
    locks.load()->close();
    done.happens();
  }});
  const auto one = made.acquire("one", with());
  const auto two = made.acquire("two", with());
  locks = &made;
  made.release_all();
  ASSERT_TRUE(done.within());
  EXPECT_TRUE(throws(errc::client_closed, [&] { static_cast<void>(can_have(made, "three")); }));
  EXPECT_EQ(told, 1);
  EXPECT_TRUE(can_have(other_, "one"));
  EXPECT_TRUE(can_have(other_, "two"));
}

TEST_P(observer, may_destroy_the_client) {
  happening done;
  std::atomic<bool> is_ready{false};
  std::optional<client> locks;
  locks.emplace(connect({.observer = [&](const event& e) {
    if (!std::holds_alternative<events::lost>(e.what)) return;
    EXPECT_TRUE(eventually([&] { return is_ready.load(); }));
    locks.reset();
    done.happens();
  }}));
  auto held = locks->acquire("orders/42", with());
  locks->release_all();
  held = {};
  is_ready = true;
  ASSERT_TRUE(done.within());
  EXPECT_TRUE(can_have(other_, "orders/42"));
}

TEST_P(observer, has_been_told_of_everything_when_close_returns) {
  const recorder told;
  auto locks = connect({.observer = [record = told.observer()](const event& e) {
    std::this_thread::yield();
    record(e);
  }});
  std::vector<held_lock> held;
  for (int i = 0; i < 10; ++i) held.push_back(locks.acquire("job/" + std::to_string(i), with()));
  locks.close();
  EXPECT_EQ(told.losses().size(), 10U);
  const auto before = told.told().size();
  held.clear();
  EXPECT_EQ(told.told().size(), before);
}

TEST_P(observer, outlives_nothing_it_should_not) {
  auto alive = std::make_shared<int>(0);
  const std::weak_ptr<int> watched = alive;
  {
    auto locks = connect({.observer = [alive](const event&) { ++*alive; }});
    alive.reset();
    EXPECT_FALSE(watched.expired());
    const auto held = locks.acquire("orders/42", with());
    locks.close();
  }
  EXPECT_TRUE(watched.expired()) << "closed, and every handle gone";
}

}  // namespace
}  // namespace rowlock::test
