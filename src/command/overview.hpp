#pragma once

#include <rowlock/client.hpp>

#include <algorithm>
#include <string_view>
#include <vector>

namespace rowlock::command {

/// Who holds and who waits, of all names that begin alike; both in the order of the names.
struct overview {
  std::vector<lock_info> held{};
  std::vector<waiter_info> queue{};
};

inline bool is_holder(const std::vector<lock_info>& held, const waiter_info& who) {
  const auto found = std::lower_bound(held.begin(), held.end(), who.name,
                                      [](const lock_info& each, const lock_name& name) { return each.name < name; });
  return found != held.end() && found->name == who.name && found->owner == who.owner && found->thread == who.thread;
}

// As look_at: the queue first, and whoever has moved up between the two looks is no waiter any more.
inline overview look_at_all(client& locks, std::string_view prefix) {
  overview seen{.queue = locks.list_waiters(prefix)};
  seen.held = locks.list(prefix);
  std::erase_if(seen.queue, [&](const waiter_info& each) { return is_holder(seen.held, each); });
  return seen;
}

}  // namespace rowlock::command
