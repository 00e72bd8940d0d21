#include "contract/contract.hpp"

namespace rowlock::test {
namespace {

class mutexes : public two_clients {
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

  mutex order_{locks_, "orders/42", with()};
};
ROWLOCK_CONTRACT_SUITE(mutexes, any_pair());

TEST_P(mutexes, excludes_other_clients_and_other_threads) {
  EXPECT_EQ(order_.name().view(), "orders/42");
  order_.lock();
  EXPECT_FALSE(can_have(other_, "orders/42"));
  EXPECT_FALSE(try_elsewhere(order_));
  EXPECT_GT(order_.held().token(), fencing_token{0});
  EXPECT_FALSE(order_.held().lost().stop_requested());
  order_.unlock();
  EXPECT_TRUE(can_have(other_, "orders/42"));
  EXPECT_TRUE(try_elsewhere(order_));
  const auto held = locks_.acquire("orders/42", with());
  EXPECT_FALSE(order_.try_lock());
}

TEST_P(mutexes, is_recursive_to_any_depth) {
  for (int depth = 0; depth < 100; ++depth) order_.lock();
  const auto token = order_.held().token();
  EXPECT_TRUE(order_.try_lock());
  EXPECT_TRUE(order_.try_lock_for(0s));
  EXPECT_EQ(order_.held().token(), token);
  for (int depth = 0; depth < 101; ++depth) order_.unlock();
  EXPECT_FALSE(can_have(other_, "orders/42")) << "one unlock is missing yet";
  EXPECT_FALSE(try_elsewhere(order_));
  order_.unlock();
  EXPECT_TRUE(can_have(other_, "orders/42"));
}

TEST_P(mutexes, held_is_for_the_calling_thread_only) {
  EXPECT_TRUE(throws(errc::not_held, [&] { static_cast<void>(order_.held()); }));
  order_.lock();
  EXPECT_NO_THROW(static_cast<void>(order_.held()));
  background elsewhere{[&](std::stop_token) { static_cast<void>(order_.held()); }};
  EXPECT_TRUE(throws(errc::not_held, [&] { elsewhere.get(); }));
  order_.unlock();
  EXPECT_TRUE(throws(errc::not_held, [&] { static_cast<void>(order_.held()); }));
}

TEST_P(mutexes, unlock_by_another_thread_is_reported_and_harms_nobody) {
  order_.lock();
  background elsewhere{[&](std::stop_token) { order_.unlock(); }};
  elsewhere.get();
  EXPECT_TRUE(eventually([&] { return told_.failed("orders/42", errc::not_held); }));
  EXPECT_FALSE(can_have(other_, "orders/42"));
  EXPECT_FALSE(order_.held().lost().stop_requested());
  order_.unlock();
  EXPECT_TRUE(can_have(other_, "orders/42"));
  EXPECT_EQ(told_.failures().size(), 1U);
}

TEST_P(mutexes, more_unlocks_than_locks_are_reported_and_harm_nobody) {
  order_.lock();
  order_.lock();
  order_.unlock();
  order_.unlock();
  const auto next = other_.acquire("orders/42", with());
  order_.unlock();
  order_.unlock();
  EXPECT_TRUE(eventually([&] { return told_.failures().size() == 2; }));
  EXPECT_TRUE(told_.failed("orders/42", errc::not_held));
  EXPECT_FALSE(can_have(locks_, "orders/42")) << "the next holder has it still";
  EXPECT_FALSE(next.lost().stop_requested());
}

TEST_P(mutexes, fewer_unlocks_than_locks_are_made_up_for_by_the_destructor) {
  {
    mutex order{locks_, "orders/42", with()};
    order.lock();
    order.lock();
    order.unlock();
    mutex of_an_ended_thread{locks_, "orders/43", with()};
    background elsewhere{[&](std::stop_token) { of_an_ended_thread.lock(); }};
    elsewhere.get();
    EXPECT_FALSE(can_have(other_, "orders/43"));
  }
  EXPECT_TRUE(can_have(other_, "orders/42"));
  EXPECT_TRUE(can_have(other_, "orders/43"));
}

TEST_P(mutexes, can_be_held_in_the_name_of_a_job) {
  mutex order{locks_, "orders/42", with({.as = holder::named("request-7")})};
  order.lock();
  background elsewhere{[&](std::stop_token) {
    const auto again = order.try_lock();
    order.unlock();
    order.unlock();
    return again;
  }};
  EXPECT_TRUE(elsewhere.get()) << "whichever thread speaks for the job";
  EXPECT_TRUE(can_have(other_, "orders/42"));
}

TEST_P(mutexes, locks_anew_after_a_loss_and_reports_the_unlock_of_a_lost_lock) {
  order_.lock();
  const auto token = order_.held().token();
  locks_.release_all();
  EXPECT_TRUE(order_.held().lost().stop_requested());
  EXPECT_EQ(order_.held().why_lost(), loss_reason::forced);
  {
    const auto taken = other_.acquire("orders/42", with());
    EXPECT_FALSE(order_.try_lock()) << "what was lost is not held";
  }
  order_.lock();
  EXPECT_FALSE(order_.held().lost().stop_requested());
  EXPECT_GT(order_.held().token(), token);
  EXPECT_FALSE(can_have(other_, "orders/42"));
  order_.unlock();
  EXPECT_TRUE(can_have(other_, "orders/42"));
  order_.lock();
  locks_.release_all();
  const auto next = other_.acquire("orders/42", with());
  order_.unlock();
  EXPECT_TRUE(eventually([&] { return told_.failed("orders/42", errc::lock_lost); }));
  EXPECT_FALSE(can_have(locks_, "orders/42"));
  EXPECT_FALSE(next.lost().stop_requested());
}

}  // namespace
}  // namespace rowlock::test
