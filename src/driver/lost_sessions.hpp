#pragma once

#include <rowlock/error.hpp>

#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace rowlock::inline v1::driver {

/// Sessions of the server that may still be executing a statement, by ids that tell each from all others. Thread-safe.
template <class Id>
class lost_sessions {
 public:
  void add(const Id& one) {
    const std::lock_guard lock{mutex_};
    all_.push_back(one);
  }

  /// Calls `end(id)` for each session. A session that this role may not end, or that is gone, is left to the server's
  /// own limits; a session for which there was no time is kept for the next call. If the connection cannot be used any
  /// more, the remaining sessions are kept too, and it throws.
  template <class End>
  void end_all(End end) {
    const auto lost = take();
    for (std::size_t i = 0; i < lost.size(); ++i) {
      try {
        end(lost[i]);
      } catch (const error& e) {
        if (e.connection_is_unusable() || e.is_retryable() || e.code() == errc::cancelled) add(lost[i]);
        if (!e.connection_is_unusable()) continue;
        while (++i < lost.size()) add(lost[i]);
        throw;
      }
    }
  }

 private:
  std::vector<Id> take() {
    const std::lock_guard lock{mutex_};
    return std::exchange(all_, {});
  }

  std::mutex mutex_;
  std::vector<Id> all_;  // guarded by it
};

}  // namespace rowlock::inline v1::driver
