#include <algorithm>
#include <atomic>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "contract/contract.hpp"
#include "support/openmetrics.hpp"

namespace rowlock::test {
namespace {

std::uint64_t count_of(const histogram& of) {
  return std::accumulate(of.counts.begin(), of.counts.end(), std::uint64_t{0});
}

/// What the threads of a test have seen themselves.
struct tally {
  std::atomic<std::uint64_t> acquired{0};
  std::atomic<std::uint64_t> busy{0};
  std::atomic<std::uint64_t> cancelled{0};
  std::atomic<std::uint64_t> failed{0};
  std::atomic<std::uint64_t> released{0};
};

class metrics : public one_client {
 protected:
  static strategy_statistics mine(const client& locks) {
    const auto all = locks.stats().strategies;
    return *std::find_if(all.begin(), all.end(), [](const auto& each) { return each.strategy == GetParam().strategy; });
  }
  static openmetrics page(const client& locks) {
    std::ostringstream out;
    locks.write_openmetrics(out);
    return openmetrics::parse(out.str());
  }

  /// One call in every way there is, and what became of it.
  static void ask_once(client& locks, std::minstd_rand& random, tally& seen) {
    const std::string name = "job/" + std::to_string(random() % 3);
    const auto way = random() % 5;
    std::stop_source stop;
    std::optional<held_lock> held;
    try {
      if (way == 0) {
        held = locks.acquire(name, with());
      } else if (way == 1) {
        held = locks.try_acquire(name, with());
      } else if (way == 2) {
        held = locks.try_acquire_for(name, 2ms, with());
      } else if (way == 3) {
        stop.request_stop();
        held = locks.try_acquire_for(name, 1h, with(), stop.get_token());
      } else {
        held = locks.try_acquire_for(name, 20ms, with({.fairness = fairness::fifo}));
      }
    } catch (const error&) {
      ++seen.failed;
      return;
    }
    if (!held) return static_cast<void>(++(stop.stop_requested() ? seen.cancelled : seen.busy));
    ++seen.acquired;
    ++seen.released;
    if (random() % 2 == 0) error_of([&] { held->release(); });
  }
};
ROWLOCK_CONTRACT_SUITE(metrics, any_pair());
class metrics_of_leases : public metrics {};
ROWLOCK_CONTRACT_SUITE(metrics_of_leases, leases(any_pair()));

TEST_P(metrics, of_a_fresh_client_are_zero_and_name_all_strategies_and_reasons) {
  const auto seen = locks_.stats();
  EXPECT_EQ(seen.strategies.size(), 3U);
  for (const auto& each : seen.strategies) EXPECT_EQ(each.acquired + each.busy + each.failed + each.lost, 0U);
  EXPECT_EQ(seen.losses.size(), 10U);
  for (const auto& each : seen.losses) EXPECT_EQ(each.lost, 0U) << to_string(each.reason);
  EXPECT_TRUE(seen.errors.empty());
  EXPECT_EQ(seen.held, 0U);
  EXPECT_EQ(seen.connections, 1U);
  EXPECT_EQ(seen.connections_in_use, 0U);
  EXPECT_GT(sent(locks_, "connecting"), 0U);
}

TEST_P(metrics, under_load_are_what_the_threads_have_counted_themselves) {
  constexpr int threads = 4;
  constexpr int rounds = 50;
  tally all;
  on_threads(threads, [&](int t) {
    std::minstd_rand random{static_cast<unsigned>(t + 1)};
    for (int i = 0; i < rounds; ++i) ask_once(locks_, random, all);
  });
  std::vector<held_lock> lost;
  for (int i = 0; i < 3; ++i) lost.push_back(locks_.acquire("lost/" + std::to_string(i), with()));
  locks_.release_all();
  all.acquired += 3;
  ASSERT_EQ(all.acquired + all.busy + all.cancelled + all.failed, threads * rounds + 3);

  const auto counted = mine(locks_);
  const auto written = page(locks_);
  const std::string name{to_string(GetParam().strategy)};
  const struct {
    const char* outcome;
    std::uint64_t seen;
    std::uint64_t counted;
  } outcomes[] = {{"acquired", all.acquired, counted.acquired},
                  {"busy", all.busy, counted.busy},
                  {"cancelled", all.cancelled, counted.cancelled},
                  {"failed", all.failed, counted.failed}};
  for (const auto& each : outcomes) {
    EXPECT_EQ(each.counted, each.seen) << each.outcome;
    EXPECT_EQ(written.value("rowlock_acquisitions_total", {{"strategy", name}, {"outcome", each.outcome}}),
              static_cast<double>(each.seen));
  }
  EXPECT_EQ(counted.released, all.released);
  EXPECT_EQ(counted.lost, 3U);
  EXPECT_EQ(count_of(counted.waits), all.acquired);
  EXPECT_EQ(count_of(counted.holds), all.released + 3);
  EXPECT_GT(counted.holds.sum, 0s);
  EXPECT_TRUE(eventually([&] { return locks_.stats().connections_in_use == 0; }))
      << "tickets are deleted a little later";
  const auto everything = locks_.stats();
  EXPECT_EQ(everything.held, 0U);
  EXPECT_EQ(everything.waiting, 0U);
  for (const auto& each : everything.losses)
    EXPECT_EQ(each.lost, each.reason == loss_reason::forced ? 3U : 0U) << to_string(each.reason);
  for (const auto& each : everything.strategies)
    EXPECT_EQ(each.acquired, each.strategy == GetParam().strategy ? all.acquired.load() : 0U);
  EXPECT_GE(sent(locks_, "acquiring") + sent(locks_, "waiting in turn") + everything.handovers, all.acquired);
  EXPECT_GT(sent(locks_, GetParam().holds_by_transaction ? "committing" : "releasing"), 0U);
  EXPECT_GT(sent(locks_, "waiting in turn") + everything.handovers, 0U);
  EXPECT_EQ(written.value("rowlock_releases_total", {{"strategy", name}}), static_cast<double>(all.released));
  EXPECT_EQ(written.value("rowlock_losses_total", {{"reason", "forced"}}), 3);
  EXPECT_EQ(written.value("rowlock_wait_seconds_count", {{"strategy", name}}), static_cast<double>(all.acquired));
  EXPECT_EQ(written.value("rowlock_hold_seconds_count", {{"strategy", name}}), static_cast<double>(all.released + 3));
}

TEST_P(metrics, tell_what_is_held_and_waited_for_now) {
  const auto one = locks_.acquire("one", with());
  const auto two = locks_.acquire("two", with());
  background waiter{[&](std::stop_token stop) { return locks_.try_acquire_for("one", 1h, with(), stop).has_value(); }};
  EXPECT_TRUE(eventually([&] { return locks_.stats().waiting == 1; }));
  const auto seen = locks_.stats();
  EXPECT_EQ(seen.held, 2U);
  EXPECT_GE(seen.connections, 1U);
  if (GetParam().holds_by_transaction) {
    EXPECT_TRUE(eventually([&] { return locks_.stats().held_transactions == 2; }));
  } else {
    EXPECT_EQ(seen.held_transactions, 0U);
  }
  EXPECT_EQ(page(locks_).value("rowlock_held_locks"), 2);
  waiter.stop();
  EXPECT_FALSE(waiter.get());
  EXPECT_EQ(locks_.stats().waiting, 0U);
  EXPECT_EQ(mine(locks_).cancelled, 1U);
}

TEST_P(metrics, count_what_was_refused_before_anything_was_sent_as_failed) {
  EXPECT_TRUE(throws(errc::invalid_option, [&] {
    static_cast<void>(locks_.try_acquire("orders/42", with({.note = std::string(1001, 'x')})));
  }));
  EXPECT_EQ(mine(locks_).failed, 1U);
  EXPECT_TRUE(locks_.stats().errors.empty()) << "no call to the database failed";
}

TEST_P(metrics_of_leases, count_renewals_where_there_is_no_observer_either) {
  auto locks = client::connect(db().url());
  locks.migrate();
  const auto held = locks.acquire("orders/42", with({.lease = 3s}));
  EXPECT_TRUE(eventually([&] { return locks.stats().renewals >= 2; }));
  EXPECT_GE(sent(locks, "renewing"), 2U);
}

TEST_P(metrics, are_there_still_when_the_client_is_closed) {
  const auto held = locks_.acquire("orders/42", with());
  locks_.close();
  const auto seen = locks_.stats();
  EXPECT_EQ(mine(locks_).acquired, 1U);
  EXPECT_EQ(mine(locks_).lost, 1U);
  EXPECT_EQ(seen.held, 0U);
  EXPECT_EQ(seen.connections, 0U);
  EXPECT_EQ(page(locks_).value("rowlock_losses_total", {{"reason", "client_closed"}}), 1);
  const auto moved = std::move(locks_);
  // NOLINTNEXTLINE(bugprone-use-after-move): that is the question
  EXPECT_TRUE(throws(errc::client_closed, [&] { static_cast<void>(locks_.stats()); }));
}

}  // namespace
}  // namespace rowlock::test
