#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <future>
#include <iterator>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "contract/contract.hpp"
#include "support/fake_call.hpp"
#include "support/happening.hpp"
#include "support/seed.hpp"
#include "support/slowness.hpp"
#include "support/tier.hpp"
#include "support/wait_storm.hpp"

// What asynchronous calls do beyond what the suite tests with ROWLOCK_TEST_CALLS: where and when they are answered.

namespace rowlock::test {
namespace {

class asynchronous : public two_clients {
 protected:
  template <class T>
  using future = std::future<async_answer<T>>;

  template <class Future>
  static auto result_of(Future&& call) {
    if (call.wait_for(patience) != std::future_status::ready) throw std::runtime_error{"there is no answer"};
    return call.get().get();
  }
  /// The text of the error that the call is answered with; empty if there is none.
  template <class Future>
  static std::string text_of(Future&& call) {
    const auto failed = error_of([&] { return result_of(call); });
    return failed ? failed->code().message() : std::string{};
  }
  static std::string text_of(errc code) { return make_error_code(code).message(); }

  const lock_options usual_ = with();  // with a name: see ROWLOCK_OPTIONS_NEED_A_NAME

  bool is_waited_for(int times = 1) {
    return eventually([&] { return db().tickets() == times; });
  }
  future<held_lock> start_to_wait(client& by, std::stop_token stop = {}) {
    return begin(by.acquire_async("orders/42", usual_, std::move(stop)));
  }

  static std::ptrdiff_t threads() { return std::distance(std::filesystem::directory_iterator{"/proc/self/task"}, {}); }

