#pragma once

#include <array>
#include <condition_variable>
#include <coroutine>
#include <cstddef>
#include <memory>
#include <thread>
#include <utility>

#include "base/time.hpp"

namespace rowlock::inline v1::engine {

/// Wakes a call that waits. Any thread may wake it, also for nothing.
class waker {
 public:
  waker() = default;
  waker(const waker&) = delete;
  waker& operator=(const waker&) = delete;
  virtual ~waker() = default;
  /// Quick: it is called while mutexes are locked.
  virtual void wake() noexcept = 0;
};

/// Wakes the thread that sleeps on it.
class thread_waker final : public waker {
 public:
  void wake() noexcept override { woken.notify_one(); }
  std::condition_variable_any woken;
};

/// Something that a call waits for.
class wait {
 public:
  wait() = default;
  wait(const wait&) = delete;
  wait& operator=(const wait&) = delete;
  virtual ~wait() = default;

  /// For a call with a thread: returns when it is over.
  virtual void block() = 0;

  /// For a call without one: from now on the call is woken when it may be over.
  virtual void begin() {}
  virtual bool is_over() = 0;
  /// When it is over at the latest.
  virtual base::instant until() = 0;
};

/// How a call goes on when it has to wait: its thread sleeps, or the call is suspended, and a thread of the client
/// resumes it when the wait is over. No thread waits for a suspended call, so that ten thousand calls may wait at once.
class flow {
 public:
  flow() = default;
  flow(const flow&) = delete;
  flow& operator=(const flow&) = delete;

  /// nullptr: it has a thread.
  virtual waker* wakes() noexcept { return nullptr; }
  bool has_thread() noexcept { return wakes() == nullptr; }
  /// Whether other calls wait for the thread that carries this one: then it should not wait for the database there.
  virtual bool is_urged() const noexcept { return false; }

  /// Awaited by a task: returns when it is over. It must outlive that.
  auto until(wait& what) noexcept {
    struct awaitable {
      flow& by;
      wait& what;
      bool await_ready() const {
        if (!by.has_thread()) return false;
        what.block();
        return true;
      }
      void await_suspend(std::coroutine_handle<> at) const noexcept { by.suspended(at, what); }
      void await_resume() const noexcept {}
    };
    return awaitable{*this, what};
  }

 protected:
  ~flow() = default;

 private:
  virtual void suspended(std::coroutine_handle<> /*at*/, wait& /*what*/) noexcept {}
};

/// The flow of a call of this thread, while the call is under way. The frames of the call's coroutines are within,
/// since none outlives it: so a call that blocks allocates no more than functions would.
class thread_flow final : public flow {  // NOLINT(cppcoreguidelines-virtual-class-destructor): it is the last
 public:
  thread_flow() noexcept;
  ~thread_flow();
  // For frames of coroutines that this thread creates and destroys. A frame that does not fit is allocated, as is that
  // of a call without a thread.
  static void* allocate(std::size_t bytes);
  static void deallocate(void* frame, std::size_t bytes) noexcept;

 private:
  thread_flow* const before_;
  std::size_t used_ = 0;
  alignas(std::max_align_t) std::array<std::byte, 6144> frames_;  // the last that was taken is the first to be free
};

/// The thread that the present call belongs to; of a call without one: none.
std::thread::id calling_thread() noexcept;

/// While it lives, this thread carries calls that have no thread.
class without_thread {
 public:
  without_thread() noexcept;
  without_thread(const without_thread&) = delete;
  without_thread& operator=(const without_thread&) = delete;
  ~without_thread();

 private:
  const bool before_;
  thread_flow* const flow_before_;
};

}  // namespace rowlock::inline v1::engine
