// Included by asio_test.cpp for standalone Asio and by boost_asio_test.cpp for Boost.Asio, which have said which it is.

#include <rowlock/interop/asio.hpp>

#include <gtest/gtest.h>

#ifdef ROWLOCK_ASIO_BOOST
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
namespace asio = boost::asio;
#else
#include <asio/bind_cancellation_slot.hpp>
#include <asio/bind_executor.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/strand.hpp>
#include <asio/thread_pool.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>
#if ASIO_VERSION >= 102400
#include <asio/deferred.hpp>
#else
#include <asio/experimental/deferred.hpp>
#endif
#endif

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "support/fake_call.hpp"

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;

/// As a handle is: it can only be moved, and may be empty.
using handle = std::unique_ptr<int>;
handle some(int number) { return std::make_unique<int>(number); }

/// A callback for a call that is granted.
auto into(int& got) {
  return [&got](const std::exception_ptr& failure, const handle& held) {
    EXPECT_FALSE(failure);
    got = *held;
  };
}

std::exception_ptr refusal() { return std::make_exception_ptr(std::runtime_error{"no"}); }

TEST(ASIO_SUITE, posts_a_callback_to_its_executor) {
  asio::io_context loop;
  fake_call<handle> fake;
  int got = 0;
  async_start(fake.call(), asio::bind_executor(loop, [&](const std::exception_ptr& failure, handle held) {
                EXPECT_FALSE(failure);
                EXPECT_TRUE(loop.get_executor().running_in_this_thread());
                got = *held;
              }));
  EXPECT_EQ(fake.begun(), 1);
  EXPECT_EQ(loop.poll(), 0U);
  EXPECT_FALSE(loop.stopped()) << "the pending call is work";
  fake.answer(some(7));
  EXPECT_EQ(got, 0);
  loop.run();
  EXPECT_EQ(got, 7);
}

TEST(ASIO_SUITE, posts_a_callback_although_the_answer_was_there_before) {
  asio::io_context loop;
  fake_call<handle> fake;
  fake.answer_at_once([] { return some(7); });
  int got = 0;
  asio::post(loop, [&] {
    async_start(fake.call(), asio::bind_executor(loop, into(got)));
    EXPECT_EQ(got, 0);
  });
  loop.run();
  EXPECT_EQ(got, 7);
}

TEST(ASIO_SUITE, passes_failures_to_the_callback) {
  for (const bool begins : {true, false}) {
    asio::io_context loop;
    fake_call<handle> fake;
    if (!begins) fake.refuse();
    std::exception_ptr got;
    async_start(fake.call(), asio::bind_executor(loop, [&](const std::exception_ptr& failure, const handle& held) {
                  EXPECT_FALSE(held);
                  got = failure;
                }));
    EXPECT_FALSE(got);
    if (begins) fake.fail(refusal());
    loop.run();
    EXPECT_TRUE(got);
  }
}

TEST(ASIO_SUITE, keeps_the_work_of_a_pool_outstanding) {
  asio::thread_pool pool{2};
  fake_call<void> fake;
  std::atomic<bool> is_done{false};
  async_start(fake.call(), asio::bind_executor(asio::make_strand(pool.get_executor()),
                                               [&](const std::exception_ptr& /*failure*/) { is_done = true; }));
  const std::jthread client{[&] { fake.answer(std::monostate{}); }};
  pool.join();
  EXPECT_TRUE(is_done);
}

TEST(ASIO_SUITE, fulfils_a_future) {
  fake_call<std::optional<handle>> granted;
  auto held = async_start(granted.call(), asio::use_future);
  granted.answer(some(7));
  EXPECT_EQ(**held.get(), 7);
  fake_call<std::optional<handle>> busy;
  auto nothing = async_start(busy.call(), asio::use_future);
  busy.answer(std::nullopt);
  EXPECT_FALSE(nothing.get().has_value());
  fake_call<void> release;
  auto released = async_start(release.call(), asio::use_future);
  release.fail(refusal());
  EXPECT_THROW(released.get(), std::runtime_error);
}

TEST(ASIO_SUITE, resumes_a_coroutine) {
  asio::io_context loop;
  fake_call<handle> first;
  fake_call<void> second;
  fake_call<std::optional<handle>> third;
  bool is_done = false;
  asio::co_spawn(
      loop,
      [&]() -> asio::awaitable<void> {
        EXPECT_EQ(*co_await async_start(first.call(), asio::use_awaitable), 7);
        co_await async_start(second.call(), asio::use_awaitable);
        EXPECT_TRUE(loop.get_executor().running_in_this_thread());
        bool has_failed = false;
        try {
          (void)co_await async_start(third.call(), asio::use_awaitable);
        } catch (const std::runtime_error&) {
          has_failed = true;
        }
        EXPECT_TRUE(has_failed);
        is_done = true;
      },
      asio::detached);
  loop.poll();
  first.answer(some(7));
  loop.poll();
  second.answer(std::monostate{});
  loop.poll();
  third.fail(refusal());
  loop.run();
  EXPECT_TRUE(is_done);
}

TEST(ASIO_SUITE, may_be_answered_by_another_thread_while_it_begins) {
  asio::thread_pool pool{2};
  for (int i = 0; i < 500; ++i) {
    fake_call<handle> fake;
    fake.answer_on_a_thread([] { return some(7); });
    auto got = asio::co_spawn(
        pool, [&fake]() -> asio::awaitable<int> { co_return *co_await async_start(fake.call(), asio::use_awaitable); },
        asio::use_future);
    ASSERT_EQ(got.get(), 7);
    fake.join();
  }
}

