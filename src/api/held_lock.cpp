#include <rowlock/held_lock.hpp>

#include <rowlock/error.hpp>

#include <algorithm>
#include <utility>

#include "api/inside.hpp"
#include "driver/boot_clock.hpp"
#include "runtime/client_impl.hpp"

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

void release_quietly(const std::shared_ptr<detail::acquisition>& a) noexcept {
  if (!a || a->is_foreign()) return;
  const bool was_lost = a->why_lost() != loss_reason::none;
  try {
    a->client->release(a);
  } catch (const error& e) {
    if (!was_lost) a->client->report({events::release_failed{.name = a->name, .cause = e}});
  } catch (...) {  // NOLINT(bugprone-empty-catch): out of memory; the lease will end
  }
}

}  // namespace

held_lock::held_lock() noexcept = default;
held_lock::held_lock(std::shared_ptr<detail::acquisition> acquisition) noexcept
    : acquisition_{std::move(acquisition)} {}
held_lock::held_lock(held_lock&& other) noexcept = default;

held_lock& held_lock::operator=(held_lock&& other) noexcept {
  if (this != &other) release_quietly(std::exchange(acquisition_, std::move(other.acquisition_)));
  return *this;
}

held_lock::~held_lock() { release_quietly(acquisition_); }

held_lock::operator bool() const noexcept { return acquisition_ != nullptr; }

const lock_name& held_lock::name() const { return detail::inside::of(*this)->name; }
fencing_token held_lock::token() const { return detail::inside::of(*this)->token; }
rowlock::strategy held_lock::strategy() const { return detail::inside::of(*this)->strategy; }

std::optional<duration> held_lock::expires_in() const {
  auto& a = *detail::inside::of(*this);
  if (!a.has_lease) return std::nullopt;
  const auto now = driver::now();
  return !a.is_foreign() && a.is_held_at(now) ? std::max(a.deadline() - now, duration::zero()) : duration::zero();
}

std::stop_token held_lock::lost() const noexcept {
  if (!acquisition_ || acquisition_->is_foreign()) return stopped_token();
  auto token = acquisition_->lost_token();
  return why_lost() == loss_reason::none ? token : stopped_token();  // the watchdog may not have come to it yet
}

// A lock whose deadline has passed is lost even before the watchdog has come to it.
loss_reason held_lock::why_lost() const noexcept {
  if (!acquisition_) return loss_reason::none;
  if (acquisition_->is_foreign()) return loss_reason::forked;
  return acquisition_->is_held_at(driver::now()) ? loss_reason::none : acquisition_->why_lost();
}

// NOLINTNEXTLINE(readability-make-member-function-const): it is the lock that changes
void held_lock::extend(duration lease) {
  const auto& a = detail::inside::of(*this);
  a->client->extend(a, lease);
}

void held_lock::release() {
  const auto a = detail::inside::of(*this);
  acquisition_.reset();
  a->client->release(a);
}

}  // namespace rowlock::inline v1
