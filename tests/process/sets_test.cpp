#include <algorithm>
#include <random>

#include "process/process_test.hpp"
#include "support/tier.hpp"

// Processes that want several names at once.

namespace rowlock::test {
namespace {

constexpr int stock = 20;
constexpr std::size_t wanted = 5;

std::vector<lock_name> items(int number) {
  std::vector<lock_name> out;
  for (int i = 0; i < number; ++i) out.emplace_back("item-" + std::to_string(i));
  return out;
}

std::vector<lock_name> some_names(std::mt19937& random) {
  auto out = items(stock);
  std::ranges::shuffle(out, random);
  out.erase(out.begin() + wanted, out.end());
  return out;
}

/// buyer URL FOLDER SEED CYCLES: counts in the files of some of the names at a time.
int buy(const std::vector<std::string>& arguments) {
  auto locks = connect_patiently(arguments.at(0));
  const std::filesystem::path folder{arguments.at(1)};
  std::mt19937 random{static_cast<unsigned>(std::stoul(arguments.at(2)))};
  if (!goes_with_the_others()) return 1;
  for (int left = std::stoi(arguments.at(3)); left > 0; --left) {
    const auto names = some_names(random);
    const auto order = random() % 3 == 0 ? fairness::fifo : fairness::unfair;
    const auto all = locks.acquire_all(names, {.fairness = order});
    for (const auto& each : all.locks()) increment(folder / each.name().view());
  }
  return 0;
}

/// collector URL ORDER NUMBER LEASE: waits for so many names, and has them until it is told to end.
int collect(const std::vector<std::string>& arguments) {
  auto locks = connect_patiently(arguments.at(0));
  const auto order = arguments.at(1) == "fifo" ? fairness::fifo : fairness::unfair;
  const std::chrono::seconds lease{std::stoi(arguments.at(3))};
  const auto all = locks.acquire_all(items(std::stoi(arguments.at(2))), {.lease = lease, .fairness = order});
  say("all");
  return hear() == "end" ? 0 : 1;
}

const role_registration buyer_role{"buyer", buy};
const role_registration collector_role{"collector", collect};

class sets_of_locks : public process_test {};
ROWLOCK_SUITE_ON_EACH_DATABASE(sets_of_locks);

TEST_P(sets_of_locks, of_many_processes_are_had_one_after_the_other) {
  constexpr unsigned processes = 8;
  const temp_folder folder;
  const int cycles = many(100, 12);
  crew buyers;
  for (unsigned i = 0; i < processes; ++i)
    join(buyers, "buyer", {db().url(), folder.path().string(), std::to_string(i), std::to_string(cycles)});
  go_together(buyers);
  expect_good_ends(buyers);
  long total = 0;
  for (const auto& file : std::filesystem::directory_iterator{folder.path()}) {
    long value = 0;
    std::ifstream{file.path()} >> value;
    total += value;
  }
  EXPECT_EQ(total, static_cast<long>(processes) * cycles * static_cast<long>(wanted));
  EXPECT_TRUE(locks_.list("item-").empty());
  EXPECT_TRUE(locks_.list_waiters("item-").empty());
}

TEST_P(sets_of_locks, of_one_that_is_killed_are_free_when_its_lease_ends) {
  child_process dead{"collector", {db().url(), "unfair", "3", "1"}};
  dead.expect("all");
  EXPECT_EQ(locks_.list("item-").size(), 3U);
  dead.kill();
  const std::vector<lock_name> names{"item-2", "item-3", "item-0"};
  const auto all = locks_.try_acquire_all_for(names, 20s);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), 3U);
}

/// A set that waits for a name that is held, and others that want its free names, alone and in a set.
class waiting_set : public process_test {
 protected:
  using clock = std::chrono::steady_clock;

