#include "store/housekeeping.hpp"

#include <memory>
#include <string>
#include <vector>

#include "base/boot_clock.hpp"
#include "contract/contract.hpp"
#include "core/url.hpp"
#include "driver/backend.hpp"
#include "strategy/strategy.hpp"
#include "support/databases.hpp"

// What the statements themselves ask for again, with no client around them: between what they have seen and what they
// do, others have done something else.

namespace rowlock::test {
namespace {

class seen_before : public on_each_database {
 protected:
  void SetUp() override {
    client_ = std::make_unique<client>(client::connect(db().url(), {.observer = silent()}));
    client_->migrate();
    const auto url = db().url();
    const auto& backend = driver::backend_for(core::cut_url(url).scheme);
    sql_ = std::make_unique<sheets::sheet>(backend.sheet("rowlock_", {}));
    place_ = backend.open(core::cut_url(url), {});
    session_ = place_->connect(limits());
  }

  static driver::limits limits() { return {.deadline = base::now() + patience}; }
  client& locks() { return *client_; }
  store::access access(const driver::limits& until) { return {.sheet = *sql_, .session = *session_, .until = until}; }

 private:
  std::unique_ptr<client> client_;
  std::unique_ptr<sheets::sheet> sql_;
  std::unique_ptr<driver::database> place_;
  std::unique_ptr<driver::session> session_;
};
ROWLOCK_SUITE_ON_EACH_DATABASE(seen_before);

TEST_P(seen_before, unused_names_that_were_used_since_are_not_deleted) {
  db().add_unused(2);
  const auto found = store::find_unused(access(limits()), {}, 100, 1h);
  ASSERT_EQ(found.names, (std::vector<std::string>{"unused/0", "unused/1"}));
  const auto token = locks().acquire("unused/0").token();
  EXPECT_EQ(store::sweep(access(limits()), found, 1h), 1U);
  ASSERT_TRUE(db().row("unused/0").has_value());
  EXPECT_GE(db().row("unused/0").value().version, token.value());
  EXPECT_FALSE(db().row("unused/1").has_value());
}

TEST_P(seen_before, an_expired_lease_that_was_renewed_since_is_not_granted) {
  const auto held = locks().acquire("orders/42", {.lease = 1h});
  // As it was read before its renewal came: with the version that it has still.
  strategies::acquire_args late{.name = "orders/42",
                                .owner = "late:host:1:0123456789abcdef",
                                .thread = "late",
                                .acquisition = "late",
                                .note = {},
                                .lease = 1h};
  late.seen = held.token();
  const auto tried = strategies::try_all(access(limits()), sheets::verb::compare_and_set, {&late, 1}).at(0);
  EXPECT_NE(tried.what, strategies::verdict::granted);
  EXPECT_NE(db().row("orders/42").value().acquisition, "late");
  EXPECT_NO_THROW(locks().check());
  EXPECT_FALSE(held.lost().stop_requested());
}

/// A file tells of every commit in it, so that those who wait need not try.
class told_by_the_file : public contract {};
ROWLOCK_CONTRACT_SUITE(told_by_the_file, on("sqlite", leases(every_pair())));

TEST_P(told_by_the_file, who_waits_tries_seldom) {
  auto first = connect();
  auto second = connect();
  const auto held = first.acquire("orders/42", with({.lease = 1h, .renew = false}));
  EXPECT_FALSE(second.try_acquire_for("orders/42", 1500ms, with()).has_value());
  std::uint64_t tries = 0;
  for (const auto& each : second.stats().statements)
    if (each.operation == "acquiring")
      for (const auto n : each.took.counts) tries += n;
  // Each pause as long as the wait before it: 10 ms, 20 ms, …; by asking there would be about 20.
  EXPECT_LE(tries, 2 * 12U);
}

}  // namespace
}  // namespace rowlock::test
