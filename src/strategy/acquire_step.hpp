#pragma once

#include <optional>
#include <span>
#include <vector>

#include "store/inspection.hpp"
#include "strategy/strategy.hpp"

/// What the strategies share.
namespace rowlock::inline v1::strategies {

/// Runs a verb that answers as verb::acquire does. No row: inconclusive.
std::vector<answer> try_all(const store::access& db, dialect::verb how, std::span<const acquire_args> batch);

/// The row of every name, if there is one.
std::vector<std::optional<store::row_state>> look_at_all(const store::access& db, std::span<const acquire_args> batch);

/// What the row of a name that is not free tells a waiter.
answer busy(const store::row_state& held);

/// Runs a verb that may make the row of a name. If somebody else makes it meanwhile, and
/// keeps it in a transaction, there is no row in the answer.
store::records run_to_make(const store::access& db, dialect::verb how, std::span<const store::arguments> requests);

/// Makes a vacant row for each of these names that has none.
void make_rows(const store::access& db, std::span<const acquire_args> batch);

}  // namespace rowlock::inline v1::strategies
