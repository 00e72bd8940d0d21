#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

#include <cstdint>
#include <string>
#include <string_view>

#include <rowlock/detail/named_enum.hpp>
#include <rowlock/export.hpp>

namespace rowlock::inline v1 {

/// The result of examining one subject.
enum class condition : std::uint8_t {
  ok,       ///< No problem was found.
  advice,   ///< Locks work; the sentence says what would be better.
  failed,   ///< Locks do not work; the sentence says what to do.
  unknown,  ///< The subject could not be examined.
};

/// Returns the name of the enumerator, for people and logs.
ROWLOCK_EXPORT std::string_view to_string(condition c) noexcept;

/// The finding of client::diagnose() about one subject.
struct finding {
  std::string subject{};           ///< "connection", "schema", "privileges", "clock", "log settings" or "cluster".
  rowlock::condition condition{};  ///< Whether something is wrong or could be better.
  std::string sentence{};          ///< The observation, and what to do if necessary; for people to read.
};

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
