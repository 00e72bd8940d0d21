#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <string_view>

#include "base/time.hpp"

namespace rowlock::inline v1::core {

/// How many permits of a name a holder has, and how many other holders may have at the same time. Exclusive: no
/// permits.
struct sharing {
  std::int64_t permits = 0;
  std::int64_t max_other_permits = -1;  ///< how many permits others may have

  static constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

  bool is_exclusive() const noexcept { return permits == 0; }
  bool is_reader() const noexcept { return max_other_permits == unlimited; }
};

/// A reader, together with any number of others.
inline constexpr sharing one_reader{.permits = 1, .max_other_permits = sharing::unlimited};

/// For how long a call that shares a name, and need not wait in turn, may pass a waiter of the name.
inline constexpr duration sharing_patience = std::chrono::milliseconds{100};

/// The ticket of a set of names has one of these in place of its room. A release passes over a set that need not wait
/// in turn, unless it insists.
inline constexpr std::int64_t limit_of_set = -2;
inline constexpr std::int64_t limit_of_fair_set = -3;

/// Once a set has waited for sharing_patience, it insists for so long: other waiters leave its names free. After that,
/// all sets insist together, for so long in each period of the database's clock. The statements contain these numbers,
/// too.
inline constexpr duration insists_for = std::chrono::seconds{1};
inline constexpr duration insists_every = std::chrono::seconds{5};

/// Of a row whose name is shared: its acquisition begins with a text that no attempt uses.
constexpr bool is_shared(std::string_view acquisition) noexcept { return acquisition.starts_with("shared:"); }

}  // namespace rowlock::inline v1::core
