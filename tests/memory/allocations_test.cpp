#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include <chrono>
#include <cstddef>
#include <future>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "memory/counted_new.hpp"
#include "support/calls.hpp"
#include "support/sqlite_database.hpp"
#include "testkit/eventually.hpp"

// What the library itself allocates, on SQLite, whose driver adds nothing to it. Names are so short that a std::string
// needs no memory for them.

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;

/// A lease so long that nothing is renewed meanwhile.
const lock_options for_an_hour{.lease = 1h};

class allocations : public testing::Test {
 protected:
  client connect() { return client::connect(database_.url()); }
  sqlite_database& db() { return database_; }

  void SetUp() override { connect().migrate(); }

 private:
  sqlite_database database_;
};

// Of the acquisition, which other threads share, and of the list of answers of each of two statements.
TEST_F(allocations, of_a_mutex_that_is_free_are_three) {
  constexpr std::size_t cycles = 100;
  auto locks = connect();
  mutex order{locks, "orders/42", for_an_hour};
  std::size_t before = 0;
  for (std::size_t i = 0; i < 2 * cycles; ++i) {
    if (i == cycles) before = allocations_of_this_thread();
    order.lock();
    order.unlock();
  }
  EXPECT_LE(allocations_of_this_thread() - before, 3 * cycles);
}

TEST_F(allocations, of_a_mutex_that_is_had_already_are_none) {
  constexpr std::size_t depth = 5;
  auto locks = connect();
  mutex order{locks, "orders/42", for_an_hour};
  order.lock();
  const auto before = allocations_of_this_thread();
  for (std::size_t i = 0; i < depth; ++i) order.lock();
  for (std::size_t i = 0; i < depth; ++i) order.unlock();
  EXPECT_EQ(allocations_of_this_thread(), before);
  order.unlock();
}

TEST_F(allocations, of_a_held_lock_are_half_a_kibibyte) {
  constexpr std::size_t count = 1'000;
  auto locks = connect();
  locks.acquire("memory/first", for_an_hour).release();
  std::vector<held_lock> held;
  held.reserve(count);
  const auto before = allocated_bytes();
  for (std::size_t i = 0; i < count; ++i) held.push_back(locks.acquire("memory/" + std::to_string(i), for_an_hour));
  EXPECT_LE(allocated_bytes() - before, 512 * count);
}

/// Many wait at once, each for a name of its own, or all for one.
class allocations_of_waits : public allocations, public testing::WithParamInterface<bool> {
 protected:
  static std::string name(std::size_t i) { return "memory/" + std::to_string(GetParam() ? i : 0); }
  /// By a client other than that of the waiters.
  void hold_what_is_waited_for(std::size_t count) {
    for (std::size_t i = 0; i < (GetParam() ? count : 1); ++i) held_.push_back(other_->acquire(name(i), for_an_hour));
  }
  /// Once the calls that took the tickets are over. `before`: what was allocated before so many began to wait.
  void expect_less_for_each(std::size_t limit, std::size_t count, std::size_t before) {
    EXPECT_TRUE(eventually([&] { return db().tickets() == static_cast<int>(count); }));
    std::size_t waiting = 0;
    EXPECT_TRUE(eventually([&] { return (waiting = allocated_bytes() - before) <= limit * count; })) << waiting / count;
  }

 private:
  void SetUp() override {
    allocations::SetUp();
    other_.emplace(connect());
  }

  std::optional<client> other_;
  std::vector<held_lock> held_;
};
INSTANTIATE_TEST_SUITE_P(on, allocations_of_waits, testing::Bool(),
                         [](const auto& of) { return std::string{of.param ? "as_many_names" : "one_name"}; });

TEST_P(allocations_of_waits, of_threads_are_less_than_two_kibibytes_each) {
  constexpr std::size_t count = 200;
  hold_what_is_waited_for(count);
  auto locks = connect();
  ASSERT_FALSE(locks.try_acquire_for(name(0), 10ms, for_an_hour));
  ASSERT_TRUE(eventually([&] { return db().tickets() == 0; }));

  std::stop_source stop;
  std::vector<std::jthread> threads;
  threads.reserve(count);
  const auto before = allocated_bytes();
  for (std::size_t i = 0; i < count; ++i)
    threads.emplace_back([&locks, name = name(i), token = stop.get_token()] {
      EXPECT_THROW(static_cast<void>(locks.acquire(name, for_an_hour, token)), error);
    });
  expect_less_for_each(2048, count, before);
  stop.request_stop();
}

TEST_P(allocations_of_waits, without_threads_are_less_than_three_and_a_half_kibibytes_each) {
  constexpr std::size_t count = 1'000;
  hold_what_is_waited_for(count);
  auto locks = connect();
  std::stop_source stop;
  std::vector<std::future<async_answer<held_lock>>> calls;
  calls.reserve(count);
  const auto before = allocated_bytes();
  for (std::size_t i = 0; i < count; ++i)
    calls.push_back(begin(locks.acquire_async(name(i), for_an_hour, stop.get_token())));
  expect_less_for_each(3584, count, before);
  stop.request_stop();
  for (auto& each : calls) EXPECT_THROW(static_cast<void>(each.get().get()), error);
}

}  // namespace
}  // namespace rowlock::test
