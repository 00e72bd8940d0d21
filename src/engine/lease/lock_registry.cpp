#include "engine/lease/lock_registry.hpp"

#include <algorithm>
#include <bit>
#include <thread>
#include <utility>

#include "base/waits.hpp"
#include "engine/flow/flow.hpp"

namespace rowlock::inline v1::engine {

namespace {

void was_taken_by(lease_state& a, std::thread::id thread) {
  if (a.by && !a.is_of_thread) a.takers.push_back(thread);
}

// A handle may have been moved to another thread; which one is not known.
void was_dropped(std::vector<std::thread::id>& takers) noexcept {
  if (takers.empty()) return;
  const auto own = std::find(takers.begin(), takers.end(), calling_thread());
  if (own != takers.end()) std::swap(*own, takers.back());
  takers.pop_back();
}

}  // namespace

bool lock_registry::add(const lease_ptr& a, const std::function<void()>& first) {
  const auto state = state_.lock();
  if (state->is_closed) return false;
  was_taken_by(*a, a->taken_by);
  if (first) first();
  list_by_name(*state, a);
  a->slot = state->listed.size();
  state->listed.push_back(a);
  a->is_listed = true;
  return true;
}

void lock_registry::list_by_name(contents& in, const lease_ptr& a) {
  in.listed.reserve(std::bit_ceil(in.listed.size() + 1));  // the following cannot fail
  if (in.spare.empty()) {
    in.by_name.insert(a.get());
  } else {
    in.spare.value() = a.get();
    in.by_name.insert(std::move(in.spare));
  }
}

// A lock that the holder has lost cannot be reentered.
const lease_ptr* lock_registry::find(const contents& in, const lock_name& name, const holder& by, bool alone,
                                     base::instant now) {
  const auto [from, to] = in.by_name.equal_range(name.view());
  for (auto at = from; at != to; ++at)
    if ((*at)->by == by && (!alone || ((*at)->is_alone() && !(*at)->is_being_shared)) && (*at)->is_held_at(now))
      return &in.listed[(*at)->slot];
  return nullptr;
}

lease_ptr lock_registry::reenter(const lock_name& name, const holder& by, bool alone, base::instant now) {
  const auto state = state_.lock();
  const auto* const found = find(*state, name, by, alone, now);
  if (found == nullptr) return nullptr;
  was_taken_by(**found, calling_thread());
  ++(*found)->handles;
  return *found;
}

std::optional<base::instant> lock_registry::joined_since(const lock_name& name, const holder& by, base::instant now) {
  const auto state = state_.lock();
  const auto* const found = find(*state, name, by, false, now);
  if (found == nullptr) return std::nullopt;
  const auto& takers = (*found)->takers;
  const auto own = calling_thread();
  const bool has_handle = own != std::thread::id{} && std::find(takers.begin(), takers.end(), own) != takers.end();
  return has_handle ? std::nullopt : std::optional{(*found)->had_since()};
}

bool lock_registry::has_ended(const lock_name& name, const holder& by, base::instant until,
                              const std::stop_token& stop) {
  lease_ptr what;  // outlives the lock
  auto state = state_.lock();
  const auto* const found = find(*state, name, by, false, base::now());
  if (found == nullptr) return true;
  what = *found;
  ++state->waiting;
  const bool out = base::wait_until(ended_, state.lock(), until, stop, [&] { return !what->is_listed; });
  --state->waiting;
  return out;
}

bool lock_registry::has(const lock_name& name, const holder& by, base::instant now) {
  return find(*state_.lock(), name, by, false, now) != nullptr;
}

bool lock_registry::has(const lock_name& name) {
  bool out = false;
  each_of(name, [&](const lease_state& a) { out = out || a.is_held(); });
  return out;
}

bool lock_registry::begin_to_share(lease_state& a) {
  const auto state = state_.lock();
  return a.is_being_shared = a.handles == 1;
}

void lock_registry::end_to_share(lease_state& a) {
  const auto state = state_.lock();
  a.is_being_shared = false;
}

bool lock_registry::drop(lease_state& a) {
  lease_ptr last;  // outlives the lock: its destructor must not run under the mutex
  const auto state = state_.lock();
  was_dropped(a.takers);
  if (--a.handles > 0) return false;
  last = unlist(*state, a);
  return true;
}

void lock_registry::remove(lease_state& a) {
  lease_ptr last;
  const auto state = state_.lock();
  last = unlist(*state, a);
}

lease_ptr lock_registry::unlist(contents& from, lease_state& a) {
  if (!a.is_listed) return nullptr;
  a.is_listed = false;
  if (from.waiting > 0) ended_.notify_all();
  const auto [first, last] = from.by_name.equal_range(a.name.view());
  from.spare = from.by_name.extract(std::find(first, last, &a));
  from.listed.back()->slot = a.slot;
  std::swap(from.listed[a.slot], from.listed.back());
  lease_ptr out = std::move(from.listed.back());
  from.listed.pop_back();
  return out;
}

lease_ptr lock_registry::find(std::string_view acquisition) {
  const auto state = state_.lock();
  const auto found = std::find_if(state->listed.begin(), state->listed.end(),
                                  [&](const lease_ptr& a) { return a->id.text() == acquisition; });
  return found == state->listed.end() ? nullptr : *found;
}

std::vector<lease_ptr> lock_registry::all() { return state_.lock()->listed; }

std::vector<lease_ptr> lock_registry::close() {
  const auto state = state_.lock();
  state->is_closed = true;
  return state->listed;
}

}  // namespace rowlock::inline v1::engine
