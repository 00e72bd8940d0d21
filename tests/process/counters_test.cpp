#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "process/roles.hpp"
#include "support/databases.hpp"
#include "support/recorder.hpp"
#include "testkit/child_process.hpp"
#include "testkit/temp_folder.hpp"

namespace rowlock::test {
namespace {

constexpr int processes = 8;
constexpr int threads_each = 4;
constexpr int names = 4;
constexpr int cycles = 10;  // of each thread

/// counter URL FOLDER: threads that count, each in all of the files in turn.
int count(const std::vector<std::string>& arguments) {
  auto locks = client::connect(arguments.at(0), {.observer = silent()});
  const std::filesystem::path folder{arguments.at(1)};
  say("ready");
  if (hear() != "go") return 1;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < threads_each; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < cycles; ++i) {
          const auto name = "counter-" + std::to_string((t + i) % names);
          if (i % 2 == 0) {
            const auto held = locks.acquire(name);
            increment(folder / name);
          } else {
            mutex m{locks, name};
            const std::lock_guard guard{m};
            increment(folder / name);
          }
        }
      });
  }
  return 0;
}

const role_registration counter_role{"counter", count};

class counters : public on_each_database {};
ROWLOCK_SUITE_ON_EACH_DATABASE(counters);

TEST_P(counters, of_many_processes_with_many_threads_are_exact) {
  const temp_folder folder;
  client::connect(db().url()).migrate();
  std::vector<std::unique_ptr<child_process>> children;
  for (int i = 0; i < processes; ++i)
    children.push_back(
        std::make_unique<child_process>("counter", std::vector<std::string>{db().url(), folder.path().string()}));
  for (auto& child : children) child->expect("ready");
  for (auto& child : children) child->send("go");
  for (auto& child : children) {
    auto status = child->wait();
    if (!status) status = child->wait();  // under a sanitizer on a busy machine
    EXPECT_EQ(status, 0);
  }
  long total = 0;
  for (int n = 0; n < names; ++n) {
    long value = 0;
    std::ifstream{folder / ("counter-" + std::to_string(n))} >> value;
    EXPECT_GT(value, 0);
    total += value;
  }
  EXPECT_EQ(total, processes * threads_each * cycles);
}

}  // namespace
}  // namespace rowlock::test
