#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "process/roles.hpp"
#include "support/databases.hpp"
#include "support/recorder.hpp"
#include "testkit/child_process.hpp"
#include "testkit/eventually.hpp"

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;

/// taker URL NAME: at every "take" waits for the lock, says when it had it, and lets go at the next word.
int take(const std::vector<std::string>& arguments) {
  auto locks = client::connect(arguments.at(0), {.observer = silent()});
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

class handover : public on_each_database {};
ROWLOCK_SUITE_ON_EACH_DATABASE(handover);

TEST_P(handover, to_a_waiter_in_another_process_is_prompt) {
  auto locks = client::connect(db().url(), {.observer = silent()});
  locks.migrate();
  child_process taker{"taker", {db().url(), "job"}};
  taker.expect("ready");
  std::vector<std::int64_t> waited;
  for (int i = 0; i < 20; ++i) {
    auto held = locks.acquire("job");
    taker.send("take");
    taker.expect("waiting");
    const stopwatch watch;
    EXPECT_TRUE(eventually([&] { return watch.elapsed() > std::chrono::milliseconds{40 + 7 * i}; }))
        << "it has settled down to wait";
    held.release();
    const auto released = shared_clock();
    waited.push_back(std::stoll(taker.read_line()) - released);
    taker.send("release");
    taker.expect("released");
  }
  taker.send("end");
  EXPECT_EQ(taker.wait(), 0);
  std::sort(waited.begin(), waited.end());
  RecordProperty("p50_us", std::to_string(waited[waited.size() / 2]));
  RecordProperty("max_us", std::to_string(waited.back()));
  EXPECT_LT(waited[waited.size() / 2], 100'000) << "half of the waits";
  EXPECT_LT(waited.back(), 5'000'000) << "the longest of them";
}

TEST_P(handover, goes_through_a_row_of_processes) {
  auto locks = client::connect(db().url(), {.observer = silent()});
  locks.migrate();
  auto held = locks.acquire("job");
  std::vector<std::unique_ptr<child_process>> takers;
  for (int i = 0; i < 5; ++i) {
    takers.push_back(std::make_unique<child_process>("taker", std::vector<std::string>{db().url(), "job"}));
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
  EXPECT_TRUE(locks.try_acquire("job").has_value());
}

}  // namespace
}  // namespace rowlock::test
