#include <memory>

#include "contract/contract.hpp"

namespace rowlock::test {
namespace {

class mutexes : public contract {
 protected:
  /// What a thread of its own sees.
  static bool try_elsewhere(mutex& m) {
    background elsewhere{[&](std::stop_token) {
      const bool got = m.try_lock();
      if (got) m.unlock();
      return got;
    }};
    return elsewhere.get();
  }
};
ROWLOCK_CONTRACT_SUITE(mutexes, usual_pairs());

TEST_P(mutexes, locks_and_unlocks) {
  auto locks = connect();
  auto other = connect();
  mutex order{locks, "orders/42", with()};
  EXPECT_EQ(order.name().view(), "orders/42");
  order.lock();
  EXPECT_FALSE(can_have(other, "orders/42"));
  EXPECT_GT(order.held().token(), fencing_token{0});
  EXPECT_FALSE(order.held().lost().stop_requested());
  order.unlock();
  EXPECT_TRUE(can_have(other, "orders/42"));
}

TEST_P(mutexes, try_lock_answers) {
  auto locks = connect();
  mutex order{locks, "orders/42", with()};
  auto held = locks.acquire("orders/42", with());
  EXPECT_FALSE(order.try_lock());
  held.release();
  EXPECT_TRUE(order.try_lock());
  EXPECT_FALSE(can_have(locks, "orders/42"));
  order.unlock();
}

TEST_P(mutexes, lock_with_a_stop_token_takes_the_lock) {
  auto locks = connect();
  mutex order{locks, "orders/42", with()};
  std::stop_source source;
  EXPECT_TRUE(order.lock(source.get_token()));
  source.request_stop();
  EXPECT_FALSE(order.held().lost().stop_requested());
  order.unlock();
}

TEST_P(mutexes, excludes_other_threads_of_the_same_client) {
  auto locks = connect();
  mutex order{locks, "orders/42", with()};
  order.lock();
  EXPECT_FALSE(try_elsewhere(order));
  order.unlock();
  EXPECT_TRUE(try_elsewhere(order));
}

TEST_P(mutexes, is_recursive_to_any_depth) {
  auto locks = connect();
  auto other = connect();
  mutex order{locks, "orders/42", with()};
  for (int depth = 0; depth < 100; ++depth) order.lock();
  const auto token = order.held().token();
  EXPECT_TRUE(order.try_lock());
  EXPECT_TRUE(order.try_lock_for(0s));
  EXPECT_EQ(order.held().token(), token);
  for (int depth = 0; depth < 101; ++depth) order.unlock();
  EXPECT_FALSE(can_have(other, "orders/42")) << "one unlock is missing yet";
  EXPECT_FALSE(try_elsewhere(order));
  order.unlock();
  EXPECT_TRUE(can_have(other, "orders/42"));
}

TEST_P(mutexes, two_objects_of_one_name_are_one_lock) {
  auto locks = connect();
  auto other = connect();
  mutex one{locks, "orders/42", with()};
  mutex two{locks, "orders/42", with()};
  one.lock();
  EXPECT_TRUE(two.try_lock()) << "the same thread has it already";
  EXPECT_FALSE(try_elsewhere(two));
  one.unlock();
  EXPECT_FALSE(can_have(other, "orders/42")) << "held through the other object still";
  two.unlock();
  EXPECT_TRUE(can_have(other, "orders/42"));
}

TEST_P(mutexes, objects_of_two_clients_exclude_each_other_in_one_thread) {
  auto first = connect();
  auto second = connect();
  mutex one{first, "orders/42", with()};
  mutex two{second, "orders/42", with()};
  one.lock();
  EXPECT_FALSE(two.try_lock());
  one.unlock();
  EXPECT_TRUE(two.try_lock());
  two.unlock();
}

TEST_P(mutexes, held_is_for_the_calling_thread_only) {
  auto locks = connect();
  mutex order{locks, "orders/42", with()};
  EXPECT_TRUE(throws(errc::not_held, [&] { static_cast<void>(order.held()); }));
  order.lock();
  EXPECT_NO_THROW(static_cast<void>(order.held()));
  background elsewhere{[&](std::stop_token) { static_cast<void>(order.held()); }};
  EXPECT_TRUE(throws(errc::not_held, [&] { elsewhere.get(); }));
  order.unlock();
  EXPECT_TRUE(throws(errc::not_held, [&] { static_cast<void>(order.held()); }));
}

TEST_P(mutexes, unlock_by_another_thread_is_reported_and_harms_nobody) {
  const recorder told;
  auto locks = connect({.observer = told.observer()});
  auto other = connect();
  mutex order{locks, "orders/42", with()};
  order.lock();
  background elsewhere{[&](std::stop_token) { order.unlock(); }};
  elsewhere.get();
  EXPECT_TRUE(eventually([&] { return told.failed("orders/42", errc::not_held); }));
  EXPECT_FALSE(can_have(other, "orders/42"));
  EXPECT_FALSE(order.held().lost().stop_requested());
  order.unlock();
  EXPECT_TRUE(can_have(other, "orders/42"));
  EXPECT_EQ(told.failures().size(), 1U);
}

TEST_P(mutexes, more_unlocks_than_locks_are_reported_and_harm_nobody) {
  const recorder told;
  auto locks = connect({.observer = told.observer()});
  auto other = connect();
  mutex order{locks, "orders/42", with()};
  order.lock();
  order.lock();
  order.unlock();
  order.unlock();
  const auto next = other.acquire("orders/42", with());
  order.unlock();
  order.unlock();
  EXPECT_TRUE(eventually([&] { return told.failures().size() == 2; }));
  EXPECT_TRUE(told.failed("orders/42", errc::not_held));
  EXPECT_FALSE(can_have(locks, "orders/42")) << "the next holder has it still";
  EXPECT_FALSE(next.lost().stop_requested());
}

TEST_P(mutexes, fewer_unlocks_than_locks_are_made_up_for_by_the_destructor) {
  auto locks = connect();
  auto other = connect();
  {
    mutex order{locks, "orders/42", with()};
    order.lock();
    order.lock();
    order.unlock();
  }
  EXPECT_TRUE(can_have(other, "orders/42"));
}

TEST_P(mutexes, the_destructor_releases_what_an_ended_thread_left) {
  auto locks = connect();
  auto other = connect();
  {
    mutex order{locks, "orders/42", with()};
    background elsewhere{[&](std::stop_token) { order.lock(); }};
    elsewhere.get();
    EXPECT_FALSE(can_have(other, "orders/42"));
  }
  EXPECT_TRUE(can_have(other, "orders/42"));
}

TEST_P(mutexes, can_be_held_in_the_name_of_a_job) {
  auto locks = connect();
  auto other = connect();
  mutex order{locks, "orders/42", with({.as = holder::named("request-7")})};
  order.lock();
  background elsewhere{[&](std::stop_token) {
    const auto again = order.try_lock();
    order.unlock();
    order.unlock();
    return again;
  }};
  EXPECT_TRUE(elsewhere.get()) << "whichever thread speaks for the job";
  EXPECT_TRUE(can_have(other, "orders/42"));
}

TEST_P(mutexes, waits_for_it_anew_after_a_loss) {
  const recorder told;
  auto locks = connect({.observer = told.observer()});
  auto other = connect();
  mutex order{locks, "orders/42", with()};
  order.lock();
  const auto token = order.held().token();
  locks.release_all();
  EXPECT_TRUE(order.held().lost().stop_requested());
  EXPECT_EQ(order.held().why_lost(), loss_reason::forced);
  {
    const auto taken = other.acquire("orders/42", with());
    EXPECT_FALSE(order.try_lock()) << "what was lost is not held";
  }
  order.lock();
  EXPECT_FALSE(order.held().lost().stop_requested());
  EXPECT_GT(order.held().token(), token);
  EXPECT_FALSE(can_have(other, "orders/42"));
  order.unlock();
  EXPECT_TRUE(can_have(other, "orders/42"));
}

TEST_P(mutexes, unlock_after_a_loss_is_reported) {
  const recorder told;
  auto locks = connect({.observer = told.observer()});
  auto other = connect();
  mutex order{locks, "orders/42", with()};
  order.lock();
  locks.release_all();
  const auto next = other.acquire("orders/42", with());
  order.unlock();
  EXPECT_TRUE(eventually([&] { return told.failed("orders/42", errc::lock_lost); }));
  EXPECT_FALSE(can_have(locks, "orders/42"));
  EXPECT_FALSE(next.lost().stop_requested());
}

TEST_P(mutexes, bad_options_are_refused_when_it_is_made) {
  auto locks = connect_bare();
  EXPECT_TRUE(throws(errc::invalid_option, [&] { mutex m(locks, "orders/42", {.lease = 99ms}); }));
  EXPECT_TRUE(throws(errc::invalid_option, [&] { mutex m(locks, "orders/42", with({.note = "\xff"})); }));
  EXPECT_NO_THROW(mutex(locks, "orders/42", with())) << "nothing is sent, so nothing can be missing";
}

}  // namespace
}  // namespace rowlock::test
