#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <thread>

#include "process/claimant.hpp"
#include "process/process_test.hpp"
#include "process/visits.hpp"

// The strategies contend for the same row: whichever of them the holders of a name chose, there is one holder at a
// time, and the next has a larger token.

namespace rowlock::test {
namespace {

constexpr int processes_each = 4;
constexpr int threads_of_visitor = 2;
constexpr int visits_of_thread = 5;

/// visitor URL FOLDER STRATEGY VISITS: threads that count, each so often, each time under the lock.
int count_by_strategy(const std::vector<std::string>& arguments) {
  auto locks = connect_patiently(arguments.at(0));
  const std::filesystem::path folder{arguments.at(1)};
  const lock_options options{.strategy = strategy_named(arguments.at(2))};
  const int visits = std::stoi(arguments.at(3));
  if (!goes_with_the_others()) return 1;
  std::vector<std::jthread> threads;
  for (int t = 0; t < threads_of_visitor; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < visits; ++i) {
        if ((t + i) % 2 == 0) {
          const auto held = locks.acquire("counter", options);
          visit(folder, held.token());
        } else {
          mutex counter{locks, "counter", options};
          const std::lock_guard guard{counter};
          visit(folder, counter.held().token());
        }
      }
    });
  return 0;
}

const role_registration visitor_role{"visitor", count_by_strategy};

class two_strategies : public on_each_database_with<strategy_pair> {};
ROWLOCK_SUITE_ON_EACH_DATABASE_WITH_EACH(two_strategies, unordered_pairs());

TEST_P(two_strategies, exclude_each_other_and_tokens_grow) {
  const temp_folder folder;
  crew all;
  for (int i = 0; i < processes_each; ++i)
    for (const auto by : {what().first, what().second})
      join(all, "visitor", {db().url(), folder.path().string(), name_of(by), std::to_string(visits_of_thread)});
  go_together(all);
  expect_good_ends(all);
  constexpr std::int64_t visits = std::int64_t{2} * processes_each * threads_of_visitor * visits_of_thread;
  EXPECT_EQ(numbers_of(folder / "counter"), std::vector{visits});
  const auto tokens = numbers_of(folder / "tokens");
  EXPECT_EQ(std::ssize(tokens), visits);
  EXPECT_TRUE(grow(tokens));
}

/// Two processes by for_update and two by another strategy, all of which want the same name all the time.
class interrupted : public on_each_database_with<strategy> {
 protected:
  static constexpr int rounds = 12;

  struct grant {
    pid_t process = -1;
    std::int64_t token = 0;
  };

  void SetUp() override {
    // The first to have it is a transaction, so that there is one to interrupt.
    for (int i = 0; i < 2; ++i) all_.push_back(start(strategy::for_update));
    ASSERT_TRUE(eventually([&] { return !grants().empty(); }));
    for (int i = 0; i < 2; ++i) all_.push_back(start(what()));
  }

  std::unique_ptr<claimant> start(strategy by) const {
    auto out = std::make_unique<claimant>(db().url(), by, 10s, log_);
    out->order("claim job");
    return out;
  }
  std::unique_ptr<claimant>& with(pid_t process) {
    return *std::find_if(all_.begin(), all_.end(), [&](const auto& each) { return each->pid() == process; });
  }

  /// In the order in which they were given.
  std::vector<grant> grants() const {
    const auto numbers = numbers_of(log_);
    std::vector<grant> out;
    for (std::size_t i = 0; i + 1 < numbers.size(); i += 2)
      out.push_back({static_cast<pid_t>(numbers[i]), numbers[i + 1]});
    return out;
  }
  bool grants_grow() const {
    std::vector<std::int64_t> tokens;
    for (const auto& each : grants()) tokens.push_back(each.token);
    return grow(tokens);
  }

  static void let_go(claimant& holder) {
    EXPECT_EQ(holder.ask("release"), "released");
    holder.order("claim job");
  }
  void kill(std::unique_ptr<claimant>& holder) const {
    const auto by = holder->by();
    holder->kill();
    holder = start(by);
  }
  void end_session_of(claimant& holder) const {
    EXPECT_EQ(db().end_open_transactions(), 1);
    EXPECT_EQ(holder.ask("lost?"), "session_ended");
    EXPECT_EQ(holder.ask("release"), make_error_code(errc::lock_lost).message());
    holder.order("claim job");
  }

  const temp_folder folder_{};
  const std::filesystem::path log_ = folder_ / "grants";
  std::vector<std::unique_ptr<claimant>> all_;
};
ROWLOCK_SUITE_ON_EACH_DATABASE_WITH_EACH(interrupted, all_strategies);

TEST_P(interrupted, holders_are_one_at_a_time_and_tokens_grow) {
  int by_transaction = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    ASSERT_TRUE(eventually([&] { return grants().size() > round; })) << "nobody is next in round " << round;
    EXPECT_FALSE(eventually(20ms, [&] { return grants().size() > round + 1; })) << "two holders in round " << round;
    auto& holder = with(grants().at(round).process);
    EXPECT_EQ(holder->token(), grants().at(round).token);
    const int fault = holder->by() == strategy::for_update ? by_transaction++ % 3 : 2;
    if (fault == 0) {
      kill(holder);
    } else if (fault == 1 && !is_on("sqlite")) {
      end_session_of(*holder);
    } else {
      let_go(*holder);
    }
  }
  EXPECT_GE(by_transaction, 1) << "no lock by for_update was given";
  EXPECT_TRUE(grants_grow());
}

}  // namespace
}  // namespace rowlock::test
