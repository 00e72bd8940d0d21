#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/identity.hpp"
#include "store/access.hpp"

/// Rows and tickets that are not needed any more. They are looked for in pages of a table, which locks nothing, and
/// then deleted by key if they are still unused under the row's lock; rows that other clients have locked are left for
/// later.
namespace rowlock::inline v1::store {

struct unused_names {
  std::vector<std::string> names;
  std::vector<std::string> invalid_names;  ///< written by hand and not valid: such names cannot be asked for
  std::string last;                        ///< of the page; empty: the page is empty
  std::int64_t greatest = 0;               ///< version of `names`
};
/// Looks at the next `number` names after `after`.
unused_names find_unused(const access& db, std::string_view after, std::size_t number, duration retention);
/// How many rows of the page were deleted. Rows that are made from then on begin above the versions of these.
std::size_t sweep(const access& db, const unused_names& page, duration retention);

struct dead_ticket {
  core::ticket_number number = core::ticket_number::none;
  std::string name;
  std::string attempt;
};
struct dead_tickets {
  std::vector<dead_ticket> tickets;
  core::ticket_number last = core::ticket_number::none;  ///< of the page; none: the page is empty
};
/// Looks at the next `number` tickets after `after`.
dead_tickets find_dead(const access& db, core::ticket_number after, std::size_t number);
/// How many tickets were deleted.
std::size_t purge_tickets(const access& db, std::span<const dead_ticket> tickets);
/// Deletes the declared names of waiters whose tickets were deleted.
void purge_held(const access& db);

/// Names with rows of dead holders, after the given one, at most so many.
std::vector<std::string> find_dead_shares(const access& db, std::string_view after, std::size_t number);
/// Deletes the rows of dead holders.
void purge_shares(const access& db, std::string_view name);

struct notified_names {
  std::size_t notified = 0;
  std::string last;  ///< of the page; empty: the page is empty
};
/// Notifies the first waiter of each name that looks free, if the database can: among the next `number` tickets by
/// name.
notified_names notify_waiters(const access& db, std::string_view after, std::size_t number);

}  // namespace rowlock::inline v1::store
