#pragma once

#include <rowlock/lock_info.hpp>
#include <rowlock/statistics.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/dialect.hpp"
#include "driver/session.hpp"

namespace rowlock::inline v1::strategies {

/// A row of the lock table as the verbs `inspect` and `list` answer it.
struct row_state {
  fencing_token token;
  std::string acquisition;
  bool is_vacant = true;
  std::optional<duration> left;  ///< absent: no lease

  bool is_free() const { return is_vacant || (left && *left <= duration::zero()); }
  /// Whether or not its lease has ended.
  bool is_held_by(std::string_view some_acquisition) const { return !is_vacant && acquisition == some_acquisition; }
};
row_state row_state_of(const driver::row& r);
/// nullopt: there is no row.
std::optional<row_state> look_at(const dialect::table& sql, driver::session& on, std::string_view name,
                                 const driver::limits& until);

/// nullopt: nobody holds the name.
std::optional<lock_info> find(const dialect::table& sql, driver::session& on, std::string_view name,
                              const driver::limits& until);
/// The transaction that keeps the row locked, as far as the server tells. Of a row with an owner few servers do, unless
/// the transaction has taken it.
std::optional<lock_info> find_keeper(const dialect::table& sql, driver::session& on, std::string_view name,
                                     bool has_owner, const driver::limits& until);
/// What was written by hand under something that is no name is left out, and added to `odd`.
std::vector<lock_info> list(const dialect::table& sql, driver::session& on, std::string_view prefix,
                            const driver::limits& until, std::vector<std::string>& odd);

database_statistics count(const dialect::table& sql, driver::session& on, const driver::limits& until,
                          std::vector<std::string>& odd);

}  // namespace rowlock::inline v1::strategies
