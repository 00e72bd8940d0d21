#include <gtest/gtest.h>
#include <sqlite3.h>
#include <rowlock/rowlock.hpp>

#include <array>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "support/background.hpp"
#include "support/errors.hpp"
#include "support/on_each_database_with.hpp"
#include "support/sqlite_database.hpp"
#include "testkit/eventually.hpp"
#include "testkit/sqlite.hpp"

// One name, whose users chose different strategies.

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;

/// The first has the name, the second wants it.
class mixed_strategies : public on_each_database_with<strategy_pair> {
 protected:
  lock_options first() const { return {.strategy = what().first}; }
  lock_options second() const { return {.strategy = what().second}; }

  void expect_shown(const std::optional<lock_info>& info, const held_lock& held) const {
    ASSERT_TRUE(info.has_value());
    EXPECT_EQ(info->name.view(), "orders/42");
    const bool is_by_transaction = what().first == strategy::for_update;
    EXPECT_EQ(info->held_by_transaction, is_by_transaction);
    EXPECT_EQ(info->expires_in.has_value(), !is_by_transaction);
    EXPECT_EQ(held.expires_in().has_value(), !is_by_transaction);
    if (is_by_transaction) return;  // which tells others neither its token nor who it is
    EXPECT_EQ(info->token, held.token());
    EXPECT_EQ(info->owner, db().row("orders/42").value().owner);
  }

  client locks_ = connect();
  client other_ = connect();
};
ROWLOCK_SUITE_ON_EACH_DATABASE_WITH_EACH(mixed_strategies, ordered_pairs());

TEST_P(mixed_strategies, refuse_each_other) {
  for (const bool has_a_row : {false, true}) {
    SCOPED_TRACE(has_a_row ? "a vacant row" : "no row");
    auto held = locks_.acquire("orders/42", first());
    EXPECT_EQ(held.strategy(), what().first);
    for (auto* const by : {&locks_, &other_}) {
      EXPECT_FALSE(by->try_acquire("orders/42", second()).has_value());
      EXPECT_TRUE(is_refused([&] { return by->try_acquire_for("orders/42", 20ms, second()); }));
      mutex order{*by, "orders/42", second()};
      EXPECT_FALSE(order.try_lock());
    }
    EXPECT_TRUE(other_.try_acquire("orders/43", second()).has_value()) << "another name is free";
    EXPECT_FALSE(held.lost().stop_requested());
    EXPECT_NO_THROW(held.release());
    std::optional<held_lock> next;
    const auto is_granted = [&] { return (next = other_.try_acquire("orders/42", second())).has_value(); };
    ASSERT_TRUE(eventually(patience / 3, is_granted))
        << "those who waited may lock the row for a moment, as they leave";
    EXPECT_EQ(next->strategy(), what().second);
  }
}

TEST_P(mixed_strategies, are_shown_as_held) {
  auto held = locks_.acquire("orders/42", first());
  for (auto* const by : {&locks_, &other_}) {
    expect_shown(by->find("orders/42"), held);
    const auto all = by->list("orders/");
    ASSERT_EQ(all.size(), 1U);
    expect_shown(all.front(), held);
  }
  held.release();
  EXPECT_FALSE(other_.find("orders/42").has_value());
  EXPECT_TRUE(other_.list().empty());
  const auto next = other_.acquire("orders/42", second());
  EXPECT_EQ(locks_.find("orders/42").value().held_by_transaction, what().second == strategy::for_update);
}

TEST_P(mixed_strategies, are_one_lock_to_a_holder_who_has_it) {
  auto outer_options = first();
  auto inner_options = second();
  outer_options.as = inner_options.as = holder::named("request-7");
  auto outer = locks_.acquire("orders/42", outer_options);
  auto inner = locks_.try_acquire("orders/42", inner_options);
  ASSERT_TRUE(inner.has_value());
  EXPECT_EQ(inner->token(), outer.token()) << "it is the same ownership";
  EXPECT_TRUE(static_cast<bool>(locks_.acquire("orders/42", inner_options)));
  EXPECT_FALSE(other_.try_acquire("orders/42", inner_options).has_value()) << "of another client";
  outer.release();
  EXPECT_FALSE(other_.try_acquire("orders/42", second()).has_value());
  EXPECT_FALSE(inner->lost().stop_requested());
  EXPECT_NO_THROW(inner->release());
  EXPECT_TRUE(other_.try_acquire("orders/42", second()).has_value());
}

TEST_P(mixed_strategies, wait_for_each_other) {
  auto held = locks_.acquire("orders/42", first());
  std::array<std::unique_ptr<background<held_lock>>, 2> all;
  for (std::size_t i = 0; i < 2; ++i)
    all.at(i) = std::make_unique<background<held_lock>>([this, i](std::stop_token stop) {
      return (i == 0 ? locks_ : other_).acquire("orders/42", second(), std::move(stop));
    });
  for (const auto& each : all) EXPECT_FALSE(each->is_done_within(a_moment));
  auto last = held.token();
  held.release();
  ASSERT_TRUE(eventually([&] { return all[0]->is_done_within(0ms) || all[1]->is_done_within(0ms); }));
  if (!all[0]->is_done_within(0ms)) std::swap(all[0], all[1]);
  for (const auto& each : all) {
    auto next = each->get();
    EXPECT_GT(next.token(), last);
    last = next.token();
    EXPECT_TRUE(each == all[1] || !all[1]->is_done_within(0ms)) << "two holders";
  }
}

/// Every strategy reads a row before it begins to write, and must read it again then.
class changed_since_it_was_read : public testing::TestWithParam<strategy> {
 protected:
  changed_since_it_was_read() { locks_.migrate(); }

  sqlite_database file_;
  client locks_ = client::connect(file_.url(), {.observer = silent()});
};
INSTANTIATE_TEST_SUITE_P(by, changed_since_it_was_read, testing::ValuesIn(all_strategies),
                         [](const auto& each) { return name_of(each.param); });

// A renewal changes no version.
TEST_P(changed_since_it_was_read, a_name_is_not_granted) {
  const char* const changes[] = {
      "UPDATE rowlock_lock SET expires_at = acquired_at + 3600000000 WHERE name = 'orders/42'",
      "UPDATE rowlock_lock SET owner = 'thief', expires_at = expires_at + 3600000000, version = version + 1"};
  auto other = client::connect(file_.url(), {.observer = silent()});
  for (const auto& change : changes) {
    auto held = locks_.acquire("orders/42", {.lease = 60s});
    const bool is_renewed = change == changes[0];
    if (is_renewed) file_.expire("orders/42");
    if (!is_renewed) held.release();
    const auto version = file_.row("orders/42").value().version;
    sqlite3* opened = nullptr;
    ASSERT_EQ(sqlite3_open(file_.file().c_str(), &opened), SQLITE_OK);
    const sqlite_handle writer{opened};
    const auto run = [&](const char* sql) {
      EXPECT_EQ(sqlite3_exec(opened, sql, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(opened);
    };
    run("BEGIN IMMEDIATE");
    background attempt{
        [&](const std::stop_token&) { return other.try_acquire("orders/42", {.strategy = GetParam()}).has_value(); }};
    EXPECT_FALSE(attempt.is_done_within(a_moment)) << "it has seen that the name is free, and waits for the writer";
    run(change);
    run("COMMIT");
    EXPECT_FALSE(attempt.get());
    EXPECT_EQ(file_.row("orders/42").value().version, version + (is_renewed ? 0 : 1));
    file_.erase("orders/42");
  }
}

}  // namespace
}  // namespace rowlock::test
