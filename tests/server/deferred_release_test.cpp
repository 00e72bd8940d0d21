#include <span>

#include "server/server_test.hpp"
#include "server/steps.hpp"

namespace rowlock::test {
namespace {

using store::release_outcome;

constexpr duration stay = 30min;

/// Locks that are let go of and stay for a while.
class deferred_release : public on_each_server {
 protected:
  std::int64_t end_of(std::string_view name, duration after = stay) {
    return db().row(name).value().acquired_at.value() + after.count();
  }

  /// Acquires the names, each by an acquisition of its own name. Returns these, to be released after the stay.
  std::vector<store::lease_ref> acquire(steps& on, const std::vector<std::string>& names) {
    std::vector<strategies::acquire_args> attempts;
    std::vector<store::lease_ref> out;
    for (const auto& name : names) {
      db().erase(name);
      attempts.push_back(attempt_at(name, name, long_lease));
      out.push_back({.name = name, .acquisition = name, .lease = stay});
    }
    for (const auto& answer : on.acquire(attempts)) EXPECT_EQ(answer.what, strategies::verdict::granted);
    return out;
  }

  client locks_ = connect();
};
ROWLOCK_SUITE_ON_EACH_SERVER(deferred_release);

TEST_P(deferred_release, of_a_pinned_row_begins_at_once_or_when_the_pin_is_gone) {
  const recorder told;
  auto locks = connect({.observer = told.observer()});
  auto held = locks.acquire("orders/42", {.lease = long_lease, .at_least = stay});
  auto in_the_way = db().row_pinned("orders/42");
  EXPECT_NO_THROW(held.release());
  EXPECT_EQ(expiry("orders/42") == end_of("orders/42"), db().pins_let_renew());
  in_the_way.reset();
  EXPECT_TRUE(eventually(soon, [&] { return expiry("orders/42") == end_of("orders/42"); }));
  EXPECT_FALSE(is_vacant("orders/42"));
  EXPECT_TRUE(told.failures().empty());
}

TEST_P(deferred_release, of_a_pinned_row_is_a_release_if_it_would_be_over) {
  auto held = locks_.acquire("orders/42", {.lease = long_lease, .at_least = 1s});
  auto in_the_way = db().row_locked("orders/42");
  EXPECT_NO_THROW(held.release());
  let_pass(1500ms);
  in_the_way.reset();
  EXPECT_TRUE(eventually(soon, [&] { return is_vacant("orders/42"); }));
}

TEST_P(deferred_release, of_a_pinned_row_is_made_up_for_by_closing) {
  auto held = locks_.acquire("orders/42", {.lease = long_lease, .at_least = stay});
  auto in_the_way = db().row_pinned("orders/42");
  held.release();
  let_pass(2s);  // by now it is tried but rarely
  in_the_way.reset();
  locks_.close();
  EXPECT_EQ(expiry("orders/42"), end_of("orders/42"));
}

TEST_P(deferred_release, is_told_of_each_in_a_batch_and_alone) {
  steps on{db().url()};
  const std::vector<std::string> names{"fresh", "again", "stolen", "vacated", "expired", "locked"};
  const std::vector<release_outcome> expected{release_outcome::released, release_outcome::released,
                                              release_outcome::gone,     release_outcome::gone,
                                              release_outcome::released, release_outcome::pinned};
  for (const bool alone : {false, true}) {
    SCOPED_TRACE(alone);
    const auto batch = acquire(on, names);
    ASSERT_EQ(on.defer_release({&batch[1], 1}), std::vector{release_outcome::released});
    db().steal("stolen");
    db().vacate("vacated");
    db().expire("expired");
    const auto over = expiry("expired");
    const auto in_the_way = db().row_locked("locked");
    if (alone) {
      for (std::size_t i = 0; i < batch.size(); ++i)
        EXPECT_EQ(on.defer_release({&batch[i], 1}), std::vector{expected[i]}) << names[i];
    } else {
      EXPECT_EQ(on.defer_release(batch), expected);
    }
    for (const auto* name : {"fresh", "again"}) EXPECT_EQ(expiry(name), end_of(name)) << name;
    EXPECT_EQ(expiry("expired"), over);
    EXPECT_NE(expiry("stolen"), end_of("stolen"));
    EXPECT_TRUE(is_vacant("vacated"));
  }
}

// As one that was under way when the lock was let go of.
TEST_P(deferred_release, is_not_shortened_by_a_renewal_that_comes_after_it) {
  steps on{db().url()};
  const std::vector<std::string> names{"one", "two"};
  for (const bool alone : {false, true}) {
    auto batch = acquire(on, names);
    ASSERT_EQ(on.defer_release(batch), (std::vector{release_outcome::released, release_outcome::released}));
    for (auto& each : batch) each.lease = long_lease;
    const auto some = std::span{batch}.first(alone ? 1 : 2);
    for (const auto& answer : on.renew(some)) EXPECT_EQ(answer.what, store::standing::kept);
    for (const auto& name : names) EXPECT_EQ(expiry(name), end_of(name)) << name;
  }
}

}  // namespace
}  // namespace rowlock::test
