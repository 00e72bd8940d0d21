#include <thread>

#include "support/test_thread.hpp"
#include "transaction/transaction_test.hpp"

namespace rowlock::test {
namespace {

constexpr int writers = 16;

/// Many who count in one row, each by a connection of its own, reading first and writing afterwards.
class counters : public transaction_test {
 protected:
  enum class way { optimism, lock_in, lease };

  /// So many increments by each of them.
  void count_by(const std::vector<way>& ways, int increments = 25) {
    make_rows({"counter"});
    {
      std::vector<test_thread> threads;
      for (int i = 0; i < writers; ++i)
        threads.emplace_back([this, increments, by = ways[static_cast<std::size_t>(i) % ways.size()]] {
          try {
            const auto own = open();
            for (int n = 0; n < increments; ++n) increment(by, *own);
          } catch (const std::exception& e) {
            ADD_FAILURE() << e.what();
          }
        });
    }
    EXPECT_EQ(value(), writers * increments);
  }

  void increment(way how, caller& by) {
    switch (how) {
      case way::optimism:
        return by_optimism(by);
      case way::lock_in:
        return by_lock_in(by);
      case way::lease:
        return by_lease(by);
    }
  }

 private:
  static void increment(caller& by) {
    const auto read = by.number(read_own);
    by.statement("UPDATE own SET n = " + std::to_string(read + 1) + " WHERE id = 1");
  }

  void by_optimism(caller& by) {
    by.optimistically_without_result(locks(), "counter", [&] { increment(by); }, {.attempts = 100'000});
  }
  void by_lock_in(caller& by) {
    until_done(by, [&] { by.lock_in(locks(), "counter"); });
  }
  void by_lease(caller& by) {
    const auto held = locks().acquire("counter");
    until_done(by, [&] { by.confirm(held); });
  }

  // One who has written before the name is asked for, and one who writes after it, may wait for each other: the server
  // chooses who begins again, and its driver says so in its own words.
  static bool may_begin_again(const std::exception& e) {
    const auto* own = dynamic_cast<const error*>(&e);
    return own != nullptr ? own->is_retryable() : std::string_view{e.what()}.find("eadlock") != std::string_view::npos;
  }

  static void until_done(caller& by, const std::function<void()>& lock) {
    for (;;) {
      by.begin();
      try {
        lock();
        increment(by);
        return by.commit();
      } catch (const std::exception& e) {
        by.rollback();
        if (!may_begin_again(e)) throw;
      }
    }
  }
};
ROWLOCK_SUITE_IN(counters, usual_places());

TEST_P(counters, by_optimistically_are_exact) { count_by({way::optimism}); }

TEST_P(counters, by_lock_in_are_exact) { count_by({way::lock_in}, 6); }

TEST_P(counters, by_both_are_exact) { count_by({way::optimism, way::lock_in}); }

TEST_P(counters, by_every_way_are_exact) { count_by({way::optimism, way::lock_in, way::lease, way::lock_in}); }

}  // namespace
}  // namespace rowlock::test
