#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "contract/contract.hpp"
#include "support/test_thread.hpp"

namespace rowlock::test {
namespace {

class reentrancy : public two_clients {
 protected:
  const lock_options as_job_ = with({.as = holder::named("request-7")});
};
ROWLOCK_CONTRACT_SUITE(reentrancy, any_pair());
class reentrancy_of_leases : public reentrancy {};
ROWLOCK_CONTRACT_SUITE(reentrancy_of_leases, leases(any_pair()));
class reentrancy_of_rows : public reentrancy {};
ROWLOCK_CONTRACT_SUITE(reentrancy_of_rows, rows(any_pair()));

TEST_P(reentrancy, is_in_every_way_and_on_any_thread_and_the_last_handle_lets_go) {
  auto one = locks_.acquire("orders/42", as_job_);
  auto two = locks_.try_acquire("orders/42", as_job_);
  ASSERT_TRUE(two.has_value());
  EXPECT_EQ(two->token(), one.token()) << "it is the same ownership";
  EXPECT_TRUE(locks_.try_acquire_for("orders/42", 0s, as_job_).has_value());
  auto three = locks_.try_acquire_for("orders/42", std::chrono::hours::max(), as_job_);
  background elsewhere{[&](std::stop_token) { return locks_.try_acquire("orders/42", as_job_).has_value(); }};
  EXPECT_TRUE(elsewhere.get());
  one.release();
  EXPECT_FALSE(can_have(other_, "orders/42"));
  EXPECT_TRUE(throws(errc::not_held, [&] { one.release(); })) << "each handle counts once";
  three.reset();
  EXPECT_FALSE(can_have(other_, "orders/42"));
  EXPECT_TRUE(static_cast<bool>(*two));
  EXPECT_FALSE(two->lost().stop_requested());
  two->release();
  EXPECT_TRUE(can_have(other_, "orders/42"));
}

// Threads that share a holder, of which one always joins in before the others let go.
TEST_P(reentrancy, threads_of_one_holder_let_another_client_have_its_turn) {
  std::atomic<int> times{0};
  std::vector<test_thread> all;
  for (int i = 0; i < 3; ++i)
    all.emplace_back([&, i](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        const auto held = locks_.acquire("orders/42", as_job_);
        ++times;
        std::this_thread::sleep_for(3ms + 2ms * i);
      }
    });
  ASSERT_TRUE(eventually([&] { return times > 30; }));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(other_.try_acquire_for("orders/42", 20s, with()).has_value()) << i;
  const int so_far = times;
  EXPECT_TRUE(eventually([&] { return times > so_far + 30; })) << "they go on";
}

// A holder may give work to a thread and join it while it has the name: such a thread is late for a moment, at most.
TEST_P(reentrancy, a_thread_joins_in_while_its_holder_waits_for_it_though_another_client_waits) {
  auto outer = locks_.acquire("orders/42", as_job_);
  const auto token = outer.token();
  background waiter{[&](std::stop_token stop) { return other_.acquire("orders/42", with(), std::move(stop)).token(); }};
  ASSERT_TRUE(eventually([&] { return locks_.waiters("orders/42").size() == 1; }));
  const auto until = std::chrono::steady_clock::now() + 500ms;
  do {
    background inner{
        [&](std::stop_token stop) { return locks_.acquire("orders/42", as_job_, std::move(stop)).token(); }};
    EXPECT_EQ(inner.get(), token);
  } while (std::chrono::steady_clock::now() < until);
  EXPECT_EQ(locks_.acquire("orders/42", as_job_).token(), token) << "it has a handle, and is never late";
  outer.release();
  EXPECT_GT(waiter.get(), token);
}

// Whichever way it was acquired, a lock belongs to its holder: one handle more is given at once, and a loss is a loss
// of all handles.
TEST_P(reentrancy_of_leases, holds_for_every_way_to_a_lock) {
  using handle = std::shared_ptr<void>;
  const auto kept = [](auto held) -> handle { return std::make_shared<decltype(held)>(std::move(held)); };
  const std::vector<lock_name> names{"orders/42"};
  const std::vector<lock_name> more{"orders/41", "orders/42"};
  const struct {
    const char* name;
    std::function<handle(client&)> acquire;
  } ways[] = {
      {"acquire", [&](client& by) { return kept(by.acquire("orders/42", as_job_)); }},
      {"try_acquire_for", [&](client& by) { return kept(by.try_acquire_for("orders/42", 1min, as_job_).value()); }},
      {"acquire_any", [&](client& by) { return kept(by.acquire_any(names, as_job_)); }},
      {"acquire_all", [&](client& by) { return kept(by.acquire_all(more, as_job_)); }},
      {"try_acquire_all", [&](client& by) { return kept(by.try_acquire_all(more, as_job_).value()); }},
      {"try_upgrade",
       [&](client& by) {
         auto held = by.acquire_shared("orders/42", {.as = as_job_.as});
         EXPECT_TRUE(held.try_upgrade());
         return kept(std::move(held));
       }},
  };
  const auto as_another_job = with({.as = holder::named("request-8")});
  for (const auto& way : ways) {
    SCOPED_TRACE(way.name);
    auto locks = connect();
    auto first = way.acquire(locks);
    std::vector<held_lock> again;
    again.push_back(locks.try_acquire("orders/42", as_job_).value());
    again.push_back(locks.acquire("orders/42", as_job_));
    again.push_back(locks.try_acquire_any(names, as_job_).value());
    EXPECT_TRUE(locks.try_acquire_all(names, as_job_));
    EXPECT_TRUE(locks.try_acquire_all_for(more, 1min, as_job_));
    EXPECT_EQ(again[0].token(), again[2].token()) << "it is the same ownership";
    EXPECT_FALSE(locks.try_acquire("orders/42", as_another_job));
    EXPECT_FALSE(locks.try_acquire_all(more, as_another_job));
    first.reset();
    EXPECT_FALSE(can_have(other_, "orders/42")) << "handles are left";
    locks.release_all();
    for (const auto& each : again) EXPECT_EQ(each.why_lost(), loss_reason::forced);
    EXPECT_TRUE(can_have(other_, "orders/42"));
  }
}

TEST_P(reentrancy, any_other_holder_is_refused) {
  const auto held = locks_.acquire("orders/42", with({.as = holder::named("request-7")}));
  EXPECT_FALSE(can_have(locks_, "orders/42")) << "a fresh holder";
  EXPECT_FALSE(other_.try_acquire("orders/42", as_job_).has_value()) << "of another client";
  for (const auto& each :
       {holder::named("request-8"), holder::named("REQUEST-7"), holder::this_thread(), holder::unique()})
    EXPECT_FALSE(locks_.try_acquire("orders/42", with({.as = each})).has_value()) << each.text();
}

TEST_P(reentrancy, of_a_thread_is_shared_by_its_mutexes_and_its_calls) {
  const auto as_this_thread = with({.as = holder::this_thread()});
  const auto try_elsewhere = [&] {
    return background{[&](std::stop_token) {
             return locks_.try_acquire("orders/42", with({.as = holder::this_thread()})).has_value();
           }}
        .get();
  };
  mutex one{locks_, "orders/42", with()};
  mutex two{locks_, "orders/42", with()};
  one.lock();
  EXPECT_TRUE(two.try_lock()) << "the same thread has it already";
  EXPECT_FALSE(try_elsewhere());
  one.unlock();
  EXPECT_FALSE(can_have(other_, "orders/42")) << "held through the other object still";
  auto again = locks_.try_acquire("orders/42", as_this_thread);
  ASSERT_TRUE(again.has_value());
  two.unlock();
  EXPECT_FALSE(can_have(other_, "orders/42"));
  EXPECT_TRUE(locks_.try_acquire("orders/42", as_this_thread).has_value());
  EXPECT_FALSE(try_elsewhere());
  again->release();
  EXPECT_TRUE(can_have(other_, "orders/42"));
}

TEST_P(reentrancy_of_rows, asking_again_is_not_a_word_to_the_database) {
  const auto outer = locks_.acquire("orders/42", as_job_);
  const auto stalled = db().stall();
  const stopwatch watch;
  for (int i = 0; i < 100; ++i) {
    auto inner = locks_.try_acquire("orders/42", as_job_);
    ASSERT_TRUE(inner.has_value());
    inner->release();
  }
  EXPECT_LT(watch.elapsed(), 5s) << "less than one call_timeout";
}

TEST_P(reentrancy, one_loss_is_the_loss_of_all_handles) {
  auto outer = locks_.acquire("orders/42", as_job_);
  auto inner = locks_.acquire("orders/42", as_job_);
  locks_.release_all();
  EXPECT_TRUE(outer.lost().stop_requested());
  EXPECT_TRUE(inner.lost().stop_requested());
  auto anew = locks_.try_acquire("orders/42", as_job_);
  ASSERT_TRUE(anew.has_value()) << "a lost lock is not handed out again";
  EXPECT_GT(anew->token(), outer.token());
  EXPECT_TRUE(throws(errc::lock_lost, [&] { inner.release(); }));
  outer = held_lock{};
  EXPECT_FALSE(anew->lost().stop_requested()) << "the old handles have nothing to do with the new ownership";
  EXPECT_FALSE(can_have(other_, "orders/42"));
}

TEST_P(reentrancy, many_threads_share_one_holder) {
  on_threads(8, [&](int /*t*/) {
    for (int i = 0; i < 2000; ++i) locks_.acquire("orders/42", as_job_).release();
  });
  EXPECT_TRUE(can_have(other_, "orders/42"));
}

}  // namespace
}  // namespace rowlock::test