  std::unique_ptr<child_process> collector(const std::string& order, std::size_t number) {
    return std::make_unique<child_process>("collector",
                                           std::vector<std::string>{db().url(), order, std::to_string(number), "30"});
  }
  std::size_t tickets() { return locks_.list_waiters("item-").size(); }
  /// For how long it was waited.
  template <class Try>
  clock::duration time_to(Try get) {
    const auto from = clock::now();
    EXPECT_TRUE(get());
    return clock::now() - from;
  }
  /// One name, and a set of two, of which the waiting set needs none at all any more.
  void expect_granted(fairness order, duration within) {
    const auto names = items(2);
    EXPECT_LE(time_to([&] { return locks_.try_acquire_for(names[0], patience, {.fairness = order}).has_value(); }),
              within + slack());
    EXPECT_LE(time_to([&] { return locks_.try_acquire_all_for(names, patience, {.fairness = order}).has_value(); }),
              within + slack());
  }
  /// Its tickets count for so long, or, of one that others may pass, keep a name free for so long.
  static duration counts(fairness order) { return order == fairness::fifo ? duration{6s} : duration{2s}; }

  void expect_set_granted(fairness order, int number, clock::duration within) {
    EXPECT_TRUE(locks_.try_acquire_all_for(items(number), within, {.fairness = order}).has_value());
  }
};
ROWLOCK_SUITE_ON_EACH_DATABASE(waiting_set);

constexpr std::pair<const char*, fairness> orders[] = {{"unfair", fairness::unfair}, {"fifo", fairness::fifo}};

TEST_P(waiting_set, that_is_killed_lets_others_go_on) {
  for (const auto& [name, order] : orders) {
    SCOPED_TRACE(name);
    auto held = locks_.acquire("item-2");
    const auto dead = collector(name, 3);
    ASSERT_TRUE(eventually([&] { return tickets() == 3; }));
    dead->kill();
    expect_granted(order, counts(order));
    held.release();
    expect_set_granted(order, 3, counts(order) + slack());
    ASSERT_TRUE(eventually([&] { return tickets() == 0; }));
  }
}

// In the middle of taking its tickets, one after the other.
TEST_P(waiting_set, that_is_killed_in_some_of_its_queues_lets_others_go_on) {
  constexpr std::size_t many_names = 400;
  for (const auto& named : orders) {
    SCOPED_TRACE(named.first);
    const auto& name = named.first;  // a lambda cannot have a structured binding with clang before 16
    const auto order = named.second;
    auto held = locks_.acquire("item-2");
    std::size_t written = 0;
    EXPECT_TRUE(eventually([&] {
      const auto dead = collector(name, many_names);
      EXPECT_TRUE(eventually([&] { return tickets() > 0; }));
      dead->kill();
      return (written = tickets()) < many_names && written > 0;
    }));
    held.release();
    expect_set_granted(order, many_names, counts(order) + patience);  // it takes as many tickets, and clears as many
    expect_granted(order, 0s);
    ASSERT_TRUE(eventually([&] { return tickets() == 0; }));
  }
}

// It comes back to its place, or takes other tickets.
TEST_P(waiting_set, that_is_paused_past_its_tickets_lets_others_go_on_and_is_had_afterwards) {
  for (const auto& [name, order] : orders) {
    SCOPED_TRACE(name);
    auto held = locks_.acquire("item-2");
    const auto set = collector(name, 3);
    ASSERT_TRUE(eventually([&] { return tickets() == 3; }));
    set->pause();
    ASSERT_TRUE(eventually([&] { return tickets() == 0; }));
    expect_granted(order, 0s);
    held.release();
    expect_set_granted(order, 3, slack());
    set->resume();
    set->expect("all");
    EXPECT_FALSE(locks_.try_acquire("item-0").has_value());
    set->send("end");
    EXPECT_EQ(set->wait(), 0);
    EXPECT_TRUE(eventually([&] { return locks_.list("item-").empty() && tickets() == 0; }));
  }
}

}  // namespace
}  // namespace rowlock::test
