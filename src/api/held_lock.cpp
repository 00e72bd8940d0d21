#include <rowlock/held_lock.hpp>

#include <rowlock/error.hpp>

#include <algorithm>
#include <utility>

#include "api/async.hpp"
#include "api/inside.hpp"
#include "base/boot_clock.hpp"

namespace rowlock::inline v1 {

namespace {

std::stop_token stopped_token() {
  static const std::stop_token the = [] {
    std::stop_source source;
    source.request_stop();
    return source.get_token();
  }();
  return the;
}

}  // namespace

held_lock::held_lock() noexcept = default;
held_lock::held_lock(std::shared_ptr<engine::client_core> client, std::shared_ptr<engine::lease_state> lease) noexcept
    : client_{std::move(client)}, lease_{std::move(lease)} {}
held_lock::held_lock(held_lock&& other) noexcept = default;

held_lock& held_lock::operator=(held_lock&& other) noexcept {
  if (this == &other) return *this;
  held_lock before{std::move(*this)};
  client_ = std::move(other.client_);
  lease_ = std::move(other.lease_);
  return *this;
}

held_lock::~held_lock() { release_quietly(); }

void held_lock::release_quietly() noexcept {
  if (!lease_ || lease_->is_foreign()) return;
  const bool was_lost = lease_->why_lost() != loss_reason::none;
  try {
    if (lease_->is_released_in_background)
      detail::release_in_background(client_, lease_);
    else
      client_->locks.release(lease_);
  } catch (const error& e) {
    if (!was_lost) client_->events.release_failed({.name = lease_->name, .cause = e});
  } catch (...) {  // NOLINT(bugprone-empty-catch): out of memory; the lease will end
  }
}

held_lock::operator bool() const noexcept { return lease_ != nullptr; }

const lock_name& held_lock::name() const { return detail::inside::lease_of(*this)->name; }
fencing_token held_lock::token() const { return detail::inside::lease_of(*this)->token; }
rowlock::strategy held_lock::strategy() const { return detail::inside::lease_of(*this)->strategy; }

std::optional<duration> held_lock::expires_in() const {
  auto& a = *detail::inside::lease_of(*this);
  if (!a.has_lease) return std::nullopt;
  const auto now = base::now();
  return !a.is_foreign() && a.is_held_at(now) ? std::max(a.deadline() - now, duration::zero()) : duration::zero();
}

std::stop_token held_lock::lost() const noexcept {
  if (!lease_ || lease_->is_foreign()) return stopped_token();
  auto token = lease_->lost_token();
  return why_lost() == loss_reason::none ? token : stopped_token();  // the watchdog may not have noticed the loss yet
}

// A lock whose deadline has passed is lost even before the watchdog has noticed it.
loss_reason held_lock::why_lost() const noexcept {
  if (!lease_) return loss_reason::none;
  if (lease_->is_foreign()) return loss_reason::forked;
  return lease_->is_held_at(base::now()) ? loss_reason::none : lease_->why_lost();
}

// NOLINTNEXTLINE(readability-make-member-function-const): it is the lock that changes
void held_lock::extend(duration lease) { detail::inside::client_of(*this).locks.extend(lease_, lease); }

// NOLINTNEXTLINE(readability-make-member-function-const): as before
bool held_lock::try_upgrade() { return detail::inside::client_of(*this).upgrade(detail::inside::lease_of(*this)); }

// NOLINTNEXTLINE(readability-make-member-function-const): as before
void held_lock::downgrade() { detail::inside::client_of(*this).downgrade(detail::inside::lease_of(*this)); }

void held_lock::release() {
  detail::not_empty(lease_, "held_lock");
  const auto lease = std::exchange(lease_, nullptr);
  const auto client = std::exchange(client_, nullptr);
  client->locks.release(lease);
}

}  // namespace rowlock::inline v1
