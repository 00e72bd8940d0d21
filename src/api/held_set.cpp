#include <rowlock/held_set.hpp>

#include <rowlock/error.hpp>

#include <algorithm>
#include <deque>
#include <exception>
#include <string>
#include <utility>

#include "api/inside.hpp"
#include "base/text.hpp"

namespace rowlock::inline v1 {

struct held_set::state {
  explicit state(std::vector<held_lock> all) : locks{std::move(all)} {
    for (const auto& each : locks) relays.emplace_back(each.lost(), detail::relay{any_is_lost});
  }
  ~state() {
    relays.clear();
    while (!locks.empty()) locks.pop_back();
  }
  state(const state&) = delete;
  state& operator=(const state&) = delete;

  std::vector<held_lock> locks;
  std::stop_source any_is_lost;
  std::deque<detail::relayed> relays;
};

std::vector<held_lock> detail::inside::take(held_set& from) {
  const auto all = std::exchange(from.state_, nullptr);
  all->relays.clear();
  return std::move(all->locks);
}

held_set::held_set() noexcept = default;
held_set::held_set(std::vector<held_lock> locks)
    : state_{locks.empty() ? nullptr : std::make_unique<state>(std::move(locks))} {}
held_set::held_set(held_set&& other) noexcept = default;
held_set& held_set::operator=(held_set&& other) noexcept = default;
held_set::~held_set() = default;

held_set::operator bool() const noexcept { return state_ != nullptr; }

std::span<const held_lock> held_set::locks() const noexcept {
  return state_ ? std::span<const held_lock>{state_->locks} : std::span<const held_lock>{};
}

fencing_token held_set::token(const lock_name& name) const {
  const auto all = locks();
  const auto found = std::find_if(all.begin(), all.end(), [&](const held_lock& each) { return each.name() == name; });
  if (found == all.end()) throw error{errc::not_held, base::quoted(name.view()) + " is not a lock of this held_set"};
  return found->token();
}

std::optional<duration> held_set::expires_in() const {
  std::optional<duration> out;
  for (const auto& each : detail::not_empty(state_, "held_set").locks) {
    const auto left = each.why_lost() == loss_reason::none ? each.expires_in() : duration::zero();
    if (left) out = std::min(out.value_or(duration::max()), *left);
  }
  return out;
}

std::stop_token held_set::lost() const noexcept {
  if (!state_) return held_lock{}.lost();
  if (why_lost() != loss_reason::none)
    state_->any_is_lost.request_stop();  // the watchdog may not have noticed the
                                         // loss yet
  return state_->any_is_lost.get_token();
}

loss_reason held_set::why_lost() const noexcept {
  for (const auto& each : locks())
    if (const auto why = each.why_lost(); why != loss_reason::none) return why;
  return loss_reason::none;
}

// NOLINTNEXTLINE(readability-make-member-function-const): it is the locks that change
void held_set::extend(duration lease) {
  for (auto& each : detail::not_empty(state_, "held_set").locks) each.extend(lease);
}

void held_set::release() {
  detail::not_empty(state_, "held_set");
  auto all = detail::inside::take(*this);
  std::exception_ptr first;
  std::for_each(all.rbegin(), all.rend(), [&](held_lock& each) {
    try {
      each.release();
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  });
  if (first) std::rethrow_exception(first);
}

}  // namespace rowlock::inline v1
