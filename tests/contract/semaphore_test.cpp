#include <atomic>

#include "contract/sharing.hpp"

namespace rowlock::test {
namespace {

TEST_P(sharing, a_semaphore_may_have_very_many_permits) {
  semaphore all{locks_, name, semaphore::max()};
  const auto most = all.try_acquire(semaphore::max() - 1);
  ASSERT_TRUE(most);
  {
    const auto last = all.try_acquire();
    EXPECT_TRUE(last);
    EXPECT_FALSE(all.try_acquire());
  }
  EXPECT_FALSE(all.try_acquire(2));
  EXPECT_TRUE(all.try_acquire(1));
}

TEST_P(sharing, a_semaphore_has_so_many_permits) {
  semaphore here{locks_, name, 3};
  semaphore there{other_, name, 3};
  auto one = here.acquire();
  auto two = there.try_acquire(2);
  ASSERT_TRUE(two);
  EXPECT_GT(two->token(), one.token());
  EXPECT_FALSE(here.try_acquire());
  EXPECT_FALSE(other_.try_acquire(name, with()));
  one.release();
  EXPECT_FALSE(here.try_acquire(2));
  const auto three = here.try_acquire();
  EXPECT_TRUE(three);
  two->release();
  EXPECT_TRUE(there.try_acquire(2));
  EXPECT_FALSE(there.try_acquire(3)) << "one is given out";
}

TEST_P(sharing, a_conversion_keeps_the_permits) {
  semaphore here{locks_, name, 4};
  semaphore there{other_, name, 4};
  auto held = here.acquire(3);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(held.try_upgrade());
    EXPECT_FALSE(there.try_acquire());
    held.downgrade();
    EXPECT_EQ(other_.find(name).value().sharers, 3);
    EXPECT_EQ(other_.sharers(name).at(0).sharers, 3);
    EXPECT_FALSE(there.try_acquire(2));
    EXPECT_TRUE(there.try_acquire());
  }
  held.release();
  EXPECT_TRUE(there.try_acquire(4));
}

TEST_P(sharing, numbers_of_permits_are_each_honoured) {
  semaphore narrow{locks_, name, 1};
  semaphore wide{locks_, name, 3};
  const auto one = wide.acquire();
  EXPECT_FALSE(narrow.try_acquire());
  const auto two = wide.acquire(2);
  EXPECT_FALSE(wide.try_acquire());
  EXPECT_TRUE(locks_.try_acquire_shared(name)) << "which has no number";
}

TEST_P(sharing, permits_of_the_dead_come_back) {
  semaphore here{locks_, name, 2, {.lease = 10min}};
  constexpr auto short_lease = 200ms;
  semaphore there{other_, name, 2, {.lease = short_lease, .renew = false}};
  const auto living = here.acquire();
  const stopwatch since;
  const auto dead = there.acquire();
  const bool was_refused = !here.try_acquire().has_value();
  EXPECT_TRUE(was_refused || since.elapsed() >= short_lease);
  EXPECT_TRUE(eventually([&] { return here.try_acquire().has_value(); }));
  EXPECT_EQ(living.why_lost(), loss_reason::none);
  EXPECT_FALSE(other_.try_acquire(name, with()));
}

TEST_P(sharing, a_waiter_has_the_permit_that_comes_back) {
  semaphore here{locks_, name, 2};
  semaphore there{other_, name, 2};
  const auto one = here.acquire();
  auto two = here.acquire();
  background waits{[&](std::stop_token stop) { return there.try_acquire_for(patience, 1, stop); }};
  ASSERT_TRUE(eventually([&] { return db().tickets() == 1; }));
  EXPECT_FALSE(waits.is_done_within(a_moment));
  two.release();
  EXPECT_TRUE(waits.get());
}

TEST_P(sharing, never_more_permits_than_there_are) {
  std::atomic<int> given{0};
  on_threads(8, [&](int t) {
    semaphore from{t % 2 == 0 ? locks_ : other_, name, 3};
    for (int i = 0; i < 10; ++i) {
      const int number = 1 + (t + i) % 3;
      const auto held = from.acquire(number);
      EXPECT_LE(given += number, 3);
      given -= number;
    }
  });
  EXPECT_TRUE(eventually([&] { return !locks_.find(name) && db().shares() == 0; }));
}

TEST_P(sharing, a_semaphore_refuses_numbers_that_make_no_sense) {
  EXPECT_TRUE(throws(errc::invalid_option, [&] { semaphore{locks_, name, 0}; }));
  EXPECT_TRUE(throws(errc::invalid_option, [&] { semaphore{locks_, name, semaphore::max() + 1}; }));
  EXPECT_TRUE(throws(errc::invalid_option, [&] { semaphore{locks_, name, 1, {.as = holder::this_thread()}}; }));
  semaphore two{locks_, name, 2};
  EXPECT_TRUE(throws(errc::invalid_option, [&] { (void)two.try_acquire(0); }));
  EXPECT_TRUE(throws(errc::invalid_option, [&] { (void)two.try_acquire(3); }));
  EXPECT_EQ(two.permits(), 2);
}

}  // namespace
}  // namespace rowlock::test
