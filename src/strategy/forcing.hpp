#pragma once

#include <rowlock/fencing_token.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dialect/dialect.hpp"
#include "driver/session.hpp"

namespace rowlock::inline v1::strategies {

/// Who has a name, for whoever is to free it.
struct possession {
  fencing_token token{};      ///< 0: not known, because a transaction has it
  fencing_token committed{};  ///< the version of the row
  bool is_committed = false;  ///< by a lease, or else by a transaction that is under way
  std::string acquisition{};  ///< of what is committed
  /// The server's number of the session that keeps the row locked, as far as that is known, and how it calls itself.
  std::optional<std::int64_t> session{};
  std::string session_name{};

  /// Whether this, seen later, is what was seen then. A lease that has ended since, and is pinned still, is; that it is
  /// must have been seen before.
  bool is_still(const possession& then) const noexcept;
};

/// nullopt: nobody.
std::optional<possession> find_possession(const dialect::table& sql, driver::session& on, std::string_view name,
                                          const driver::limits& until);

/// Vacates the row, if it has that version still and an owner. false: it has not, or somebody has it locked.
bool free(const dialect::table& sql, driver::session& on, std::string_view name, fencing_token version,
          const driver::limits& until);

}  // namespace rowlock::inline v1::strategies
