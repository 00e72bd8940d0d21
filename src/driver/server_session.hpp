#pragma once

#include <rowlock/error.hpp>
#include <rowlock/export.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/session.hpp"

// Code that the sessions of servers share.

namespace rowlock::inline v1::driver {

/// Sessions of the server that may still be executing a statement, by ids that distinguish each from all others.
/// Thread-safe.
template <class Id>
class lost_sessions {
 public:
  void add(const Id& one) {
    const std::lock_guard lock{mutex_};
    all_.push_back(one);
  }

  /// Calls `end(id)` for each session. A session that this role may not end, or that has ended, is left to the server's
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

/// The statements that a session has sent, by their texts. The address of a statement does not change.
template <class Statement>
class statement_cache {
 public:
  /// `make()` makes the statement of a new text. The texts are few and of different lengths, so comparing with each is
  /// cheaper than hashing a long text.
  template <class Make>
  Statement& find_or_make(const std::string& text, Make make) {
    for (entry& each : all_)
      if (each.text == text) return each.statement;
    return all_.emplace_back(entry{.text = text, .statement = make()}).statement;
  }

  void clear() noexcept { all_.clear(); }
  std::size_t size() const noexcept { return all_.size(); }

 private:
  struct entry {
    std::string text;
    Statement statement;
  };
  std::deque<entry> all_;
};

/// For names that no other session uses.
ROWLOCK_EXPORT std::uint64_t random_number();

/// The remaining time, at least 2 ms; nullopt: there is no deadline.
ROWLOCK_EXPORT std::optional<duration> time_left(const limits& until);

/// How long the server itself may wait if so much time is left: it gives up before the call is cut.
constexpr duration servers_wait(duration left) { return left - left / 10; }

/// The limits of a script: those of the exclusively() around it, otherwise those of one call.
ROWLOCK_EXPORT limits limits_of_script(const std::optional<limits>& around, duration call_timeout);

/// For how long a request to change a table waits for the transactions that use it. All later requests wait behind it.
/// So this is less than the reserve of the shortest lease, and less than the time that a statement waits for a lock.
inline constexpr duration change_wait = std::chrono::milliseconds{50};

/// Calls `change` until nothing `is_in_its_way`, with pauses in which other clients continue. At the deadline it throws
/// the error that reported the obstacle.
ROWLOCK_EXPORT void insist_on_change(const limits& until, const std::function<void()>& change,
                                     const std::function<bool(const error&)>& is_in_its_way);

}  // namespace rowlock::inline v1::driver
