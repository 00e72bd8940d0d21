#include "engine/lease/lock_registry.hpp"

#include <algorithm>
#include <utility>

namespace rowlock::inline v1::engine {

std::size_t lock_registry::hash::operator()(const key& k) const noexcept {
  constexpr std::hash<std::string_view> of{};
  constexpr std::size_t odd = 31;
  return of(k.name) * odd + of(k.by);
}

bool lock_registry::add(const lease_ptr& a, const std::function<void()>& first) {
  const auto state = state_.lock();
  if (state->is_closed) return false;
  if (first) first();
  a->slot = state->listed.size();
  a->is_listed = true;
  state->listed.push_back(a);
  if (a->by) list_by_holder(*state, a);
  return true;
}

// What the same holder had before and has lost is not given again.
void lock_registry::list_by_holder(contents& in, const lease_ptr& a) {
  if (const auto lost = in.by_holder.find(key{a}); lost != in.by_holder.end()) in.spare = in.by_holder.extract(lost);
  if (in.spare.empty()) {
    in.by_holder.insert(a);
  } else {
    in.spare.value() = a;
    in.by_holder.insert(std::move(in.spare));
  }
}

const lease_ptr* lock_registry::find(const contents& in, const lock_name& name, const holder& by, base::instant now) {
  const auto found = in.by_holder.find(key{name, by});
  if (found == in.by_holder.end()) return nullptr;
  return (*found)->is_held_at(now) ? &*found : nullptr;
}

lease_ptr lock_registry::again(const lock_name& name, const holder& by, base::instant now) {
  const auto state = state_.lock();
  const auto* const found = find(*state, name, by, now);
  if (found == nullptr) return nullptr;
  ++(*found)->handles;
  return *found;
}

bool lock_registry::has(const lock_name& name, const holder& by, base::instant now) {
  return find(*state_.lock(), name, by, now) != nullptr;
}

bool lock_registry::has(const lock_name& name) {
  const auto state = state_.lock();
  return std::any_of(state->listed.begin(), state->listed.end(),
                     [&](const lease_ptr& a) { return a->name == name && a->is_held(); });
}

bool lock_registry::drop(lease_state& a) {
  lease_ptr last;  // outlives the lock: what it destroys must not be destroyed under it
  const auto state = state_.lock();
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
  if (a.by) {
    // Lost and taken again by the same holder, it is the later one's entry.
    const auto found = from.by_holder.find(key{a.name, *a.by});
    if (found != from.by_holder.end() && found->get() == &a) {
      from.spare = from.by_holder.extract(found);
      from.spare.value() = nullptr;
    }
  }
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
