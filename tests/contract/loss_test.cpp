#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <utility>

#include "contract/contract.hpp"

namespace rowlock::test {
namespace {

/// Leases here are long enough not to run out where the machine is slow, and short enough that the next renewal, which
/// is when a loss is found, comes soon.
constexpr auto short_lease = 3s;

/// What somebody does to a lock behind its holder's back, and why the holder has lost it then.
struct interference {
  const char* what;
  void (*happens)(database& db, std::string_view name);
  loss_reason reason;
};
constexpr interference interferences[] = {
    {"stolen", [](database& db, std::string_view name) { db.steal(name); }, loss_reason::forced},
    {"vacated", [](database& db, std::string_view name) { db.vacate(name); }, loss_reason::forced},
    {"erased", [](database& db, std::string_view name) { db.erase(name); }, loss_reason::row_vanished},
    {"expired", [](database& db, std::string_view name) { db.expire(name); }, loss_reason::expired}};

class loss : public two_clients {};
ROWLOCK_CONTRACT_SUITE(loss, leases(every_pair()));

// Its lease had not run out, and renewing neither inserts nor takes again.
TEST_P(loss, is_found_by_the_next_renewal_and_told_once) {
  const auto beside = locks_.acquire("beside", with({.lease = short_lease}));
  std::vector<held_lock> all;
  std::map<std::string, std::pair<fencing_token, loss_reason>> expected;
  for (const auto& each : interferences) {
    all.push_back(locks_.acquire(each.what, with({.lease = short_lease})));
    expected[each.what] = {all.back().token(), each.reason};
  }
  std::vector<std::optional<lock_row>> rows;
  for (const auto& each : interferences) {
    each.happens(db(), each.what);
    rows.push_back(db().row(each.what));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& what = interferences[i].what;
    auto& held = all[i];
    ASSERT_TRUE(eventually([&] { return held.lost().stop_requested(); })) << what;
    EXPECT_EQ(held.why_lost(), interferences[i].reason) << what;
    EXPECT_TRUE(static_cast<bool>(held));
    EXPECT_EQ(held.expires_in(), duration::zero());
    EXPECT_EQ(db().row(what), rows[i]) << what;
    EXPECT_TRUE(eventually([&] { return told_.lost(what); }));
    EXPECT_TRUE(throws(errc::lock_lost, [&] { held.extend(1h); }));
    EXPECT_TRUE(throws(errc::lock_lost, [&] { held.release(); }));
    EXPECT_TRUE(throws(errc::not_held, [&] { held.release(); }));
  }
  const auto since = db().now();
  ASSERT_TRUE(eventually([&] { return db().now() > since + std::chrono::microseconds{short_lease}.count(); }));
  EXPECT_FALSE(beside.lost().stop_requested());
  EXPECT_EQ(told_.losses().size(), all.size());
  for (const auto& each : told_.losses())
    EXPECT_EQ((std::pair{each.token, each.reason}), expected[std::string{each.name.view()}]) << each.name;
  EXPECT_EQ(told_.failures().size(), 0U) << "who was told by an exception is not told twice";
}

class loss_of_rows : public two_clients {};
ROWLOCK_CONTRACT_SUITE(loss_of_rows, rows(every_pair()));

TEST_P(loss_of_rows, is_found_by_whatever_the_holder_does_and_touches_nobody_else) {
  std::uint64_t unheard = 0;
  for (const auto& each : interferences) {
    const bool is_free = each.reason == loss_reason::expired;  // nobody has taken it over
    if (is_free && !GetParam().has_lease) continue;
    SCOPED_TRACE(each.what);
    const auto name = [&](const std::string& way) { return each.what + ("/" + way); };
    auto released = locks_.acquire(name("released"), with());
    auto stays = locks_.acquire(name("stays"), GetParam().has_lease ? with({.lease = 1h, .at_least = 30min}) : with());
    auto extended = locks_.acquire(name("extended"), with({.lease = 1h, .renew = false}));
    auto dropped = locks_.acquire(name("dropped"), with());
    mutex unlocked{locks_, name("unlocked"), with()};
    unlocked.lock();
    std::map<std::string, std::optional<lock_row>> rows;
    for (const char* const way : {"released", "stays", "extended", "dropped", "unlocked"}) {
      each.happens(db(), name(way));
      rows[way] = db().row(name(way));
    }
    const auto expected = is_free ? std::nullopt : std::optional{make_error_code(errc::lock_lost)};
    for (auto* const held : {&released, &stays}) {
      const auto e = error_of([&] { held->release(); });
      EXPECT_EQ(e ? std::optional{e->code()} : std::nullopt, expected);
      EXPECT_FALSE(static_cast<bool>(*held));
    }
    for (const char* const way : {"released", "stays"})
      EXPECT_TRUE(!is_free || can_have(other_, name(way))) << way << ": it does not come to life again";
    if (GetParam().has_lease) {
      EXPECT_TRUE(throws(errc::lock_lost, [&] { extended.extend(2h); }));
      EXPECT_TRUE(extended.lost().stop_requested());
      EXPECT_EQ(extended.why_lost(), each.reason);
      EXPECT_TRUE(!is_free || db().row(name("extended"))->expires_at == rows["extended"]->expires_at);
    }
    dropped = {};
    unlocked.unlock();
    if (is_free) continue;
    unheard += GetParam().has_lease ? 2 : 3;  // the handle of what cannot be extended goes at the end
    EXPECT_TRUE(eventually([&] { return told_.failed(name("dropped"), errc::lock_lost); }));
    EXPECT_TRUE(eventually([&] { return told_.failed(name("unlocked"), errc::lock_lost); }));
    for (const auto& row : rows) EXPECT_EQ(db().row(name(row.first)), row.second) << row.first;
  }
  EXPECT_EQ(locks_.stats().release_failures, unheard);
}

// Its holder has the margin to stop.
TEST_P(loss, by_time_keeps_the_name_until_the_lease_is_over) {
  const std::function<held_lock()> ways[] = {
      [&] { return locks_.acquire("orders/42", with({.lease = 1s, .renew = false})); },
      [&] { return locks_.acquire("orders/42", with({.lease = 2s, .hold_limit = 500ms})); },
      [&] { return locks_.acquire_shared("orders/42", {.lease = 1s, .renew = false}); },
      [&] { return locks_.acquire_shared("orders/42", {.lease = 2s, .hold_limit = 500ms}); }};
  for (const auto& acquire : ways) {
    const auto held = acquire();
    const auto end = db().row("orders/42").value().expires_at.value();
    ASSERT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
    EXPECT_NE(held.why_lost(), loss_reason::none);
    EXPECT_EQ(held.expires_in(), duration::zero());
    EXPECT_TRUE(static_cast<bool>(held)) << "lost, but not empty";
    const auto next = other_.acquire("orders/42", with());
    EXPECT_GE(db().row("orders/42").value().acquired_at.value(), end);
  }
}

TEST_P(loss, of_the_tables) {
  const auto held = locks_.acquire("orders/42", with({.lease = short_lease}));
  db().drop_tables();
  EXPECT_TRUE(eventually([&] { return held.lost().stop_requested(); }));
  EXPECT_NE(held.why_lost(), loss_reason::none);
}

TEST_P(loss, of_everything_by_release_all) {
  auto one = locks_.acquire("one", with());
  mutex two{locks_, "two", with()};
  two.lock();
  const auto theirs = other_.acquire("three", with());
  locks_.release_all();
  EXPECT_TRUE(one.lost().stop_requested());
  EXPECT_EQ(one.why_lost(), loss_reason::forced);
  EXPECT_EQ(two.held().why_lost(), loss_reason::forced);
  EXPECT_TRUE(eventually([&] { return can_have(other_, "one") && can_have(other_, "two"); }));
  EXPECT_TRUE(throws(errc::lock_lost, [&] { one.release(); }));
  EXPECT_TRUE(can_have(locks_, "one")) << "the client itself goes on";
  EXPECT_FALSE(theirs.lost().stop_requested());
  EXPECT_FALSE(can_have(locks_, "three"));
}

class watching : public two_clients {};
ROWLOCK_CONTRACT_SUITE(watching, any_pair());

TEST_P(watching, a_release_is_not_a_loss_however_it_is_made) {
  auto held = locks_.acquire("orders/42", with());
  auto assigned = locks_.acquire("assigned", with());
  std::vector<std::stop_token> lost{held.lost(), assigned.lost()};
  std::atomic<int> calls{0};
  const std::stop_callback callback{held.lost(), [&] { ++calls; }};
  held.release();
  assigned = locks_.acquire("other", with());
  lost.push_back(locks_.acquire("dropped", with()).lost());
  for (const auto& each : lost) EXPECT_FALSE(each.stop_requested());
  EXPECT_EQ(calls, 0);
  locks_.close();
  EXPECT_EQ(calls, 0) << "what was released before is not lost with the client";
}

TEST_P(watching, a_callback_runs_once_when_the_lock_is_lost) {
  const auto held = locks_.acquire("orders/42", with());
  std::atomic<int> calls{0};
  const std::stop_callback callback{held.lost(), [&] { ++calls; }};
  locks_.release_all();
  EXPECT_TRUE(eventually([&] { return calls == 1; }));
  locks_.close();
  EXPECT_EQ(calls, 1);
  const std::stop_callback late{held.lost(), [&] { ++calls; }};
  EXPECT_EQ(calls, 2) << "it learns at once";
}

TEST_P(watching, a_token_outlives_handle_and_client) {
  std::stop_token token;
  {
    auto locks = connect();
    const auto held = locks.acquire("orders/42", with());
    token = held.lost();
  }
  EXPECT_FALSE(token.stop_requested());
  std::stop_token lost;
  {
    std::optional<held_lock> held;
    auto locks = connect();
    held = locks.acquire("orders/42", with());
    lost = held->lost();
    locks.close();
  }
  EXPECT_TRUE(lost.stop_requested());
}

// Releasing and registering at the same time: nothing is called that should not be, and nothing breaks.
TEST_P(watching, letting_go_while_it_is_watched) {
  std::atomic<int> calls{0};
  for (int i = 0; i < 50; ++i) {
    auto held = locks_.acquire("orders/42", with());
    const auto token = held.lost();
    std::atomic<bool> registered{false};
    const test_thread watcher{[&](std::stop_token enough) {
      while (!enough.stop_requested()) {
        const std::stop_callback callback{token, [&] { ++calls; }};
        registered = true;
      }
    }};
    ASSERT_TRUE(eventually([&] { return registered.load(); }));
    held.release();
  }
  EXPECT_EQ(calls, 0);
}

TEST_P(watching, losing_while_it_is_watched_from_many_threads) {
  std::vector<held_lock> all;
  for (int i = 0; i < 10; ++i) all.push_back(locks_.acquire("job/" + std::to_string(i), with()));
  std::atomic<int> fired{0};
  {
    std::vector<test_thread> watchers;
    for (const auto& held : all)
      watchers.emplace_back([&, token = held.lost()](std::stop_token enough) {
        while (!token.stop_requested() && !enough.stop_requested()) std::this_thread::yield();
        if (token.stop_requested()) ++fired;
      });
    locks_.close();
    EXPECT_TRUE(eventually([&] { return fired == 10; }));
  }
  for (const auto& held : all) EXPECT_EQ(held.why_lost(), loss_reason::client_closed);
}

}  // namespace
}  // namespace rowlock::test
