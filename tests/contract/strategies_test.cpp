#include <gtest/gtest.h>
#include <sqlite3.h>
#include <rowlock/rowlock.hpp>

#include <optional>
#include <string>

#include "support/background.hpp"
#include "support/errors.hpp"
#include "support/on_each_database_with.hpp"
#include "support/sqlite_database.hpp"
#include "testkit/eventually.hpp"

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
      EXPECT_FALSE(by->try_acquire_for("orders/42", 20ms, second()).has_value());
      mutex order{*by, "orders/42", second()};
      EXPECT_FALSE(order.try_lock());
    }
    EXPECT_TRUE(other_.try_acquire("orders/43", second()).has_value()) << "another name is free";
    EXPECT_FALSE(held.lost().stop_requested());
    EXPECT_NO_THROW(held.release());
    const auto next = other_.try_acquire("orders/42", second());
    ASSERT_TRUE(next.has_value());
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

TEST_P(mixed_strategies, give_larger_tokens_one_after_the_other) {
  fencing_token last{};
  for (int i = 0; i < 6; ++i) {
    const auto held = i % 2 == 0 ? locks_.acquire("orders/42", first()) : other_.acquire("orders/42", second());
    EXPECT_GT(held.token(), last) << "grant " << i;
    last = held.token();
  }
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
  background elsewhere{[&](std::stop_token stop) { return other_.acquire("orders/42", second(), stop); }};
  background beside{
      [&](std::stop_token stop) { return locks_.try_acquire_for("orders/42", patience, second(), std::move(stop)); }};
  EXPECT_FALSE(elsewhere.is_done_within(a_moment));
  EXPECT_FALSE(beside.is_done_within(a_moment));
  const auto token = held.token();
  held.release();
  ASSERT_TRUE(eventually([&] { return elsewhere.is_done_within(0ms) || beside.is_done_within(0ms); }));
  std::optional<held_lock> one;
  std::optional<held_lock> two;
  if (elsewhere.is_done_within(0ms)) {
    one = elsewhere.get();
    EXPECT_FALSE(beside.is_done_within(0ms)) << "two holders";
    const auto before = one->token();
    one.reset();
    two = beside.get();
    ASSERT_TRUE(two.has_value());
    EXPECT_GT(two->token(), before);
  } else {
    two = beside.get();
    ASSERT_TRUE(two.has_value());
    EXPECT_FALSE(elsewhere.is_done_within(0ms)) << "two holders";
    const auto before = two->token();
    two.reset();
    one = elsewhere.get();
    EXPECT_GT(one->token(), before);
  }
  EXPECT_GT((one ? *one : *two).token(), token);
}

/// A transaction on a file, which keeps others from writing until it is committed.
class writer {
 public:
  explicit writer(const sqlite_database& to) {
    EXPECT_EQ(sqlite3_open(to.file().c_str(), &handle_), SQLITE_OK);
    run("BEGIN IMMEDIATE");
  }
  writer(const writer&) = delete;
  writer& operator=(const writer&) = delete;
  ~writer() { sqlite3_close(handle_); }

  void run(const std::string& sql) {
    EXPECT_EQ(sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(handle_);
  }

 private:
  sqlite3* handle_ = nullptr;
};

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
TEST_P(changed_since_it_was_read, an_expired_lease_is_not_granted) {
  const auto held = locks_.acquire("orders/42", {.lease = 60s});
  file_.expire("orders/42");
  auto other = client::connect(file_.url(), {.observer = silent()});
  writer renewer{file_};
  background attempt{
      [&](const std::stop_token&) { return other.try_acquire("orders/42", {.strategy = GetParam()}).has_value(); }};
  EXPECT_FALSE(attempt.is_done_within(a_moment)) << "it has seen that the lease has ended, and waits for the writer";
  renewer.run("UPDATE rowlock_lock SET expires_at = acquired_at + 3600000000 WHERE name = 'orders/42'");
  renewer.run("COMMIT");
  EXPECT_FALSE(attempt.get());
  EXPECT_EQ(file_.row("orders/42").value().version, held.token().value());
}

TEST_P(changed_since_it_was_read, a_vacant_name_is_not_granted) {
  locks_.acquire("orders/42").release();
  auto other = client::connect(file_.url(), {.observer = silent()});
  writer thief{file_};
  background attempt{
      [&](const std::stop_token&) { return other.try_acquire("orders/42", {.strategy = GetParam()}).has_value(); }};
  EXPECT_FALSE(attempt.is_done_within(a_moment));
  thief.run("UPDATE rowlock_lock SET owner = 'thief', expires_at = expires_at + 3600000000, version = version + 1");
  thief.run("COMMIT");
  EXPECT_FALSE(attempt.get());
}

}  // namespace
}  // namespace rowlock::test
