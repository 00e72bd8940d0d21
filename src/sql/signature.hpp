#pragma once

#include <array>
#include <cstdint>

namespace rowlock::inline v1::sql {

/// What arguments and columns are called, in all verbs and all databases.
enum class field : std::uint8_t {
  none,
  name,
  prefix,
  prefix_end,
  owner,
  thread,
  acquisition,
  attempt,
  note,
  liveness,
  version,
  lease,
  left,           ///< of a lease
  age,            ///< since it was acquired, or since the waiter came
  without_lease,  ///< held by a transaction or a process
  is_unlocked,    ///< vacant, and no transaction had it locked
  session,        ///< the number of a session of the server
  transaction,    ///< changes with each transaction that has changed the row
  sign,           ///< by which pinned_by knows a transaction
  ticket,
  turn,      ///< the ticket up to which others come first
  room,      ///< how many permits of others there may be
  permits,   ///< how many; 0: it is not shared
  patience,  ///< for how long a ticket is not waited for
  life,      ///< of a ticket
  is_behind,
  has_ticket,
  has_left,
  looks_free,
  may_go,
  number,     ///< how many
  retention,  ///< for how long something is kept that nobody uses
  is_over,    ///< it may be deleted; else it only ends the page
  told,       ///< NULL: nobody
  held_name,  ///< what a waiter has
  waiting,    ///< the row says that somebody waits
  holding,    ///< the acquisition that has the name
  held_as,    ///< the version of its row
  others_wait,
  installation,
  serves_from,
  applied_at,
  clock,
  checksum,
  value,
  names,
  waiters,
  longest_wait,
  anything
};

/// A verb's arguments, in the order in which its texts number them, and the columns of its answer, of which a database
/// may lack the last. Text that names the request is in the first column.
struct signature {
  std::array<field, 9> arguments{};
  std::array<field, 10> columns{};
  bool operator==(const signature&) const = default;
};

}  // namespace rowlock::inline v1::sql
