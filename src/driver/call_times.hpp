#pragma once

#include <rowlock/export.hpp>
#include <rowlock/statistics.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/histogram.hpp"
#include "sql/sheet.hpp"

namespace rowlock::inline v1::driver {

/// What a call to a database does if it carries out no verb.
enum class chore : std::uint8_t {
  connecting,
  beginning,
  committing,
  rolling_back,
  scripting,
  looking_for_changes,
  ending_sessions,
  waking,
  count_of_chores
};

/// How long a client's calls to its database took. Thread-safe.
class ROWLOCK_EXPORT call_times {
 public:
  void add(sheets::verb v, std::chrono::nanoseconds took) noexcept;
  void add(chore c, std::chrono::nanoseconds took) noexcept;
  /// By what was being done, in words, without what has not occurred.
  std::vector<statement_statistics> read() const;

 private:
  std::array<base::growing_histogram, static_cast<std::size_t>(sheets::verb::count_of_verbs)> verbs_;
  std::array<base::growing_histogram, static_cast<std::size_t>(chore::count_of_chores)> chores_;
};

/// Adds how long it lived to `to`, if that is not nullptr.
template <class What>
class timed {
 public:
  timed(call_times* to, What what) noexcept : to_{to}, what_{what} {
    if (to_ != nullptr) began_ = std::chrono::steady_clock::now();
  }
  timed(const timed&) = delete;
  timed& operator=(const timed&) = delete;
  ~timed() {
    if (to_ != nullptr) to_->add(what_, std::chrono::steady_clock::now() - began_);
  }

 private:
  call_times* const to_;
  const What what_;
  std::chrono::steady_clock::time_point began_{};
};

}  // namespace rowlock::inline v1::driver
