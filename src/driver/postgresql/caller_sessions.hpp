#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "base/guarded.hpp"

namespace rowlock::inline v1::driver {

/// What is sent in the transactions of callers and may be prepared in their sessions.
enum class enlisted_statement : std::uint8_t { take_vacant, take, pin, count };

/// What is known of a session of a caller's. All of it are hints: a wrong one costs a round trip.
struct caller_session {
  bool was_used = false;         ///< what is prepared will be used again, then
  bool reads_committed = false;  ///< a transaction was READ COMMITTED
  bool keeps_snapshots = false;  ///< a transaction was not
  bool forgets = false;          ///< what was prepared in it was gone
  std::bitset<static_cast<std::size_t>(enlisted_statement::count)> prepared{};
};

/// The sessions of callers, by the server's number.
class caller_sessions {
 public:
  caller_session find(std::int64_t number) {
    const auto all = known_.lock();
    const auto found = all->find(number);
    return found == all->end() ? caller_session{} : found->second;
  }

  /// Nothing is kept of a session whose number is not known (0).
  template <class Change>
  void note(std::int64_t number, Change change) {
    if (number == 0) return;
    const auto all = known_.lock();
    if (all->size() >= most && !all->contains(number)) all->clear();
    change((*all)[number]);
  }

 private:
  static constexpr std::size_t most = 1024;
  base::guarded<std::unordered_map<std::int64_t, caller_session>> known_;
};

}  // namespace rowlock::inline v1::driver