TEST(ASIO_SUITE, destroys_a_coroutine_with_its_loop) {
  fake_call<handle> fake;
  auto in_frame = std::make_shared<int>();
  auto in_answer = std::make_shared<int>();
  {
    asio::io_context loop;
    asio::co_spawn(
        loop,
        [&fake, in_frame]() -> asio::awaitable<void> {
          const auto kept = in_frame;
          (void)co_await async_start(fake.call(), asio::use_awaitable);
        },
        asio::detached);
    loop.poll();
    fake.answer(some(7));
  }
  EXPECT_EQ(in_frame.use_count(), 1);
}

// --- the allocator of a handler

struct ledger {
  std::atomic<int> blocks{0};
  std::atomic<int> so_far{0};
};

template <class T>
class counting_allocator {
 public:
  using value_type = T;
  explicit counting_allocator(ledger* in) noexcept : in_{in} {}
  template <class U>
  explicit counting_allocator(const counting_allocator<U>& other) noexcept : in_{other.in()} {}
  T* allocate(std::size_t number) {
    ++in_->blocks;
    ++in_->so_far;
    return std::allocator<T>{}.allocate(number);
  }
  void deallocate(T* at, std::size_t number) noexcept {
    --in_->blocks;
    std::allocator<T>{}.deallocate(at, number);
  }
  ledger* in() const noexcept { return in_; }
  template <class U>
  bool operator==(const counting_allocator<U>& other) const noexcept {
    return in_ == other.in();
  }

 private:
  ledger* in_;
};

/// A handler with an allocator that is gone when it was moved.
struct thrifty_handler {
  using allocator_type = counting_allocator<std::byte>;
  using executor_type = asio::io_context::executor_type;
  allocator_type get_allocator() const noexcept { return allocator_type{books.get()}; }
  executor_type get_executor() const noexcept { return where->get_executor(); }
  void operator()(const std::exception_ptr& /*failure*/, const handle& held) {
    EXPECT_EQ(books->blocks, 0) << "all memory must be free before the handler runs";
    EXPECT_GE(books->so_far, 1);
    *into = *held;
  }
  std::unique_ptr<ledger> books = std::make_unique<ledger>();
  asio::io_context* where;
  int* into;
};

TEST(ASIO_SUITE, uses_the_memory_of_the_handler) {
  asio::io_context loop;
  fake_call<handle> fake;
  int got = 0;
  async_start(fake.call(), thrifty_handler{.where = &loop, .into = &got});
  fake.answer(some(7));
  loop.run();
  EXPECT_EQ(got, 7);
}

// --- cancellation

#ifdef ROWLOCK_ASIO_HAS_CANCELLATION

TEST(ASIO_SUITE, is_cancelled_by_each_type_of_cancellation) {
  using type = asio::cancellation_type;
  for (const auto each : {type::terminal, type::partial, type::total, type::all}) {
    asio::io_context loop;
    asio::cancellation_signal signal;
    fake_call<handle> fake;
    int answers = 0;
    const auto count = [&](const std::exception_ptr& /*failure*/, const handle& /*held*/) {
      EXPECT_FALSE(signal.slot().has_handler()) << "it is of a call that is over";
      ++answers;
    };
    async_start(fake.call(), asio::bind_cancellation_slot(signal.slot(), asio::bind_executor(loop, count)));
    signal.emit(type::none);
    EXPECT_FALSE(fake.is_cancelled());
    signal.emit(each);
    EXPECT_TRUE(fake.is_cancelled());
    fake.fail(refusal());
    loop.run();
    EXPECT_EQ(answers, 1);
  }
}

TEST(ASIO_SUITE, may_be_cancelled_after_the_answer) {
  asio::io_context loop;
  asio::cancellation_signal signal;
  fake_call<handle> fake;
  int got = 0;
  async_start(fake.call(), asio::bind_cancellation_slot(signal.slot(), asio::bind_executor(loop, into(got))));
  fake.answer(some(7));
  signal.emit(asio::cancellation_type::total);
  loop.run();
  EXPECT_EQ(got, 7);
  signal.emit(asio::cancellation_type::total);
}

TEST(ASIO_SUITE, is_cancelled_with_its_coroutine) {
  asio::io_context loop;
  asio::cancellation_signal signal;
  fake_call<handle> fake;
  std::exception_ptr got;
  asio::co_spawn(
      loop, [&]() -> asio::awaitable<void> { (void)co_await async_start(fake.call(), asio::use_awaitable); },
      asio::bind_cancellation_slot(signal.slot(), [&](const std::exception_ptr& failure) { got = failure; }));
  loop.poll();
  signal.emit(asio::cancellation_type::terminal);
  loop.poll();
  EXPECT_TRUE(fake.is_cancelled());
  fake.fail(refusal());
  loop.run();
  EXPECT_TRUE(got);
}

TEST(ASIO_SUITE, may_be_deferred) {
#if ASIO_VERSION >= 102400
  constexpr auto deferred = asio::deferred;
#else
  constexpr auto deferred = asio::experimental::deferred;
#endif
  fake_call<handle> fake;
  auto later = async_start(fake.call(), deferred);
  EXPECT_EQ(fake.begun(), 0);
  auto held = std::move(later)(asio::use_future);
  EXPECT_EQ(fake.begun(), 1);
  fake.answer(some(7));
  EXPECT_EQ(*held.get(), 7);
}

#endif

}  // namespace
}  // namespace rowlock::test
