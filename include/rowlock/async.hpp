#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

#include <coroutine>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>
#include <variant>

#include <rowlock/export.hpp>

// Before version 13, gcc destroys temporary aggregates twice in expressions with co_await. So options that are written
// in the call itself, as {.lease = 10s}, are refused there: give them a name before.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
#define ROWLOCK_OPTIONS_NEED_A_NAME
#endif

namespace rowlock::inline v1 {

/// Runs a callable soon, on a thread of its choice, for example by posting it to an event loop.
///
/// It is called on a thread of the client, must return soon, and must not throw. It may be called by several threads at
/// once. If it destroys a callable without calling it, the call has no answer; a lock that it was granted is released.
using executor = std::function<void(std::function<void()>)>;

/// The answer to an asynchronous call: a value, or an exception.
template <class T>
class async_answer {
 public:
  /// The value; nothing for void.
  using value_type = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

  /// A value.
  explicit async_answer(value_type value) : value_{std::move(value)} {}
  /// An exception.
  explicit async_answer(std::exception_ptr failure) noexcept : failure_{std::move(failure)} {}

  /// Whether it is an exception.
  bool has_failed() const noexcept { return failure_ != nullptr; }
  /// Returns the exception; nullptr if there is a value.
  const std::exception_ptr& failure() const noexcept { return failure_; }
  /// Returns the value, which moves out, or throws the exception.
  T get() && {
    if (failure_) std::rethrow_exception(failure_);
    if constexpr (!std::is_void_v<T>) return std::move(*value_);
  }

 private:
  std::optional<value_type> value_;
  std::exception_ptr failure_;
};

namespace detail {

/// Receives the answer to an asynchronous call, once. It is destroyed without one if its executor has dropped it.
template <class T>
class async_receiver {
 public:
  async_receiver() = default;
  async_receiver(const async_receiver&) = delete;
  async_receiver& operator=(const async_receiver&) = delete;
  virtual ~async_receiver() = default;
  virtual void answered(async_answer<T> answer) = 0;
  /// The coroutine that the answer resumes, if there is one.
  virtual std::coroutine_handle<> coroutine() const noexcept { return {}; }
};

/// Resumes it. If it then awaits another asynchronous call, the thread that carries this one goes on with that.
ROWLOCK_EXPORT void resume(std::coroutine_handle<> waiting);

/// Begins a call; its end is requested by the source.
template <class T>
using async_begin = std::function<std::stop_source(executor, std::unique_ptr<async_receiver<T>>)>;

}  // namespace detail

/// A call that was described but not begun: it begins when it is started, or awaited by a coroutine, once.
///
/// The call goes on without a thread of the caller. It is answered exactly once: through the executor, if there is one
/// (on(), client_options::executor), or on one of a few threads of the client (client_options::async_threads).
///
///     locks.acquire_async("orders/42").start([](rowlock::async_answer<rowlock::held_lock> answer) { … });
///     auto held = co_await locks.acquire_async("orders/42");
///
/// Threads: callbacks, and coroutines that are resumed without an executor, should not block: the client's other
/// asynchronous calls wait meanwhile. They may use, close and destroy the client. An answer may be given before start()
/// has returned.
///
/// Errors: what the blocking call throws is the answer. start() and co_await themselves throw errc::client_closed and
/// errc::used_after_fork if the call cannot begin; then there is no answer.
///
/// Lifetime: it may outlive its client.
template <class T>
class [[nodiscard]] async_call {
 public:
  /// For the library: what begins it.
  explicit async_call(detail::async_begin<T> begin) : begin_{std::move(begin)} {}

  /// Returns the same call with an executor for its answer.
  async_call on(executor where) && {
    where_ = std::move(where);
    return std::move(*this);
  }

  /// Begins the call. Later, `done(async_answer<T>)` is called once. `done` may be a callable that can only be moved.
  ///
  /// Returns a source whose request_stop() cancels the call, as the stop_token of the call does. It may be ignored, and
  /// it may outlive the call.
  ///
  /// An exception of `done` leaves the callable that the executor was given. Without an executor it ends the program,
  /// as one that leaves a thread does.
  template <class Done>
  std::stop_source start(Done done) && {
    class receiver final : public detail::async_receiver<T> {
     public:
      explicit receiver(Done f) : done_{std::move(f)} {}
      void answered(async_answer<T> answer) override { done_(std::move(answer)); }

     private:
      Done done_;
    };
    return take_begin()(std::move(where_), std::make_unique<receiver>(std::move(done)));
  }

  class awaiter;
  /// Begins the call and suspends the coroutine until the answer is there. The result is the value; an exception is
  /// thrown.
  ///
  /// If the suspended coroutine is destroyed, the call is cancelled, and what it may still be granted is released.
  ///
  /// \warning Destroy a suspended coroutine only where it would be resumed, on the thread or strand of its executor. On
  /// another thread it may be resumed at that very moment.
  awaiter operator co_await() && { return awaiter{std::move(*this)}; }

 private:
  /// So that what the call was made of is destroyed when it has begun.
  detail::async_begin<T> take_begin() noexcept { return std::exchange(begin_, nullptr); }

  detail::async_begin<T> begin_;
  executor where_{};
};

/// Of a coroutine that waits for an asynchronous call.
template <class T>
class async_call<T>::awaiter {
 public:
  /// Of a call that has not begun.
  explicit awaiter(async_call&& what) : what_{std::move(what)} {}
  awaiter(const awaiter&) = delete;
  awaiter& operator=(const awaiter&) = delete;
  ~awaiter() { state_->abandon(); }

  /// It always suspends.
  bool await_ready() const noexcept { return false; }
  /// The answer may resume the coroutine on another thread, and destroy this object, before this function has returned:
  /// it touches nothing but its own variables once the call has begun. They must not be in the coroutine's frame, where
  /// compilers have put those of inlined functions (LLVM 56301).
  [[gnu::noinline]] void await_suspend(std::coroutine_handle<> waiting) {
    const auto state = state_;
    const auto begin = what_.take_begin();
    state->waiting = waiting;
    state->began(begin(std::move(what_.where_), std::make_unique<receiver>(state)));
  }
  /// An exception belongs to this thread alone from then on.
  T await_resume() {
    auto answer = std::move(*state_->answer);
    return std::move(answer).get();
  }

 private:
  struct shared {
    void began(const std::stop_source& by) {
      {
        const std::lock_guard alone{mutex};
        end = by;
        if (!is_abandoned) return;
      }
      by.request_stop();
    }
    void abandon() noexcept {
      std::optional<std::stop_source> by;
      {
        const std::lock_guard alone{mutex};
        is_abandoned = true;
        if (!answer) by.swap(end);
      }
      if (by) by->request_stop();
    }
    std::mutex mutex;  // of the following
    std::optional<std::stop_source> end{};
    std::optional<async_answer<T>> answer{};
    std::coroutine_handle<> waiting{};
    bool is_abandoned = false;
  };
  class receiver final : public detail::async_receiver<T> {
   public:
    explicit receiver(std::shared_ptr<shared> to) : to_{std::move(to)} {}
    void answered(async_answer<T> answer) override {
      {
        const std::lock_guard alone{to_->mutex};
        if (to_->is_abandoned) return;  // a granted lock is released with the answer
        to_->answer.emplace(std::move(answer));
      }
      detail::resume(to_->waiting);
    }
    std::coroutine_handle<> coroutine() const noexcept override { return to_->waiting; }

   private:
    const std::shared_ptr<shared> to_;
  };

  async_call what_;
  const std::shared_ptr<shared> state_ = std::make_shared<shared>();
};

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
