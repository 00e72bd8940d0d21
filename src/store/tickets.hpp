#pragma once

#include <rowlock/fencing_token.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/deadlock.hpp"
#include "core/identity.hpp"
#include "core/sharing.hpp"
#include "store/access.hpp"

/// The waiters of a name, in the database: in the order of the tickets that are committed and not expired.
namespace rowlock::inline v1::store {

/// Views are valid during the call.
struct ticket_ref {
  std::string_view name;
  std::string_view attempt;
  core::ticket_number number = core::ticket_number::last;
  std::int64_t max_other_permits = core::sharing{}.max_other_permits;  ///< as in core::sharing
  duration patience{};                                                 ///< younger tickets are passed; see any_moment
};

/// The patience of a look that finds out when to try, for waiters that may pass a set that does not insist.
inline constexpr duration any_moment{-1};

/// A waiter that asks for a ticket.
struct newcomer {
  std::string_view name;
  std::string_view owner;
  std::string_view thread;
  std::string_view attempt;
  std::string_view note{};
  std::optional<duration> lease{};                                     ///< a release may grant it the lock, for so long
  std::int64_t max_other_permits = core::sharing{}.max_other_permits;  ///< as in ticket_ref
};

/// A ticket's position, according to the queue and the row of its name.
struct queue_position {
  bool is_behind = true;  ///< others come first
  bool has_ticket = false;
  bool looks_free = false;         ///< no lease runs, or permits are free; a transaction may hold it nevertheless
  std::optional<duration> left{};  ///< of the holder's lease
  bool has_row = false;
  bool is_marked = false;   ///< the row says that a client waits, in databases with this mark
  fencing_token version{};  ///< another version means that the holder has changed
  std::string holding{};    ///< the acquisition of the holder; empty: there is none
};

struct refreshed {
  bool has_ticket = false;
  bool may_go = false;    ///< it is first and the name looks free, in databases that can answer this with a write
  bool is_marked = true;  ///< the row says that a client waits, in the same databases
};

core::ticket_number enqueue(const access& db, const newcomer& who);
/// Keeps tickets alive: one answer for each.
std::vector<refreshed> refresh_tickets(const access& db, std::span<const ticket_ref> some);
/// Deletes tickets, and notifies the next waiter if the database can. One answer for each; false: another transaction
/// keeps it locked.
std::vector<bool> leave(const access& db, std::span<const ticket_ref> some);
/// The same if the number is not known, nor whether the ticket exists.
void withdraw(const access& db, const ticket_ref& one);
/// From now on a release of this name looks for tickets, until there are none. false: its row could not be changed.
bool mark_waiting(const access& db, std::string_view name);
/// true: it seems that there is no ticket for this name, and its row does not say so any more.
bool clear_waiting(const access& db, std::string_view name);
struct next_waiter {
  std::string owner{};     ///< empty: there is none
  bool is_behind = false;  ///< the other client's own tickets come before; not answered by databases that notify
};
/// The owner of the first ticket, not counting the client whose ids begin like `mine`, if the name looks free; also
/// notifies that client, if the database can.
next_waiter first_waiter(const access& db, std::string_view name, std::string_view mine);
/// One answer for each; a name may occur only once.
std::vector<queue_position> look_at_queues(const access& db, std::span<const ticket_ref> some);
/// A name that a long-waiting waiter holds.
struct held_name {
  core::ticket_number by{};  ///< the waiter's ticket
  std::string name{};
  std::string acquisition{};  ///< empty: held by a transaction

  bool operator==(const held_name&) const = default;
};
void declare_held(const access& db, std::span<const held_name> some);
void forget_held(const access& db, core::ticket_number by);
/// All live waiters that have declared the names that they hold, by their tickets.
std::vector<core::waiting_holder> waiting_holders(const access& db);
/// Notifies the client with this owner.
void ring(const access& db, std::string_view owner);

}  // namespace rowlock::inline v1::store
