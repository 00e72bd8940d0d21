#include "api/async.hpp"

#include <rowlock/client.hpp>
#include <rowlock/held_set.hpp>
#include <rowlock/semaphore.hpp>

#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "base/guarded.hpp"

namespace rowlock::inline v1 {

using detail::call_of;
using detail::core_ptr;
using detail::inside;

namespace {

/// `ask(acquirer&, flow&, const std::stop_token&)` begins a task whose result the handle is made of.
template <class T, class Ask>
struct acquiring {
  using result = std::conditional_t<std::is_same_v<T, held_set> || std::is_same_v<T, std::optional<held_set>>,
                                    std::vector<engine::lease_ptr>, engine::lease_ptr>;

  engine::task<result> operator()(engine::client_core& in, engine::flow& on, const std::stop_token& stop) {
    return ask(in.acquiring, on, stop);
  }
  T answer(const core_ptr& core, result got) const {
    auto held = inside::held(core, std::move(got));
    if constexpr (std::is_same_v<T, decltype(held)>) {
      return held;
    } else {
      return detail::granted(std::move(held), what_for, name ? &*name : nullptr);
    }
  }

  Ask ask;
  const char* what_for = "";
  std::optional<lock_name> name{};
};

template <class T>
async_call<T> acquire_one(const core_ptr& core, const lock_name& name, const lock_options& options, duration wait,
                          std::stop_token stop, core::sharing share, const char* what_for) {
  auto ask = [name, options, wait, share](engine::acquirer& by, engine::flow& on, const std::stop_token& end) {
    return by.acquire(on, name, options, options.as, wait, end, share);
  };
  return call_of<T>(core, acquiring<T, decltype(ask)>{std::move(ask), what_for, name}, std::move(stop));
}

using several = std::span<const lock_name>;

/// `how`: acquirer::acquire_any or acquire_all.
template <class T, class How>
async_call<T> acquire_of(const core_ptr& core, How how, several names, const lock_options& options, duration wait,
                         std::stop_token stop, const char* what_for) {
  auto ask = [how, all = std::vector<lock_name>{names.begin(), names.end()}, options, wait](
                 engine::acquirer& by, engine::flow& on, const std::stop_token& end) {
    return (by.*how)(on, all, options, options.as, wait, end);
  };
  return call_of<T>(core, acquiring<T, decltype(ask)>{std::move(ask), what_for}, std::move(stop));
}

template <class T>
async_call<T> acquire_any_of(const core_ptr& core, several names, const lock_options& options, duration wait,
                             std::stop_token stop) {
  return acquire_of<T>(core, &engine::acquirer::acquire_any, names, options, wait, std::move(stop),
                       "for one of several names");
}

template <class T>
async_call<T> acquire_all_of(const core_ptr& core, several names, const lock_options& options, duration wait,
                             std::stop_token stop) {
  return acquire_of<T>(core, &engine::acquirer::acquire_all, names, options, wait, std::move(stop),
                       "for several names");
}

/// Releases the lock of a handle, which it empties when it begins.
struct releasing {
  using result = void;

  engine::task<void> operator()(engine::client_core& in, engine::flow& on, const std::stop_token& /*stop*/) {
    lease = inside::take(*handle);
    return in.locks.release(on, lease);
  }

  std::shared_ptr<held_lock> handle;
  engine::lease_ptr lease{};
};

struct extending {
  using result = void;

  engine::task<void> operator()(engine::client_core& in, engine::flow& /*on*/, const std::stop_token& /*stop*/) const {
    in.locks.extend(lease, to);
    co_return;
  }

