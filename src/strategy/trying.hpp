#pragma once

#include <optional>
#include <span>
#include <vector>

#include "strategy/inspection.hpp"
#include "strategy/strategy.hpp"

namespace rowlock::inline v1::strategies {

/// Tries by a verb that answers acquisition, version (NULL: busy) and left. No row: inconclusive.
std::vector<answer> try_all(const dialect::table& sql, dialect::verb how, driver::session& on,
                            std::span<const attempt> batch, const driver::limits& until);

/// The row of every name, as far as there is one.
std::vector<std::optional<row_state>> look_at_all(const dialect::table& sql, driver::session& on,
                                                  std::span<const attempt> batch, const driver::limits& until);

/// What the row of a name that is not free tells who wanted it.
answer busy(const row_state& held);

/// Runs a verb whose first argument is a name and which may make its row. Where somebody else makes it meanwhile, and
/// has it in a transaction, it answers no row.
std::vector<driver::row> run_to_make(const dialect::table& sql, dialect::verb how, driver::session& on,
                                     std::span<const driver::request> requests, const driver::limits& until);

/// Makes a vacant row for each of these names that has none.
void make_rows(const dialect::table& sql, driver::session& on, std::span<const attempt> batch,
               const driver::limits& until);

}  // namespace rowlock::inline v1::strategies
