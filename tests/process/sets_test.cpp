#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "process/roles.hpp"
#include "support/databases.hpp"
#include "support/recorder.hpp"
#include "support/tier.hpp"
#include "testkit/child_process.hpp"
#include "testkit/eventually.hpp"
#include "testkit/temp_folder.hpp"

// Processes that want several names at once.

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;

constexpr int stock = 20;
constexpr std::size_t wanted = 5;

std::vector<lock_name> some_names(std::mt19937& random) {
  std::vector<lock_name> out;
  for (int i = 0; i < stock; ++i) out.emplace_back("item-" + std::to_string(i));
  std::ranges::shuffle(out, random);
  out.erase(out.begin() + wanted, out.end());
  return out;
}

/// buyer URL FOLDER SEED CYCLES: counts in the files of some of the names at a time.
int buy(const std::vector<std::string>& arguments) {
  auto locks = client::connect(arguments.at(0), {.observer = silent()});
  const std::filesystem::path folder{arguments.at(1)};
  std::mt19937 random{static_cast<unsigned>(std::stoul(arguments.at(2)))};
  say("ready");
  if (hear() != "go") return 1;
  for (int left = std::stoi(arguments.at(3)); left > 0; --left) {
    const auto names = some_names(random);
    const auto order = random() % 3 == 0 ? fairness::fifo : fairness::unfair;
    const auto all = locks.acquire_all(names, {.fairness = order});
    for (const auto& each : all.locks()) increment(folder / each.name().view());
  }
  return 0;
}

/// keeper URL: has three names until it is killed.
int keep(const std::vector<std::string>& arguments) {
  auto locks = client::connect(arguments.at(0), {.observer = silent()});
  const std::vector<lock_name> names{"item-1", "item-2", "item-3"};
  const auto all = locks.acquire_all(names, {.lease = 1s});
  say("held");
  hear();
  return 0;
}

const role_registration buyer_role{"buyer", buy};
const role_registration keeper_role{"keeper", keep};

class sets_of_locks : public on_each_database {};
ROWLOCK_SUITE_ON_EACH_DATABASE(sets_of_locks);

TEST_P(sets_of_locks, of_many_processes_are_had_one_after_the_other) {
  constexpr unsigned processes = 8;
  const temp_folder folder;
  auto locks = client::connect(db().url());
  locks.migrate();
  const int cycles = many(100, 12);
  std::vector<std::unique_ptr<child_process>> children;
  for (unsigned i = 0; i < processes; ++i)
    children.push_back(std::make_unique<child_process>(
        "buyer", std::vector{db().url(), folder.path().string(), std::to_string(i), std::to_string(cycles)}));
  for (auto& child : children) child->expect("ready");
  for (auto& child : children) child->send("go");
  for (auto& child : children) EXPECT_EQ(child->wait(), 0);
  long total = 0;
  for (const auto& file : std::filesystem::directory_iterator{folder.path()}) {
    long value = 0;
    std::ifstream{file.path()} >> value;
    total += value;
  }
  EXPECT_EQ(total, static_cast<long>(processes) * cycles * static_cast<long>(wanted));
  EXPECT_TRUE(locks.list("item-").empty());
  EXPECT_TRUE(locks.list_waiters("item-").empty());
}

TEST_P(sets_of_locks, of_one_that_is_killed_are_free_when_its_lease_ends) {
  auto locks = client::connect(db().url());
  locks.migrate();
  child_process dead{"keeper", {db().url()}};
  dead.expect("held");
  EXPECT_EQ(locks.list("item-").size(), 3U);
  dead.kill();
  const std::vector<lock_name> names{"item-3", "item-4", "item-1"};
  const auto all = locks.try_acquire_all_for(names, 20s);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), 3U);
}

}  // namespace
}  // namespace rowlock::test