  /// A coroutine that holds the lock until it is told to go on, and is destroyed with the task at any point.
  static test_task hold(rowlock::client& by, lock_options options, executor where, std::function<void()> when_held) {
    const auto held = co_await by.acquire_async("orders/42", options).on(std::move(where));
    when_held();
    co_await std::suspend_always{};
  }
};
ROWLOCK_CONTRACT_SUITE(asynchronous, any_pair());
class asynchronous_leases : public asynchronous {};
ROWLOCK_CONTRACT_SUITE(asynchronous_leases, leases(any_pair()));

// --- what a handle does

TEST_P(asynchronous, a_release_frees_the_name_and_answers) {
  auto held = locks_.acquire("orders/42", with());
  auto call = held.release_async();
  EXPECT_FALSE(static_cast<bool>(held)) << "the handle is empty at once";
  EXPECT_FALSE(can_have(other_, "orders/42"));
  EXPECT_EQ(text_of(begin(std::move(call))), "");
  EXPECT_TRUE(can_have(other_, "orders/42"));
  EXPECT_TRUE(throws(errc::not_held, [&] { static_cast<void>(held.release_async()); }));
}

TEST_P(asynchronous, a_release_that_never_begins_frees_the_name) {
  auto held = locks_.acquire("orders/42", with());
  { const auto never = held.release_async(); }
  EXPECT_TRUE(eventually([&] { return can_have(other_, "orders/42"); }));
}

TEST_P(asynchronous_leases, a_release_answers_that_the_lock_was_lost) {
  auto held = locks_.acquire("orders/42", with());
  locks_.force_release("orders/42");
  EXPECT_EQ(text_of(begin(held.release_async())), text_of(errc::lock_lost));
}

TEST_P(asynchronous_leases, a_lease_is_extended) {
  auto held = locks_.acquire("orders/42", with({.lease = 2s, .renew = false}));
  EXPECT_EQ(text_of(begin(held.extend_async(1h))), "");
  EXPECT_GT(held.expires_in().value(), 30min);
  EXPECT_EQ(text_of(begin(held.extend_async(1ms))), text_of(errc::invalid_option));
}

TEST_P(asynchronous_leases, a_set_is_released) {
  auto held = locks_.acquire_all({"a", "b"}, with());
  auto answer = begin(held.release_async());
  EXPECT_FALSE(static_cast<bool>(held));
  EXPECT_EQ(text_of(answer), "");
  EXPECT_TRUE(other_.try_acquire_all({"a", "b"}, with()).has_value());
}

// The set keeps free what nobody holds, and waits for what such a call has.
TEST_P(asynchronous_leases, wait_for_no_set_that_waits_for_another_of_them) {
  const auto fair = with({.fairness = fairness::fifo});
  const std::vector<lock_name> names{"orders/42", "orders/43"};
  auto held = result_of(begin(other_.acquire_async("orders/43", fair)));
  auto set = begin(locks_.try_acquire_all_for_async(names, 2 * patience, fair));
  ASSERT_TRUE(is_waited_for(2));
  EXPECT_TRUE(result_of(begin(other_.try_acquire_for_async("orders/42", patience, fair))));
  held.release();
  EXPECT_TRUE(result_of(set));
}

TEST_P(asynchronous_leases, a_handle_that_is_destroyed_does_not_wait_for_the_database) {
  std::optional<held_lock> held{result_of(begin(locks_.acquire_async("orders/42", usual_)))};
  {
    const auto blocked = db().stall();
    const stopwatch watch;
    held.reset();
    EXPECT_LT(watch.elapsed(), slack() / 2) << "call_timeout is longer";
  }
  EXPECT_TRUE(eventually([&] { return can_have(other_, "orders/42"); }));
}

// --- where the answer is given

// To wake another thread would take longer than the call. A thread that the client has just started takes what it
// finds, once.
TEST_P(asynchronous, a_coroutine_stays_on_the_thread_that_resumes_it) {
  struct resumed {
    std::thread::id by;
    int elsewhere = 0;
    void here() {
      const auto now = std::this_thread::get_id();
      if (std::exchange(by, now) != now) ++elsewhere;
    }
  } last;
  std::promise<void> done;
  [](client& by, lock_options with, resumed& on, std::promise<void>& when_done) -> free_coroutine {
    for (int i = 0; i < 1000; ++i) {
      auto held = co_await by.acquire_async("orders/42", with);
      on.here();
      co_await held.release_async();
      on.here();
    }
    when_done.set_value();
  }(locks_, usual_, last, done);
  done.get_future().get();
  EXPECT_LE(last.elsewhere, 10) << "of 2000 times";
}

TEST_P(asynchronous, a_thread_that_blocks_leaves_the_calls_that_it_began_to_the_others) {
  std::promise<void> done;
  [](client& by, lock_options with, std::promise<void>& when_done) -> free_coroutine {
    const auto held = co_await by.acquire_async("orders/42", with);
    for (const auto way : {way_of_calling::callback, way_of_calling::coroutine})
      EXPECT_EQ(text_of(begin(by.acquire_async("orders/43", with), way)), "");
    when_done.set_value();
  }(locks_, usual_, done);
  done.get_future().get();
}

TEST_P(asynchronous, is_answered_by_the_executor_of_the_client_or_of_the_call) {
  queue_of_calls clients;
  queue_of_calls calls;
  auto locks = connect({.executor = clients.executor()});
  int answered = 0;
  locks.try_acquire_async("one", usual_).start([&](const auto& /*answer*/) { ++answered; });
  EXPECT_TRUE(eventually([&] { return clients.run() == 1; }));
  EXPECT_EQ(answered, 1);
  locks.try_acquire_async("two", usual_).on(calls.executor()).start([&](const auto& /*answer*/) { ++answered; });
  EXPECT_TRUE(eventually([&] { return calls.run() == 1; }));
  EXPECT_EQ(answered, 2);
  EXPECT_EQ(clients.run(), 0);
}

TEST_P(asynchronous, a_lock_whose_answer_is_dropped_is_released) {
  happening dropped;
  locks_.acquire_async("orders/42", usual_)
      .on([&](const std::function<void()>& /*f*/) { dropped.happens(); })
      .start([](const auto& /*answer*/) { ADD_FAILURE() << "it was dropped"; });
  EXPECT_TRUE(dropped.within());
  EXPECT_TRUE(eventually([&] { return can_have(other_, "orders/42"); }));
}

TEST_P(asynchronous, a_callback_runs_on_a_thread_of_the_client_and_may_use_it) {
  std::promise<bool> answered;
  const auto caller = std::this_thread::get_id();
  locks_.acquire_async("one", usual_).start([&](async_answer<held_lock> answer) {
    EXPECT_NE(std::this_thread::get_id(), caller);
    const auto one = std::move(answer).get();
    const auto two = locks_.try_acquire("two", with());
    const auto again = locks_.try_acquire("one", with());
    answered.set_value(two.has_value() && !again);
  });
  EXPECT_TRUE(answered.get_future().get());
}

TEST_P(asynchronous, a_callback_may_close_and_destroy_the_client) {
  for (const bool is_destroyed : {false, true})
    for (const bool is_granted : {false, true}) {
      auto locks = std::make_unique<client>(connect());
      const auto blocker = is_granted ? held_lock{} : other_.acquire("orders/42", with());
      const auto held = result_of(begin(other_.acquire_async("last", usual_)));
      auto pending = begin(locks->acquire_async("last", usual_));
      happening done;
      locks->try_acquire_async("orders/42", usual_).start([&](async_answer<std::optional<held_lock>> answer) {
        EXPECT_EQ(std::move(answer).get().has_value(), is_granted);
        is_destroyed ? locks.reset() : locks->close();
        done.happens();
      });
      EXPECT_TRUE(done.within());
      EXPECT_EQ(text_of(pending), text_of(errc::client_closed));
    }
}

TEST_P(asynchronous, a_callback_that_blocks_does_not_keep_a_client_from_closing) {
  connect().close();
  auto locks = std::make_unique<client>(connect_bare({.call_timeout = 200ms}));
  happening entered;
  happening go_on;
  happening done;
  locks->acquire_async("orders/42", usual_).start([&](async_answer<held_lock> answer) {
    const auto held = std::move(answer).get();
    entered.happens();
    EXPECT_TRUE(go_on.within());
    done.happens();
  });
  ASSERT_TRUE(entered.within());
  const stopwatch watch;
  locks->close();
  EXPECT_LT(watch.elapsed(), 3 * 200ms + slack());
  locks.reset();
  go_on.happens();
  EXPECT_TRUE(done.within());
}

// --- how a wait ends

TEST_P(asynchronous, what_is_pending_is_answered_when_its_client_is_closed_or_destroyed) {
  const auto held = other_.acquire("orders/42", with());
  for (const bool is_destroyed : {false, true}) {
    auto locks = std::make_unique<client>(connect());
    std::vector<future<held_lock>> all;
    for (int i = 0; i < 20; ++i) all.push_back(start_to_wait(*locks));
    auto timed = begin(locks->try_acquire_for_async("orders/42", 1h, usual_));
    auto any = begin(locks->acquire_any_async({"orders/42"}, usual_));
    const stopwatch watch;
    is_destroyed ? locks.reset() : locks->close();
    for (auto& each : all) EXPECT_EQ(text_of(each), text_of(errc::client_closed));
    EXPECT_EQ(text_of(timed), text_of(errc::client_closed));
    EXPECT_EQ(text_of(any), text_of(errc::client_closed));
    EXPECT_LT(watch.elapsed(), slack());
    EXPECT_TRUE(is_waited_for(0));
  }
}

TEST_P(asynchronous, refuses_to_begin_on_a_closed_client) {
  auto earlier = locks_.acquire_async("orders/42", usual_);
  locks_.close();
  EXPECT_TRUE(throws(errc::client_closed, [&] { static_cast<void>(begin(std::move(earlier))); }));
  EXPECT_TRUE(throws(errc::client_closed, [&] { static_cast<void>(start_to_wait(locks_)); }));
}

TEST_P(asynchronous, is_cancelled_by_the_source_that_start_returns) {
  const auto held = other_.acquire("orders/42", with());
  std::promise<bool> answered;
  auto end = locks_.acquire_async("orders/42", usual_).start([&](const async_answer<held_lock>& answer) {
    answered.set_value(answer.has_failed());
  });
  EXPECT_TRUE(is_waited_for());
  end.request_stop();
  EXPECT_TRUE(answered.get_future().get());
  EXPECT_TRUE(is_waited_for(0));
}

TEST_P(asynchronous, a_coroutine_that_is_destroyed_waits_no_longer) {
  auto held = other_.acquire("orders/42", with());
  {
    queue_of_calls loop;
    const auto task = hold(locks_, usual_, loop.executor(), [] { ADD_FAILURE() << "it is not resumed"; });
    EXPECT_TRUE(is_waited_for());
  }
  EXPECT_TRUE(is_waited_for(0));
  held.release();
  EXPECT_TRUE(eventually([&] { return can_have(other_, "orders/42"); }));
  EXPECT_EQ(locks_.stats().waiting, 0U);
}

TEST_P(asynchronous, a_coroutine_that_is_destroyed_releases_what_it_holds) {
  for (const bool was_resumed : {false, true}) {
    queue_of_calls loop;
    bool is_held = false;
    {
      const auto task = hold(locks_, usual_, loop.executor(), [&] { is_held = true; });
      EXPECT_TRUE(eventually([&] { return was_resumed ? loop.run() == 1 : !can_have(other_, "orders/42"); }));
      EXPECT_EQ(is_held, was_resumed);
    }
    EXPECT_TRUE(eventually([&] {
      loop.run();
      return can_have(other_, "orders/42");
    }));
  }
}

// Each answer is right, but there must be one, and nothing may stay taken.
TEST_P(asynchronous, that_is_cancelled_at_any_point_is_answered_once_and_leaves_nothing_taken) {
  for (int i = 0; i < many(200, 30); ++i) {
    auto held = locks_.acquire("orders/42", with());
    std::stop_source end;
    auto one = start_to_wait(other_, end.get_token());
    auto two = start_to_wait(other_);
    if (i % 3 != 0) static_cast<void>(one.wait_for(std::chrono::microseconds{i % 16 * 300}));
    if (i % 2 == 0) held = {};
    end.request_stop();
    held = {};
    const auto what = text_of(one);
    EXPECT_TRUE(what.empty() || what == text_of(errc::cancelled)) << what;
    EXPECT_EQ(text_of(two), "");
  }
  EXPECT_TRUE(eventually([&] { return can_have(locks_, "orders/42"); }));
  EXPECT_TRUE(is_waited_for(0));
}

// --- many of them

TEST_P(asynchronous_leases, waits_need_few_threads) {
  const auto held = other_.acquire("orders/42", with());
  {
    std::stop_source end;
    const background one{
        [&](std::stop_token) { return locks_.try_acquire_for("orders/42", 1h, with(), end.get_token()); }};
    EXPECT_TRUE(is_waited_for());
    end.request_stop();
  }
  const auto before = threads();
  std::vector<future<held_lock>> all;
  for (int i = 0; i < 300; ++i) all.push_back(start_to_wait(locks_));
  EXPECT_TRUE(eventually([&] { return locks_.stats().waiting == all.size(); }));
  EXPECT_TRUE(eventually([&] { return threads() <= before + 4; })) << before << " before, now " << threads();
  locks_.close();
  for (auto& each : all) EXPECT_EQ(text_of(each), text_of(errc::client_closed));
}

TEST_P(asynchronous_leases, ten_thousand_waits_that_are_cancelled_and_closed_are_each_answered_once) {
  wait_storm storm{seed()};
  std::vector<std::unique_ptr<client>> clients;
  for (int i = 0; i < 3; ++i) clients.push_back(std::make_unique<client>(connect()));
  const auto number = static_cast<std::size_t>(many(10'000, 600));
  for (std::size_t i = 0; i < number; ++i) {
    storm.begin(*clients[storm.number(clients.size())]);
    if (storm.number(3) == 0) storm.cancel_one();
    if (i == number / 2) clients.back()->close();
    if (i == number / 2) clients.pop_back();
  }
  for (std::size_t i = 0; i < number / 3; ++i) storm.cancel_one();
  EXPECT_TRUE(eventually([&] { return storm.granted() >= 100; }));
  clients.pop_back();
  storm.cancel_all();
  EXPECT_TRUE(eventually([&] { return storm.are_all_answered(); })) << storm.unanswered() << " have no answer";
  clients.clear();
  storm.expect_one_answer_each();
  EXPECT_GT(storm.cancelled(), 0);
  EXPECT_TRUE(is_waited_for(0));
  for (std::size_t i = 0; i < wait_storm::names; ++i)
    EXPECT_TRUE(eventually([&] { return can_have(other_, wait_storm::name(i)); }));
}

}  // namespace
}  // namespace rowlock::test
