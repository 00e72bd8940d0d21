#include <rowlock/shared_mutex.hpp>

#include <rowlock/client.hpp>

#include <utility>

#include "api/inside.hpp"
#include "api/lockable_state.hpp"
#include "core/checks.hpp"

namespace rowlock::inline v1 {

struct shared_mutex::state : detail::lockable_state {
  state(std::shared_ptr<engine::client_core> of, lock_name what, lock_options how)
      : lockable_state{std::move(of), std::move(what), std::move(how)} {
    core::check(core::one_reader, options);
  }
  detail::held_handles alone;
  detail::held_handles shared;
};

shared_mutex::shared_mutex(client& from, lock_name name, lock_options options)
    : state_{std::make_unique<state>(detail::inside::of(from), std::move(name), std::move(options))} {}

shared_mutex::~shared_mutex() = default;

void shared_mutex::lock() { state_->lock(state_->alone, duration::max(), {}); }
bool shared_mutex::lock(std::stop_token stop) { return state_->lock(state_->alone, duration::max(), stop); }
bool shared_mutex::try_lock() { return state_->lock(state_->alone, duration::zero(), {}); }
bool shared_mutex::try_lock_for_(duration wait) { return state_->lock(state_->alone, wait, {}); }
void shared_mutex::unlock() noexcept { state_->unlock(state_->alone); }

void shared_mutex::lock_shared() { state_->lock(state_->shared, duration::max(), {}, core::one_reader); }
bool shared_mutex::lock_shared(std::stop_token stop) {
  return state_->lock(state_->shared, duration::max(), stop, core::one_reader);
}
bool shared_mutex::try_lock_shared() { return state_->lock(state_->shared, duration::zero(), {}, core::one_reader); }
bool shared_mutex::try_lock_shared_for_(duration wait) {
  return state_->lock(state_->shared, wait, {}, core::one_reader);
}
void shared_mutex::unlock_shared() noexcept { state_->unlock(state_->shared); }

const held_lock& shared_mutex::held() const {
  if (const auto* const alone = state_->latest(state_->alone)) return *alone;
  const auto* const shared = state_->latest(state_->shared);
  if (shared == nullptr) state_->throw_not_held();
  return *shared;
}

const lock_name& shared_mutex::name() const noexcept { return state_->name; }

}  // namespace rowlock::inline v1
