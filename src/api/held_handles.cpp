#include "api/held_handles.hpp"

#include <algorithm>
#include <utility>

namespace rowlock::inline v1::detail {

void held_handles::add(const holder& by, held_lock lock) {
  all_.lock()->push_back({.by = by, .lock = std::move(lock)});
}

held_handles::entry* held_handles::latest(std::deque<entry>& of, const holder& by) {
  const auto found = std::find_if(of.rbegin(), of.rend(), [&](const entry& e) { return e.lock && e.by == by; });
  return found == of.rend() ? nullptr : &*found;
}

held_lock held_handles::take(const holder& by) {
  const auto all = all_.lock();
  auto* const found = latest(*all, by);
  if (found == nullptr) return {};
  held_lock last = std::move(found->lock);
  while (!all->empty() && !all->back().lock) all->pop_back();
  return last;
}

const held_lock* held_handles::latest(const holder& by) {
  const auto all = all_.lock();
  const auto* const found = latest(*all, by);
  return found == nullptr ? nullptr : &found->lock;
}

}  // namespace rowlock::inline v1::detail
