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

/// Who waits for a name, in the database: in the order of the tickets that are committed and not expired.
namespace rowlock::inline v1::store {

/// Views are valid for the time of the call.
struct ticket_ref {
  std::string_view name;
  std::string_view attempt;
  core::ticket_number number = core::ticket_number::last;
  std::int64_t room = core::sharing{}.room;  ///< of the waiter, beside others who share the name
  duration patience{};                       ///< tickets that have waited less long are passed; see any_moment
};

/// The patience of a look that is to tell when to try, for whoever may pass a set that does not insist.
inline constexpr duration any_moment{-1};

/// A waiter that asks for a ticket.
struct newcomer {
  std::string_view name;
  std::string_view owner;
  std::string_view thread;
  std::string_view attempt;
  std::string_view note{};
  std::optional<duration> lease{};           ///< a release may grant it the lock, for as long
  std::int64_t room = core::sharing{}.room;  ///< as in ticket_ref
};

/// What the queue and the row of a name tell about a ticket.
struct turn {
  bool is_behind = true;  ///< others come first
  bool has_ticket = false;
  bool looks_free = false;         ///< no lease runs, or there is room; a transaction may have it all the same
  std::optional<duration> left{};  ///< of the holder's lease
  bool has_row = false;
  bool is_marked = false;   ///< the row says that somebody waits, where it can
  fencing_token version{};  ///< a different one: the name has changed hands
  std::string holding{};    ///< the acquisition of the holder; empty: there is none
};

struct refreshed {
  bool has_ticket = false;
  bool may_go = false;    ///< it is first and the name looks free: told by databases that can tell it with a write
  bool is_marked = true;  ///< the row says that somebody waits: told, too, by these databases
};

core::ticket_number enqueue(const access& db, const newcomer& who);
/// Keeps tickets alive: one answer for each.
std::vector<refreshed> refresh_tickets(const access& db, std::span<const ticket_ref> some);
/// Deletes tickets, and notifies the next waiter where the database can. One answer for each; false: somebody keeps it
/// locked.
std::vector<bool> leave(const access& db, std::span<const ticket_ref> some);
/// The same where the number is not known, nor whether the ticket exists.
void withdraw(const access& db, const ticket_ref& one);
/// From now on a release of this name looks for tickets, until nobody has one. false: its row could not be changed.
bool mark_waiting(const access& db, std::string_view name);
/// true: nobody has a ticket for this name, as it seems, and its row does not say so any more.
bool clear_waiting(const access& db, std::string_view name);
struct next_waiter {
  std::string owner{};     ///< empty: nobody
  bool is_behind = false;  ///< the other client's own tickets come before; not told by databases that notify
};
/// Who has the first ticket of all but the client whose ids begin like this one, if the name looks free; also notifies
/// that client, where the database can.
next_waiter first_waiter(const access& db, std::string_view name, std::string_view mine);
/// One answer for each; a name may be among them once.
std::vector<turn> look_at_queues(const access& db, std::span<const ticket_ref> some);
/// What a waiter has, where it waits for long.
struct held_name {
  core::ticket_number by{};  ///< the waiter's ticket
  std::string name{};
  std::string acquisition{};  ///< empty: by a transaction

  bool operator==(const held_name&) const = default;
};
void declare_held(const access& db, std::span<const held_name> some);
void forget_held(const access& db, core::ticket_number by);
/// All live waiters that have declared what they have, by their tickets.
std::vector<core::waiting_holder> waiting_holders(const access& db);
/// Notifies the client with this owner.
void ring(const access& db, std::string_view owner);

}  // namespace rowlock::inline v1::store
