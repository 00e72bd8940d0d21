#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "store/inspection.hpp"
#include "strategy/strategy.hpp"

/// What the strategies share.
namespace rowlock::inline v1::strategies {

/// Runs a verb that answers as verb::acquire does. No row: inconclusive.
std::vector<answer> try_all(const store::access& db, sql::verb how, std::span<const acquire_args> batch);

/// The same for a row that was seen free, by the version that it had then.
std::vector<answer> compare_and_set(const store::access& db, std::span<const acquire_args> batch);

/// Of one: an attempt by a lease that goes by the queue, or by what was seen of it. Both strategies write the same
/// there, and only if nobody has had the name since the queue was seen. nullopt: it does not.
std::optional<std::vector<answer>> try_in_turn(const store::access& db, std::span<const acquire_args> batch);

/// The row of every name, if there is one.
std::vector<std::optional<store::row_state>> look_at_all(const store::access& db, std::span<const acquire_args> batch);

/// What the row of a name that is not free tells a waiter.
answer busy(const store::row_state& held);

/// Of a name that is free, but that others wait for.
answer waited_for();

/// The name is taken beside others who share it. Who has seen the queue says with which version of the row; else it is
/// taken only where nobody waits. Inconclusive: it is not. Busy: somebody keeps the row locked. Of several that ask at
/// once, for one name, none may mind the others.
std::vector<answer> share(const store::access& db, std::span<const acquire_args> batch);

/// Takes the first of these names that is free, and that nobody waits for, by a lease.
struct one_of_several {
  std::size_t which = 0;
  answer what{};
};
struct first_free {
  std::optional<one_of_several> taken{};
  bool is_waited_for = false;  ///< one is free, but who does not know the queue does not get it
};
first_free take_first_free(const store::access& db, std::span<const acquire_args> batch);

/// Takes all of these names by a lease, or none: those that nobody waits for, or have the version that was seen.
struct all_of_several {
  std::vector<answer> granted{};      ///< empty: none
  std::optional<std::size_t> busy{};  ///< the first that is taken, as far as it is known
  answer why{};                       ///< what its row tells
  bool is_waited_for = false;         ///< all are free, but who does not know the queues does not get them
};
all_of_several take_all(const store::access& db, std::span<const acquire_args> batch);

/// Runs a verb that may make the row of a name. If somebody else makes it meanwhile, and
/// keeps it in a transaction, there is no row in the answer.
store::records run_to_make(const store::access& db, sql::verb how, std::span<const store::arguments> requests);

/// Makes a vacant row for each of these names that has none.
void make_rows(const store::access& db, std::span<const acquire_args> batch);

}  // namespace rowlock::inline v1::strategies
