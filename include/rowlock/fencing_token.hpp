#pragma once

#include <compare>
#include <cstdint>

namespace rowlock::inline v1 {

/// A number that strictly grows with every change of ownership of a name, across releases, crashes and sweeping.
///
/// Hand it to whatever the lock protects, and let that refuse a token smaller than one it has seen: a holder that was
/// paused past its lease then does no harm. (The idea: Kleppmann, "How to do distributed locking", 2016.)
class fencing_token {
 public:
  /// Less than every token of a lock.
  constexpr fencing_token() = default;
  /// As it was stored, or came from another program.
  constexpr explicit fencing_token(std::int64_t value) noexcept : value_{value} {}
  /// About the microseconds since 1970 at which the lock was granted; 0: none.
  constexpr std::int64_t value() const noexcept { return value_; }
  /// Of tokens of one name, the greater is the later.
  friend constexpr auto operator<=>(fencing_token, fencing_token) = default;

 private:
  std::int64_t value_ = 0;
};

}  // namespace rowlock::inline v1
