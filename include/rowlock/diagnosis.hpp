#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <rowlock/export.hpp>

namespace rowlock::inline v1 {

/// How one matter stands.
enum class condition : std::uint8_t {
  ok,       ///< as it should be
  advice,   ///< locks work; the sentence says what would be better
  failed,   ///< locks do not work; the sentence says what to do
  unknown,  ///< could not be looked at
};

/// The name of the enumerator, for people and logs.
ROWLOCK_EXPORT std::string_view to_string(condition c) noexcept;

/// What client::diagnose() found about one matter.
struct finding {
  std::string subject{};           ///< "connection", "schema", "privileges", "clock", "log settings" or "cluster"
  rowlock::condition condition{};  ///< how it stands
  std::string sentence{};          ///< what was seen, and what to do where something is to be done; for people
};

}  // namespace rowlock::inline v1
