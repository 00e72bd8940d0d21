#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

/// Asynchronous calls by the completion tokens of Asio.
///
/// For standalone Asio 1.18 or newer; define ROWLOCK_ASIO_BOOST before the first inclusion to use Boost.Asio
/// (Boost 1.74 or newer). Only the programs that include this header need Asio.
#include <atomic>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#ifdef ROWLOCK_ASIO_BOOST
#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/version.hpp>
#if BOOST_ASIO_VERSION >= 101900
#define ROWLOCK_ASIO_HAS_CANCELLATION
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/cancellation_type.hpp>
#endif
#else
#include <asio/associated_allocator.hpp>
#include <asio/associated_executor.hpp>
#include <asio/async_result.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <asio/version.hpp>
#if ASIO_VERSION >= 101900
#define ROWLOCK_ASIO_HAS_CANCELLATION
#include <asio/associated_cancellation_slot.hpp>
#include <asio/cancellation_type.hpp>
#endif
#endif

#include <rowlock/async.hpp>

namespace rowlock::inline v1 {

// A program may use both, in different files: functions for one of them have other names than those for the other.
#ifdef ROWLOCK_ASIO_BOOST
inline namespace by_boost_asio {
namespace asio_detail {
namespace used = ::boost::asio;
#else
inline namespace by_asio {
namespace asio_detail {
namespace used = ::asio;
#endif

template <class T>
struct signature_of {
  using type = void(std::exception_ptr, T);
};
template <>
struct signature_of<void> {
  using type = void(std::exception_ptr);
};

/// A call that was begun for a handler. Its initiating function and its answer arrive once each, in any order; the
/// later of the two posts the handler. So the handler cannot run before its cancellation slot is connected, and nothing
/// of the operation is used afterwards.
///
///     state      entered by
///     beginning  construction
///     pending    the initiating function arrives: the call has begun, and the slot is connected
///     answered   the answer arrives before the initiating function does, or the exception of a call that cannot begin
///     posted     both have arrived
template <class T, class Handler>
class operation {
 public:
  explicit operation(Handler&& handler)
      : memory_{used::get_associated_allocator(handler)},
        work_{used::get_associated_executor(handler)},
        handler_{std::move(handler)} {}
  operation(const operation&) = delete;
  operation& operator=(const operation&) = delete;

  static void begin(Handler&& handler, async_call<T> call) {
    auto* const that = make(std::move(handler));
    try {
      // The answer needs no other executor on its way to that of the handler.
      that->connect(std::move(call).on([](const std::function<void()>& f) { f(); }).start(answer_of{that}));
    } catch (...) {
      that->answer_.emplace(std::current_exception());
    }
    that->arrive();
  }

 private:
  using allocator = used::associated_allocator_t<Handler>;
  using allocator_of_this = typename std::allocator_traits<allocator>::template rebind_alloc<operation>;
  using memory = std::allocator_traits<allocator_of_this>;

  struct deleter {
    void operator()(operation* that) const noexcept {
      allocator_of_this from{that->memory_};
      memory::destroy(from, that);
      memory::deallocate(from, that, 1);
    }
  };
  using owner = std::unique_ptr<operation, deleter>;

  /// Arrives when it is destroyed, with the answer if there was one.
  class answer_of {
   public:
    explicit answer_of(operation* that) noexcept : that_{that} {}
    answer_of(answer_of&& other) noexcept : that_{std::exchange(other.that_, nullptr)} {}
    answer_of& operator=(answer_of&&) = delete;
    ~answer_of() {
      if (that_ != nullptr) that_->arrive();
    }
    void operator()(async_answer<T> answer) {
      auto* const that = std::exchange(that_, nullptr);
      that->answer_.emplace(std::move(answer));
      that->arrive();
    }

   private:
    operation* that_;
  };

  /// The callable that the executor runs.
  class completion {
   public:
    using allocator_type = allocator;

    explicit completion(owner that) noexcept : that_{std::move(that)} {}
    allocator_type get_allocator() const noexcept { return that_->memory_; }

    /// The memory is free again before the handler runs, as Asio promises.
    void operator()() {
      that_->disconnect();
      const auto work = std::move(that_->work_);
      auto handler = std::move(that_->handler_);
      auto answer = *std::move(that_->answer_);
      that_.reset();
      if constexpr (std::is_void_v<T>) {
        std::move(handler)(answer.failure());
      } else if (answer.has_failed()) {
        std::move(handler)(answer.failure(), T{});
      } else {
        std::move(handler)(std::exception_ptr{}, std::move(answer).get());
      }
    }

   private:
    owner that_;
  };

  static operation* make(Handler&& handler) {
    allocator_of_this from{used::get_associated_allocator(handler)};
    auto* const at = memory::allocate(from, 1);
    try {
      memory::construct(from, at, std::move(handler));
    } catch (...) {
      memory::deallocate(from, at, 1);
      throw;
    }
    return at;
  }

  void arrive() {
    if (!is_half_.exchange(true)) return;
    owner that{this};
    if (!answer_) return;  // the library drops no call; if it did, the handler would be destroyed
    const auto where = work_.get_executor();
    used::post(where, completion{std::move(that)});
  }

#ifdef ROWLOCK_ASIO_HAS_CANCELLATION
  void connect(std::stop_source end) {
    auto slot = used::get_associated_cancellation_slot(handler_);
    if (!slot.is_connected()) return;
    slot.assign([end = std::move(end)](used::cancellation_type type) mutable {
      if (type != used::cancellation_type::none) end.request_stop();
    });
    is_connected_ = true;
  }
  void disconnect() {
    if (is_connected_) used::get_associated_cancellation_slot(handler_).clear();
  }
  bool is_connected_ = false;
#else
  void connect(const std::stop_source& /*end*/) noexcept {}
  void disconnect() noexcept {}
#endif

  const allocator memory_;
  used::executor_work_guard<used::associated_executor_t<Handler>> work_;
  Handler handler_;
  std::optional<async_answer<T>> answer_{};
  std::atomic<bool> is_half_{false};
};

template <class T>
struct initiation {
  template <class Handler>
  void operator()(Handler&& handler, async_call<T> call) const {
    operation<T, std::decay_t<Handler>>::begin(std::forward<Handler>(handler), std::move(call));
  }
};

}  // namespace asio_detail

/// Begins an asynchronous call for a completion token of Asio: a callback, use_awaitable, use_future, deferred, or any
/// other one.
///
///     auto held = co_await async_start(locks.acquire_async("orders/42"), asio::use_awaitable);
///
/// The signature is `void(std::exception_ptr, T)`, and `void(std::exception_ptr)` for calls without a result. So a
/// coroutine gets the result, or the exception is thrown there. A callback gets an empty handle with an exception.
///
/// Guarantee: the handler runs once, through its associated executor. It is always posted, never called by this
/// function or by a thread of the client. The executor that client_options or on() name is not used. Memory of the
/// operation comes from the handler's associated allocator.
///
/// Cancellation: each type of cancellation (terminal, partial, total) cancels the call, as its stop_token does. The
/// handler then gets errc::cancelled, or nothing from a timed call. A call may be granted at the same moment; then the
/// handler gets the handle. Asio before 1.19, and so Boost before 1.77, has no cancellation slots: pass a stop_token.
///
/// Errors: all of them are passed to the handler, those of a call that cannot begin as well.
///
/// Lifetime: the call is outstanding work of the handler's executor, so that io_context::run() does not return before
/// the handler has run. Destroy the execution context only after the client was closed, or after all calls have ended.
template <class T, class CompletionToken>
auto async_start(async_call<T> call, CompletionToken&& token) {
  return asio_detail::used::async_initiate<CompletionToken, typename asio_detail::signature_of<T>::type>(
      asio_detail::initiation<T>{}, token, std::move(call));
}

#ifdef ROWLOCK_ASIO_BOOST
}  // namespace by_boost_asio
#else
}  // namespace by_asio
#endif

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
