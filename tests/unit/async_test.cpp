#include <rowlock/async.hpp>

#include <gtest/gtest.h>

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "support/fake_call.hpp"

// The templates of asynchronous calls, with a call that is begun and answered by hand.

namespace rowlock::test {
namespace {

/// A value that can only be moved, and counts what is left of it.
class thing {
 public:
  explicit thing(int number = 0) : number_{std::make_unique<int>(number)}, alive_{std::make_shared<int>(0)} {}
  thing(int number, std::shared_ptr<int> alive) : number_{std::make_unique<int>(number)}, alive_{std::move(alive)} {}
  int number() const { return *number_; }

 private:
  std::unique_ptr<int> number_;
  std::shared_ptr<int> alive_;
};

// --- answers

TEST(async_answer, is_a_value_or_an_exception) {
  async_answer<thing> value{thing{7}};
  EXPECT_FALSE(value.has_failed());
  EXPECT_EQ(value.failure(), nullptr);
  EXPECT_EQ(std::move(value).get().number(), 7);
  async_answer<thing> failure{std::make_exception_ptr(std::runtime_error{"no"})};
  EXPECT_TRUE(failure.has_failed());
  EXPECT_NE(failure.failure(), nullptr);
  EXPECT_THROW(std::move(failure).get(), std::runtime_error);
}

TEST(async_answer, may_be_that_there_is_nothing_or_that_a_call_without_a_result_has_ended) {
  async_answer<std::optional<thing>> busy{std::optional<thing>{}};
  EXPECT_FALSE(busy.has_failed());
  EXPECT_FALSE(std::move(busy).get().has_value());
  async_answer<std::optional<thing>> granted{std::optional<thing>{thing{7}}};
  EXPECT_EQ(std::move(granted).get()->number(), 7);
  EXPECT_NO_THROW(async_answer<void>{std::monostate{}}.get());
  EXPECT_THROW(async_answer<void>{std::make_exception_ptr(std::runtime_error{"no"})}.get(), std::runtime_error);
}

// --- callbacks

TEST(async_call, begins_when_it_is_started_and_not_before) {
  fake_call<thing> fake;
  { const auto never = fake.call(); }
  auto call = fake.call();
  EXPECT_EQ(fake.begun(), 0);
  std::move(call).start([](const async_answer<thing>& /*answer*/) {});
  EXPECT_EQ(fake.begun(), 1);
}

TEST(async_call, takes_a_callback_that_can_only_be_moved) {
  fake_call<thing> fake;
  int answered = 0;
  fake.call().start([&, only = std::make_unique<int>(1)](async_answer<thing> answer) {
    answered += *only + std::move(answer).get().number();
  });
  fake.answer(thing{7});
  EXPECT_EQ(answered, 8);
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): the callback owns it, and was called

TEST(async_call, is_answered_where_the_executor_says) {
  fake_call<void> fake;
  queue_of_calls loop;
  int answered = 0;
  fake.call().on(loop.executor()).start([&](const async_answer<void>& /*answer*/) { ++answered; });
  fake.answer(std::monostate{});
  EXPECT_EQ(answered, 0);
  loop.run();
  EXPECT_EQ(answered, 1);
}

TEST(async_call, throws_what_keeps_it_from_beginning) {
  fake_call<thing> fake;
  fake.refuse();
  int answered = 0;
  EXPECT_THROW(fake.call().start([&](const async_answer<thing>& /*answer*/) { ++answered; }), std::logic_error);
  EXPECT_EQ(answered, 0);
}

TEST(async_call, can_be_cancelled_by_what_start_returns) {
  fake_call<thing> fake;
  auto end = fake.call().start([](const async_answer<thing>& /*answer*/) {});
  EXPECT_FALSE(fake.is_cancelled());
  end.request_stop();
  EXPECT_TRUE(fake.is_cancelled());
}

TEST(async_call, destroys_what_it_was_made_of_when_it_has_begun) {
  fake_call<void> fake;
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = held;
  auto call = fake.call(std::move(held));
  EXPECT_FALSE(watched.expired());
  std::move(call).start([](const async_answer<void>& /*answer*/) {});
  EXPECT_TRUE(watched.expired());
  fake.answer(std::monostate{});
}

// --- coroutines

template <class T>
test_task await(fake_call<T>& from) {
  co_await from.call();
}

/// Adds up the values of some calls.
test_task await_sum(fake_call<thing>& from, int& sum, int calls = 1) {
  for (int i = 0; i < calls; ++i) sum += (co_await from.call()).number();
}

TEST(awaited_call, resumes_with_the_value) {
  fake_call<thing> fake;
  int got = 0;
  const auto task = await_sum(fake, got);
  EXPECT_EQ(fake.begun(), 1);
  EXPECT_FALSE(task.is_done());
  fake.answer(thing{7});
  EXPECT_TRUE(task.is_done());
  EXPECT_EQ(got, 7);
  EXPECT_FALSE(fake.is_cancelled());
}

TEST(awaited_call, resumes_with_the_exception) {
  fake_call<void> fake;
  const auto task = await(fake);
  fake.fail(std::make_exception_ptr(std::runtime_error{"no"}));
  EXPECT_TRUE(task.is_done());
  EXPECT_THROW(task.rethrow(), std::runtime_error);
}

TEST(awaited_call, throws_what_keeps_it_from_beginning) {
  fake_call<thing> fake;
  fake.refuse();
  const auto task = await(fake);
  EXPECT_TRUE(task.is_done());
  EXPECT_THROW(task.rethrow(), std::logic_error);
}

TEST(awaited_call, may_be_answered_before_it_is_suspended) {
  fake_call<thing> fake;
  fake.answer_at_once([] { return thing{7}; });
  int got = 0;
  const auto task = await_sum(fake, got, 3);
  EXPECT_TRUE(task.is_done());
  EXPECT_EQ(got, 21);
}

TEST(awaited_call, may_be_answered_by_another_thread_while_it_begins) {
  for (int i = 0; i < 2000; ++i) {
    fake_call<thing> fake;
    fake.answer_on_a_thread([] { return thing{7}; });
    int got = 0;
    const auto task = await_sum(fake, got);
    fake.join();
    ASSERT_TRUE(task.is_done());
    ASSERT_EQ(got, 7);
  }
}

TEST(awaited_call, is_cancelled_when_the_coroutine_is_destroyed_and_what_it_is_granted_is_destroyed) {
  fake_call<thing> fake;
  auto alive = std::make_shared<int>();
  {
    const auto task = await(fake);
    EXPECT_FALSE(fake.is_cancelled());
  }
  EXPECT_TRUE(fake.is_cancelled());
  fake.answer(thing{7, alive});
  EXPECT_EQ(alive.use_count(), 1);
}

TEST(awaited_call, is_not_resumed_by_an_answer_that_was_posted_before_it_was_destroyed) {
  fake_call<thing> fake;
  queue_of_calls loop;
  auto alive = std::make_shared<int>();
  bool is_resumed = false;
  {
    const auto task = [](fake_call<thing>& from, queue_of_calls& in, bool& flag) -> test_task {
      co_await from.call().on(in.executor());
      flag = true;
    }(fake, loop, is_resumed);
    fake.answer(thing{7, alive});
  }
  loop.run();
  EXPECT_FALSE(is_resumed);
  EXPECT_EQ(alive.use_count(), 1);
}

TEST(awaited_call, leaves_nothing_behind_if_its_executor_drops_the_answer) {
  fake_call<thing> fake;
  auto alive = std::make_shared<int>();
  auto in_frame = std::make_shared<int>();
  {
    const auto task = [](fake_call<thing>& from, std::shared_ptr<int> /*kept*/) -> test_task {
      co_await from.call().on([](const std::function<void()>& /*f*/) {});
    }(fake, in_frame);
    EXPECT_EQ(in_frame.use_count(), 2);
    fake.answer(thing{7, alive});
    EXPECT_EQ(alive.use_count(), 1);
    EXPECT_FALSE(task.is_done());
  }
  EXPECT_EQ(in_frame.use_count(), 1);
}

TEST(awaited_call, that_was_answered_is_not_cancelled_later) {
  fake_call<thing> fake;
  fake_call<void> next;
  {
    const auto task = [](fake_call<thing>& first, fake_call<void>& second) -> test_task {
      const auto held = co_await first.call();
      co_await second.call();
    }(fake, next);
    fake.answer(thing{7});
  }
  EXPECT_FALSE(fake.is_cancelled());
  EXPECT_TRUE(next.is_cancelled());
}

}  // namespace
}  // namespace rowlock::test
