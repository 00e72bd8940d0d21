#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>

#include "process/process_test.hpp"
#include "support/late_machine.hpp"
#include "support/pulse.hpp"
#include "support/tier.hpp"

namespace rowlock::test {
namespace {

/// taker URL NAME: at every "take" waits for the lock, says when it had it, and lets go at the next word.
int take(const std::vector<std::string>& arguments) {
  auto locks = connect_patiently(arguments.at(0));
  say("ready");
  while (hear() == "take") {
    say("waiting");
    auto held = locks.acquire(arguments.at(1));
    say(std::to_string(shared_clock()));
    static_cast<void>(hear());
    held.release();
    say("released");
  }
  return 0;
}

const role_registration taker_role{"taker", take};

constexpr auto long_wait = 2500ms;
constexpr int sleepers = 240;

std::string name_of_sleeper(int number) { return "job/" + std::to_string(number); }
fairness fairness_of_sleeper(int number) { return number % 2 == 0 ? fairness::unfair : fairness::fifo; }

/// sleepers URL: threads that wait each for a name of its own. Each says when it had it, and lets go.
int sleep_until_woken(const std::vector<std::string>& arguments) {
  auto locks = connect_patiently(arguments.at(0));
  std::mutex saying;
  std::vector<std::jthread> all;
  for (int i = 0; i < sleepers; ++i)
    all.emplace_back([&, i] {
      const auto held = locks.acquire(name_of_sleeper(i), {.fairness = fairness_of_sleeper(i)});
      const auto now = shared_clock();
      const std::lock_guard alone{saying};
      say(std::to_string(now));
    });
  return 0;
}

const role_registration sleepers_role{"sleepers", sleep_until_woken};

/// Times from the beginning of a release to the grant in another process, in microseconds.
class latencies {
 public:
  void add(std::int64_t one) {
    all_.push_back(one);
    std::sort(all_.begin(), all_.end());
  }
  /// That many of a hundred are no longer.
  std::int64_t percentile(int of_a_hundred) const {
    const auto rank = std::ceil(static_cast<double>(all_.size()) * of_a_hundred / 100);
    return all_.at(static_cast<std::size_t>(rank) - 1);
  }
  void record(const std::string& which) const {
    for (const int p : {50, 90, 99, 100})
      testing::Test::RecordProperty(which + (p == 100 ? "max" : "p" + std::to_string(p)) + "_us",
                                    std::to_string(percentile(p)));
  }

 private:
  std::vector<std::int64_t> all_;
};

class handover : public process_test {};
ROWLOCK_SUITE_ON_EACH_DATABASE(handover);

TEST_P(handover, to_a_waiter_in_another_process_is_prompt) {
  child_process taker{"taker", {db().url(), "job"}};
  taker.expect("ready");
  latencies waited;
  const late_machine machine;
  for (int i = 0; i < 20; ++i) {
    auto held = locks_.acquire("job");
    taker.send("take");
    taker.expect("waiting");
    const stopwatch watch;
    EXPECT_TRUE(eventually([&] { return watch.elapsed() > std::chrono::milliseconds{40 + 7 * i}; }))
        << "it has settled down to wait";
    const auto released = shared_clock();
    held.release();
    waited.add(std::stoll(taker.read_line()) - released);
    taker.send("release");
    taker.expect("released");
  }
  taker.send("end");
  EXPECT_EQ(taker.wait(), 0);
  waited.record("");
  const auto late = std::chrono::duration_cast<std::chrono::microseconds>(machine.by()).count();
  EXPECT_LT(waited.percentile(50), 100'000 + 4 * late) << "half of the waits";
  EXPECT_LT(waited.percentile(100), 5'000'000) << "the longest of them";
}

// Waiters that poll look less often the longer they wait: after that time four times a second at most. A hand-over is
// about ten steps of threads, servers and disks, one after the other. The pace is at least five, so the machine's part
// of a hand-over is about twice what that took meanwhile. What is left tells how the waiter learned of the release.
// MySQL may not hear a hint, which is made up for by looks 20, 100, 260 and 580 ms after the listener began to sleep;
// without them it takes seconds.
TEST_P(handover, to_those_who_have_waited_for_long_is_prompt_too) {
  auto beside = connect();
  const pulse machine{[&] { error_of([&] { beside.acquire("pace").release(); }); }};
  latencies unfair;
  latencies fifo;
  latencies besides;
  for (int round = 0; round < many(10, 1); ++round) {
    std::vector<held_lock> held;
    for (int i = 0; i < sleepers; ++i) held.push_back(locks_.acquire(name_of_sleeper(i)));
    child_process process{"sleepers", {db().url()}};
    ASSERT_TRUE(eventually([&] {
      const auto all = locks_.list_waiters("job/");
      return all.size() == sleepers &&
             std::all_of(all.begin(), all.end(), [](const waiter_info& each) { return each.age > long_wait; });
    }));
    for (int i = 0; i < sleepers; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      const auto released = shared_clock();
      held[static_cast<std::size_t>(i)].release();
      const auto took = std::stoll(process.read_line()) - released;
      (fairness_of_sleeper(i) == fairness::fifo ? fifo : unfair).add(took);
      const std::chrono::microseconds of_machine =
          2 * std::chrono::ceil<std::chrono::microseconds>(machine.longest_since(begin));
      besides.add(std::max<std::int64_t>(took - of_machine.count(), 0));
    }
    EXPECT_EQ(process.wait(), 0);
  }
  unfair.record("unfair_");
  fifo.record("fifo_");
  besides.record("besides_");
  EXPECT_LT(besides.percentile(50), 50'000 * slowness);
  EXPECT_LT(besides.percentile(100), 1'000'000 * slowness);
}

TEST_P(handover, goes_through_a_row_of_processes) {
  auto held = locks_.acquire("job");
  crew takers;
  for (int i = 0; i < 5; ++i) {
    join(takers, "taker", {db().url(), "job"});
    takers.back()->expect("ready");
    takers.back()->send("take");
    takers.back()->expect("waiting");
    takers.back()->send("release");
    takers.back()->send("end");
  }
  held.release();
  for (auto& taker : takers) {
    static_cast<void>(taker->read_line());
    taker->expect("released");
    EXPECT_EQ(taker->wait(), 0);
  }
  EXPECT_TRUE(locks_.try_acquire("job").has_value());
}

}  // namespace
}  // namespace rowlock::test
