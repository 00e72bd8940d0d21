#pragma once

#include <rowlock/async.hpp>

#include <coroutine>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "api/inside.hpp"
#include "engine/flow/flow.hpp"
#include "engine/flow/runner.hpp"
#include "engine/flow/task.hpp"

namespace rowlock::inline v1::detail {

using core_ptr = std::shared_ptr<engine::client_core>;

/// Gives the answer, through the executor if there is one. An exception of the receiver's ends the program.
template <class T>
void give(std::unique_ptr<async_receiver<T>> to, async_answer<T> what, const executor& where) {
  if (!where) return to->answered(std::move(what));
  struct answered {
    std::unique_ptr<async_receiver<T>> to;
    async_answer<T> what;
  };
  where([both = std::make_shared<answered>(answered{std::move(to), std::move(what)})] {
    both->to->answered(std::move(both->what));
  });
}

/// An asynchronous call. `Body` has `task<result> operator()(client_core&, flow&, const std::stop_token&)` and, unless
/// there is no result, `T answer(const core_ptr&, result)`.
///
/// It keeps the client's engine alive until it has ended. It may be resumed by any of the client's threads, by one at a
/// time.
template <class T, class Body>
class carried_call final : public engine::runner::call, public engine::flow {
 public:
  carried_call(core_ptr core, Body body, const std::stop_token& stop, executor where,
               std::unique_ptr<async_receiver<T>> to)
      : engine::runner::call{core->asynchronous},
        core_{std::move(core)},
        body_{std::move(body)},
        where_{std::move(where)},
        to_{std::move(to)},
        by_caller_{stop, relay{end_}},
        by_end_{end_.get_token(), wake_up{*this}} {}

  std::stop_source end() const noexcept { return end_; }

  std::optional<base::instant> go_on() noexcept override {
    try {
      const engine::without_thread scope;
      if (!task_) {
        task_.emplace(body_(*core_, *this, token_));
      } else if (!what_->is_over()) {
        return what_->until();
      } else {
        at_.resume();
      }
      while (!task_->has_ended()) {
        what_->begin();
        if (!what_->is_over()) return what_->until();
        at_.resume();
      }
    } catch (...) {  // out of memory
      give(std::move(to_), async_answer<T>{std::current_exception()}, where_);
      return std::nullopt;
    }
    give(std::move(to_), result(), where_);
    return std::nullopt;
  }

 private:
  struct wake_up {
    carried_call& one;
    void operator()() const noexcept { one.wake(); }
  };

  engine::waker* wakes() noexcept override { return this; }
  bool is_urged() const noexcept override { return call::is_urged(); }
  void suspended(std::coroutine_handle<> at, engine::wait& what) noexcept override {
    at_ = at;
    what_ = &what;
  }

  async_answer<T> result() {
    try {
      if constexpr (std::is_void_v<T>) {
        task_->get();
        task_.reset();  // what it counts as a call under way has ended before the caller learns of it
        return async_answer<T>{std::monostate{}};
      } else {
        auto out = task_->get();
        task_.reset();
        return async_answer<T>{body_.answer(core_, std::move(out))};
      }
    } catch (...) {
      task_.reset();
      return async_answer<T>{std::current_exception()};
    }
  }

  const core_ptr core_;
  Body body_;
  const executor where_;
  std::unique_ptr<async_receiver<T>> to_;
  std::stop_source end_;
  const std::stop_token token_ = end_.get_token();
  std::optional<engine::task<typename Body::result>> task_;
  std::coroutine_handle<> at_;
  engine::wait* what_ = nullptr;
  const relayed by_caller_;
  const std::stop_callback<wake_up> by_end_;
};

/// Whether this coroutine was resumed by resume() on this thread, and has not suspended itself since. When it does, its
/// thread returns to resume().
bool is_resumed_here(std::coroutine_handle<> one) noexcept;

/// Begins it. Throws client_closed and used_after_fork.
template <class T, class Body>
std::stop_source begin(const core_ptr& core, Body body, const std::stop_token& stop, executor where,
                       std::unique_ptr<async_receiver<T>> to) {
  core->db.check_usable();
  if (!where) where = core->options().executor;
  const bool returns = is_resumed_here(to->coroutine());
  const auto one =
      std::make_shared<carried_call<T, Body>>(core, std::move(body), stop, std::move(where), std::move(to));
  auto end = one->end();
  if (!core->asynchronous.start(one, returns)) core->db.check_usable();
  return end;
}

/// The call that carries out `body`.
template <class T, class Body>
async_call<T> call_of(core_ptr core, Body body, std::stop_token stop = {}) {
  return async_call<T>{[core = std::move(core), body = std::move(body), stop = std::move(stop)](
                           executor where, std::unique_ptr<async_receiver<T>> to) {
    return begin<T>(core, body, stop, std::move(where), std::move(to));
  }};
}

/// Of a semaphore.
async_call<held_lock> acquire_permits(const core_ptr& core, const lock_name& name, const lock_options& options,
                                      core::sharing share, std::stop_token stop);
async_call<std::optional<held_lock>> acquire_permits(const core_ptr& core, const lock_name& name,
                                                     const lock_options& options, core::sharing share, duration wait,
                                                     std::stop_token stop);

/// Releases the lock: for its client at once, in the database in the background, where a failure is reported. Throws
/// what is known at once.
void release_in_background(const core_ptr& core, const engine::lease_ptr& lease);

}  // namespace rowlock::inline v1::detail
