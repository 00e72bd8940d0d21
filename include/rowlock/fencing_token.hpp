#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

#include <compare>
#include <cstdint>
#include <iosfwd>

namespace rowlock::inline v1 {

/// A number that grows with every change of ownership of a lock.
///
/// Guarantee: of two grants of one name, the later one has the greater token, across releases, crashes and sweeping.
/// docs/guarantees.md names the exceptions.
///
/// Send the token along with each write to the protected resource, and let the resource refuse a token that is smaller
/// than the greatest it has seen. Then the late writes of a holder that was paused beyond its lease do no harm. (The
/// idea is from Kleppmann, "How to do distributed locking", 2016.)
class fencing_token {
 public:
  /// Makes the token 0, which is less than every token of a lock.
  constexpr fencing_token() = default;
  /// Makes a token from a number that was stored, or that another program sent.
  constexpr explicit fencing_token(std::int64_t value) noexcept : value_{value} {}
  /// Returns the number; 0 means no token.
  ///
  /// It is approximately the time of the grant in microseconds since 1970, by the database's clock.
  constexpr std::int64_t value() const noexcept { return value_; }
  /// Compares the numbers; of two tokens of one name, the greater one is the later.
  friend constexpr auto operator<=>(fencing_token, fencing_token) = default;

  /// Writes value() to a stream, as a std::int64_t is written.
  ///
  /// The stream's flags and locale apply.
  template <class Traits>
  friend std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& to, fencing_token token) {
    return to << token.value_;
  }

 private:
  std::int64_t value_ = 0;
};

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