  engine::lease_ptr lease;
  duration to;
};

}  // namespace

const lock_options& detail::default_options() noexcept {
  static const lock_options the;
  return the;
}

// --- coroutines ------------------------------------------------------------------------------------------------------

namespace {

thread_local std::coroutine_handle<> resumed_here;

}  // namespace

void detail::resume(std::coroutine_handle<> waiting) {
  struct scope {
    std::coroutine_handle<> before;
    ~scope() { resumed_here = before; }
  };
  const scope while_it_runs{std::exchange(resumed_here, waiting)};
  waiting.resume();
}

bool detail::is_resumed_here(std::coroutine_handle<> one) noexcept { return one && one == resumed_here; }

// --- acquiring -------------------------------------------------------------------------------------------------------

async_call<held_lock> client::acquire_async(const lock_name& name, const lock_options& options, std::stop_token stop) {
  return acquire_one<held_lock>(inside::of(*this), name, options, duration::max(), std::move(stop), {}, "for ");
}

async_call<std::optional<held_lock>> client::try_acquire_async(const lock_name& name, const lock_options& options) {
  return acquire_async_(name, duration::zero(), options, {}, false);
}

async_call<std::optional<held_lock>> client::acquire_async_(const lock_name& name, duration wait,
                                                            const lock_options& options, std::stop_token stop,
                                                            bool is_shared) {
  return acquire_one<std::optional<held_lock>>(inside::of(*this), name, options, wait, std::move(stop),
                                               is_shared ? core::one_reader : core::sharing{}, "");
}

async_call<held_lock> client::acquire_shared_async(const lock_name& name, const lock_options& options,
                                                   std::stop_token stop) {
  return acquire_one<held_lock>(inside::of(*this), name, options, duration::max(), std::move(stop), core::one_reader,
                                "to share ");
}

async_call<std::optional<held_lock>> client::try_acquire_shared_async(const lock_name& name,
                                                                      const lock_options& options) {
  return acquire_async_(name, duration::zero(), options, {}, true);
}

async_call<held_lock> client::acquire_any_async(const lock_names& names, const lock_options& options,
                                                std::stop_token stop) {
  return acquire_any_of<held_lock>(inside::of(*this), names.all(), options, duration::max(), std::move(stop));
}

async_call<std::optional<held_lock>> client::try_acquire_any_async(const lock_names& names,
                                                                   const lock_options& options) {
  return acquire_any_async_(names.all(), duration::zero(), options, {});
}

async_call<std::optional<held_lock>> client::acquire_any_async_(std::span<const lock_name> names, duration wait,
                                                                const lock_options& options, std::stop_token stop) {
  return acquire_any_of<std::optional<held_lock>>(inside::of(*this), names, options, wait, std::move(stop));
}

async_call<held_set> client::acquire_all_async(const lock_names& names, const lock_options& options,
                                               std::stop_token stop) {
  return acquire_all_of<held_set>(inside::of(*this), names.all(), options, duration::max(), std::move(stop));
}

async_call<std::optional<held_set>> client::try_acquire_all_async(const lock_names& names,
                                                                  const lock_options& options) {
  return acquire_all_async_(names.all(), duration::zero(), options, {});
}

async_call<std::optional<held_set>> client::acquire_all_async_(std::span<const lock_name> names, duration wait,
                                                               const lock_options& options, std::stop_token stop) {
  return acquire_all_of<std::optional<held_set>>(inside::of(*this), names, options, wait, std::move(stop));
}

// --- permits ---------------------------------------------------------------------------------------------------------

async_call<held_lock> detail::acquire_permits(const core_ptr& core, const lock_name& name, const lock_options& options,
                                              core::sharing share, std::stop_token stop) {
  return acquire_one<held_lock>(core, name, options, duration::max(), std::move(stop), share, "for a permit of ");
}

async_call<std::optional<held_lock>> detail::acquire_permits(const core_ptr& core, const lock_name& name,
                                                             const lock_options& options, core::sharing share,
                                                             duration wait, std::stop_token stop) {
  return acquire_one<std::optional<held_lock>>(core, name, options, wait, std::move(stop), share, "");
}

// --- a held lock -----------------------------------------------------------------------------------------------------

async_call<void> held_lock::release_async() {
  detail::not_empty(lease_, "held_lock");
  const auto core = client_;
  return call_of<void>(core, releasing{.handle = std::make_shared<held_lock>(std::move(*this))});
}

// NOLINTNEXTLINE(readability-make-member-function-const): it is the lock that changes
async_call<void> held_lock::extend_async(duration lease) {
  detail::not_empty(lease_, "held_lock");
  return call_of<void>(client_, extending{.lease = lease_, .to = lease});
}

namespace {

/// The part of a release that calls the database.
struct ending_release {
  using result = void;

