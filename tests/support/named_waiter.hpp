#pragma once

#include <rowlock/client.hpp>
#include <rowlock/waiter_info.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace rowlock::test {

/// The name that was given to holder::named(), which puts a word before it.
inline std::string name_in(const waiter_info& who) { return who.thread.substr(who.thread.find(' ') + 1); }

/// These names of all that wait for a lock, as a client sees them: in the order of their tickets.
inline std::vector<std::string> queue_of(rowlock::client& seen_by, const std::string& lock) {
  std::vector<std::string> out;
  for (const auto& each : seen_by.waiters(lock)) out.push_back(name_in(each));
  return out;
}
/// The ticket of one of them; 0: it has none.
inline std::int64_t ticket_of(rowlock::client& seen_by, const std::string& lock, const std::string& who) {
  for (const auto& each : seen_by.waiters(lock))
    if (name_in(each) == who) return each.ticket;
  return 0;
}

}  // namespace rowlock::test
