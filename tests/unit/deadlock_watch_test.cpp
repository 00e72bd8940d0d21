#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/boot_clock.hpp"
#include "engine/lease/deadlock_watch.hpp"
#include "engine/maintenance.hpp"
#include "testkit/eventually.hpp"
#include "unit/fake_database.hpp"

// A waiter that has something and waits, in a database in which the test says who else does.

namespace rowlock {
namespace {

using namespace std::chrono_literals;

struct deadlock_watch_test : testing::Test {
  /// Has "a" as itself, or by a handle that may change threads, and waits for "b".
  void has(const std::optional<holder>& by) {
    ASSERT_TRUE(held.add(std::make_shared<engine::lease_state>(a, by, core::acquisition_id{"mine"}, lock_options{})));
    waiter.take(core::acquisition_id{"2"}, core::ticket_number{2});
  }
  bool look() {
    watch.run({.deadline = base::now() + 1h});
    return waiter.is_deadlocked();
  }
  void expect_unminded() {
    ASSERT_TRUE(test::eventually([&] { return !queue.long_waits(base::now() - 1s).empty(); }));
    EXPECT_FALSE(look());
    EXPECT_EQ(declared, 0);
  }
  /// It has waited for long enough that the database was asked.
  bool is_looked_for() {
    return test::eventually([&] { return look() || looks > 0; });
  }

  bool is_in_circle = true;
  int looks = 0;
  int declared = 0;
  test::fake_database db{[this](sheets::verb what, std::span<const driver::request>, const driver::limits&) {
    if (what == sheets::verb::declare_held) ++declared;
    if (what != sheets::verb::waiting_holders) return std::vector<driver::row>{};
    ++looks;
    std::vector<driver::row> out{{"b", std::int64_t{2}, "here", "1", "a"}};
    if (is_in_circle) out.insert(out.begin(), {"a", std::int64_t{1}, "there", "1", "b"});
    return out;
  }};
  const lock_name a{"a"};
  const lock_name b{"b"};
  engine::local_wait_queue queue;
  engine::lock_registry held;
  engine::maintenance unstarted{5s};
  engine::deadlock_watch watch{db.gateway(), queue, held, unstarted};
  engine::local_wait_queue::waiter waiter{queue, b};
};

TEST_F(deadlock_watch_test, ends_a_wait_when_two_looks_in_a_row_find_the_same_circle) {
  has(holder::this_thread());
  ASSERT_TRUE(is_looked_for());
  EXPECT_EQ(looks, 1);
  EXPECT_FALSE(waiter.is_deadlocked()) << "one of them may have been granted what it waited for just now";
  is_in_circle = false;
  EXPECT_FALSE(look());
  is_in_circle = true;
  EXPECT_FALSE(look()) << "it is another one";
  EXPECT_TRUE(look());
}

// Another thread may release them.
TEST_F(deadlock_watch_test, minds_no_handles_without_a_holder) {
  has(std::nullopt);
  expect_unminded();
}

TEST_F(deadlock_watch_test, minds_no_holders_with_a_name) {
  has(holder::named("job"));
  expect_unminded();
}

}  // namespace
}  // namespace rowlock
