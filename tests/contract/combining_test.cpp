#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <latch>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "contract/contract.hpp"
#include "support/pulse.hpp"
#include "support/slowness.hpp"
#include "support/test_thread.hpp"
#include "support/tier.hpp"

namespace rowlock::test {
namespace {

/// Many threads of one client, whose requests travel together where the client combines.
class combining : public one_client {
 protected:
  static constexpr int threads = 64;
  static std::string name(int number) { return "job/" + std::to_string(number); }

  template <class Work>
  static void on_each_thread(Work work) {
    std::latch all_are_there{threads};
    on_threads(threads, [&](int i) {
      all_are_there.arrive_and_wait();
      work(i);
    });
  }
};
ROWLOCK_CONTRACT_SUITE(combining, leases(usual_pairs()));

TEST_P(combining, loses_no_count_and_no_order_of_tokens) {
  constexpr int names = 8;
  struct account {
    int visits = 0;  // guarded by the lock
    fencing_token last{};
  };
  for (const bool combines : {true, false}) {
    auto locks = connect({.combine = combines});
    std::array<account, names> accounts{};
    const int rounds = many(20, 5);
    on_each_thread([&](int thread) {
      for (int round = 0; round < rounds; ++round) {
        const int number = (thread + round) % names;
        const auto held = locks.acquire(name(number), with());
        auto& here = accounts.at(static_cast<std::size_t>(number));
        EXPECT_GT(held.token(), here.last);
        here.last = held.token();
        ++here.visits;
      }
    });
    for (const auto& each : accounts) EXPECT_EQ(each.visits, threads * rounds / names) << combines;
  }
}

TEST_P(combining, starves_nobody) {
  std::array<int, threads> cycles{};
  std::atomic<int> all{0};
  const int enough = many(500, 100) * threads;
  on_each_thread([&](int thread) {
    while (all < enough) {
      locks_.acquire(name(thread), with()).release();
      ++cycles.at(static_cast<std::size_t>(thread));
      ++all;
    }
  });
  EXPECT_GE(*std::min_element(cycles.begin(), cycles.end()) * 4, all / threads);
}

TEST_P(combining, keeps_limits_and_stops_of_each_its_own) {
  auto locks = connect({.call_timeout = 2s});
  auto obstacle = db().stall();
  std::stop_source stop;
  std::atomic<int> begun{0};
  std::atomic<int> stopped{0};
  std::atomic<int> granted{0};
  test_thread stopping{[&] {
    EXPECT_TRUE(eventually([&] { return begun == threads; }));
    stop.request_stop();
    EXPECT_TRUE(eventually([&] { return stopped == threads / 2; })) << "while the others wait";
    EXPECT_EQ(granted, 0);
    obstacle.reset();
  }};
  on_each_thread([&](int thread) {
    ++begun;
    if (thread % 2 == 0) {
      const auto why = error_of([&] { return locks.acquire(name(thread), with(), stop.get_token()); });
      EXPECT_TRUE(why && why->code() == errc::cancelled) << (why ? why->what() : "granted");
      ++stopped;
    } else {
      locks.acquire(name(thread), with()).release();
      ++granted;
    }
  });
  EXPECT_EQ(stopped, threads / 2);
  EXPECT_EQ(granted, threads / 2);
  for (int i = 0; i < threads; ++i) EXPECT_TRUE(eventually([&] { return can_have(locks, name(i)); })) << i;
}

// The answers to them may come just then. What was granted for nobody must not stay for longer than it takes to let it
// go: not for the pauses of the reconciler, and not for its lease.
TEST_P(combining, lets_go_at_once_of_what_stopped_calls_were_granted) {
  constexpr int rounds = 35;
  auto other = connect();
  const pulse calls{[&] { static_cast<void>(can_have(other, "beside")); }};
  const stopwatch of_the_rounds;
  on_each_thread([&](int thread) {
    for (int round = 0; round < rounds; ++round) {
      std::stop_source stop;
      const test_thread stopping{[&, in = 100us * (1 + (thread * 7 + round * 13) % 40)] {
        std::this_thread::sleep_for(in);
        stop.request_stop();
      }};
      error_of([&] { locks_.acquire(name(thread), with(), stop.get_token()).release(); });
    }
  });
  const auto limit = slack() + of_the_rounds.elapsed() / 4;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_TRUE(eventually([&] { return locks_.list("job/").empty(); }));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, limit + 10 * calls.longest_since(begin));
}

/// With a rule in the table that one name breaks.
class combining_with_a_bad_request : public combining {
 protected:
  void forbid(const std::string& forbidden) {
    const bool is_sqlite = GetParam().name.starts_with("sqlite");
    const std::string rule =
        is_sqlite ? "CREATE TRIGGER no_bad BEFORE INSERT ON rowlock_lock WHEN NEW.name = '" + forbidden +
                        "' BEGIN SELECT RAISE(ABORT, 'forbidden'); END;"
                  : "ALTER TABLE rowlock_lock ADD CONSTRAINT no_bad CHECK (name <> '" + forbidden + "');";
    const auto command = "printf '%s\\n' \"" + rule + "\" | " + db().shell() + " >/dev/null";
    ASSERT_EQ(std::system(command.c_str()), 0)
        << command;  // NOLINT(cert-env33-c,concurrency-mt-unsafe): no threads yet
  }
};
ROWLOCK_CONTRACT_SUITE(combining_with_a_bad_request, leases(usual_pairs()));

TEST_P(combining_with_a_bad_request, lets_it_fail_alone) {
  connect();
  forbid(name(7));
  std::atomic<int> granted{0};
  for (int round = 0; round < 3; ++round)
    on_each_thread([&](int thread) {
      const auto why = error_of([&] { locks_.acquire(name(thread), with()).release(); });
      if (!why) ++granted;
      EXPECT_EQ(why.has_value(), thread == 7) << (why ? why->what() : "");
    });
  EXPECT_EQ(granted, 3 * (threads - 1));
}

}  // namespace
}  // namespace rowlock::test