  engine::task<void> operator()(engine::client_core& in, engine::flow& on, const std::stop_token& /*stop*/) const {
    return in.locks.end_release(on, lease);
  }

  std::shared_ptr<engine::in_flight_calls::call> under_way;
  engine::lease_ptr lease;
};

/// Reports why a release failed, which no caller waits for.
class report_of_release final : public detail::async_receiver<void> {
 public:
  report_of_release(core_ptr core, engine::lease_ptr of) : core_{std::move(core)}, of_{std::move(of)} {}
  void answered(async_answer<void> answer) override {
    try {
      std::move(answer).get();
    } catch (const error& e) {
      core_->events.release_failed({.name = of_->name, .cause = e});
    } catch (...) {  // NOLINT(bugprone-empty-catch): out of memory; the lease will end
    }
  }

 private:
  const core_ptr core_;
  const engine::lease_ptr of_;
};

}  // namespace

void detail::release_in_background(const core_ptr& core, const engine::lease_ptr& lease) {
  const std::shared_ptr<engine::in_flight_calls::call> under_way{
      new engine::in_flight_calls::call{core->db.enter_to_release()}};
  if (!core->locks.begin_release(lease)) return;
  try {
    if (core->asynchronous.start(std::make_shared<carried_call<void, ending_release>>(
            core, ending_release{.under_way = under_way, .lease = lease}, std::stop_token{}, executor{},
            std::make_unique<report_of_release>(core, lease))))
      return;
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): no memory, or no thread
  }
  engine::thread_flow here;
  core->locks.end_release(here, lease).get();
}

// --- a set -----------------------------------------------------------------------------------------------------------

namespace {

/// The release of several locks: answered when all have ended, by the first failure.
class releasing_all {
 public:
  releasing_all(std::size_t number, executor where, std::unique_ptr<detail::async_receiver<void>> to)
      : left_{number}, where_{std::move(where)}, to_{std::move(to)} {}

  void ended(const std::exception_ptr& failure) {
    bool is_last = false;
    {
      const auto first = first_.lock();
      if (!*first) *first = failure;
      is_last = --left_ == 0;
    }
    if (!is_last) return;
    const auto why = *first_.lock();
    detail::give(std::move(to_), why ? async_answer<void>{why} : async_answer<void>{std::monostate{}}, where_);
  }

 private:
  std::size_t left_;
  base::guarded<std::exception_ptr> first_;
  const executor where_;
  std::unique_ptr<detail::async_receiver<void>> to_;
};

}  // namespace

async_call<void> held_set::release_async() {
  detail::not_empty(state_, "held_set");
  const auto set = std::make_shared<held_set>(std::move(*this));
  return async_call<void>{[set](executor where, std::unique_ptr<detail::async_receiver<void>> to) {
    auto all = inside::take(*set);
    const auto first = inside::core_of(all.front());
    first->db.check_usable();
    if (!where) where = first->options().executor;
    const auto parts = std::make_shared<releasing_all>(all.size(), std::move(where), std::move(to));
    for (; !all.empty(); all.pop_back()) {
      try {
        all.back().release_async().on([](const auto& f) { f(); }).start([parts](const async_answer<void>& answer) {
          parts->ended(answer.failure());
        });
      } catch (const error&) {
        parts->ended(std::current_exception());
      }
    }
    return std::stop_source{};
  }};
}

}  // namespace rowlock::inline v1
