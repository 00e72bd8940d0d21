#include <rowlock/mutex.hpp>

#include <rowlock/client.hpp>

#include <utility>

#include "api/inside.hpp"
#include "api/lockable_state.hpp"

namespace rowlock::inline v1 {

struct mutex::state : detail::lockable_state {
  using lockable_state::lockable_state;
  detail::held_handles held;
};

mutex::mutex(client& from, lock_name name, lock_options options)
    : state_{std::make_unique<state>(detail::inside::of(from), std::move(name), std::move(options))} {}

mutex::~mutex() = default;

void mutex::lock() { state_->lock(state_->held, duration::max(), {}); }
bool mutex::lock(std::stop_token stop) { return state_->lock(state_->held, duration::max(), stop); }
bool mutex::try_lock() { return state_->lock(state_->held, duration::zero(), {}); }
bool mutex::try_lock_for_(duration wait) { return state_->lock(state_->held, wait, {}); }
void mutex::unlock() noexcept { state_->unlock(state_->held); }

const held_lock& mutex::held() const {
  const auto* const found = state_->latest(state_->held);
  if (found == nullptr) state_->throw_not_held();
  return *found;
}

const lock_name& mutex::name() const noexcept { return state_->name; }

}  // namespace rowlock::inline v1
