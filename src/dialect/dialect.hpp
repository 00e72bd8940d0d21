#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "dialect/migration.hpp"

namespace rowlock::inline v1::dialect {

/// What can be asked of a database. docs/protocol.md says for each what it sends, locks and promises.
/// Behind each: the arguments (?1, ?2, …) -> the columns of a row.
enum class verb : std::uint8_t {
  acquire,           // name, owner, thread, acquisition, lease, note -> acquisition, version (NULL: busy), left
  compare_and_set,   // as acquire, and the version that was seen -> as acquire, granted or nothing
  hold,              // name -> name, version, or nothing; in a transaction. Needed where rows have locks, as is:
  find_held,         // name -> as inspect, where some transaction has changed the row and is under way
  list_held,         // prefix, end of prefix -> as inspect, of such rows
  beat,              // -> anything
  hold_while_alive,  // as acquire, and the client's liveness -> as acquire. Needed where rows have no locks, as is:
  names_liveness,    // liveness -> something where a row names it
  vacate_dead,       // liveness -> something where there were rows that named it
  make,              // name -> nothing; a vacant row where there is none
  vacate_expired,    // name -> nothing; its row is vacant then, if its lease has ended and nobody has it locked. Needed
                     // where rows have locks
  renew,             // name, acquisition, lease -> acquisition, left
  extend,            // as renew
  release,           // name, acquisition -> acquisition
  linger,            // name, acquisition, for how long since the grant -> acquisition; its lease ends then, or has
                     // ended
  free,              // name, version -> name; vacates the row with that version, if it has an owner, whoever that is,
                     // also for after a crash; nobody is taken for who lets go of it
  find_pinning,      // name -> as inspect, of the transaction that keeps the row locked, whether or not it looks free.
                     // Needed where the server can tell
  end_session,       // name, number -> anything, if that session of the server kept the row locked, and is told to end.
                     // As find_pinning
  inspect,           // name -> name, version, owner, thread, acquisition, age, left, note, without a lease
  list,              // prefix, end of prefix -> as inspect
  acquire_in_turn,   // as acquire, and the own ticket (0: none), the turn -> as acquire, and the place in the queue:
                     // behind others, has its ticket, has left it, looks free. What stands behind the turn need not be
                     // waited for; what is granted leaves the queue. Needed where it saves something
  enqueue,           // name, owner, thread, attempt, life -> attempt, ticket
  stay,              // name, attempt, ticket, life -> attempt, whether its turn has come and the name looks free (NULL:
                     // not asked); nothing where the ticket is gone
  leave,             // name, attempt, ticket -> attempt, if the ticket is gone; also tells the next of other clients,
                     // where it can and the name looks free
  withdraw,          // name, attempt -> anything; leave, where the number of the ticket is not known
  turn,              // name, turn -> name, behind others, has its ticket, looks free, left, version
  waiters,           // name -> ticket, owner, thread, age
  tell_next,         // name, attempt -> anything; in a transaction that is to let go. Needed where others can be told,
                     // as is:
  ring,              // owner -> anything; tells the owner's client that somebody can
  announce,          // name, number -> name, something if it looks free and the first in its queue was told: of as
                     // many tickets, those that come next by name. Needed as tell_next is
  find_unused,       // name, number, retention -> name, whether nobody has had it for so long: of as many names, those
                     // that come next, all that may go, and the last
  sweep,             // name, retention -> name, if its row is gone, because nobody has had it for so long
  find_dead,         // ticket, number, retention -> ticket, name, attempt, whether its waiter has been dead for so
                     // long: of as many tickets, those that come next, all that may go, and the last
  bury,              // name, attempt, ticket, retention -> attempt, if the ticket is gone, because it was dead so long
  touch,             // name -> as inspect, and whether it is vacant and nobody has it locked. Needed where a
                     // transaction's snapshot may begin with a statement that locks
  pinned_by,  // name, sign -> something, if the transaction that gives this sign keeps the row as it is, and nobody
              // else does. PostgreSQL: the number of its session; MySQL: when the lease ends, as it sees that in
              // the row that it has locked. Needed where rows have locks
  home,       // -> a text that no other database has, and no other place in it
  schema,     // -> version, serves_from, installation, applied_at, clock
  probe,      // -> nothing; fails where locks could not be taken
  settings,   // -> name, value: of what the server, and this session on it, are
  count,      // -> rows of the lock table, those who wait and live, for how long the first of them has waited
  applied,    // -> version, checksum, serves_from, applied_at
  applying,   // version, checksum -> nothing
  count_of_verbs
};

/// What is being done then, for people: "acquiring".
ROWLOCK_EXPORT const char* doing(verb v) noexcept;

/// A verb in one database's SQL. `look` answers what can be answered without a write; `act` is run for the requests
/// that look did not answer. Either may be empty. `many` carries out a whole batch in one statement, by arguments that
/// stand for all requests. What a write cannot answer itself is read afterwards, by `told` and `many_told`.
struct step {
  dialect::verb verb{};
  std::size_t key = 0;  ///< the argument by which an answer names its request
  std::string look{};
  std::string act{};
  std::string told{};
  std::string many{};
  std::string many_told{};
  /// The number of rows changed tells, and many_told the requests that it leaves open.
  bool counts = false;
  bool always_changes = false;       ///< no row was changed: nothing was carried out
  bool locks_where_refused = false;  ///< for as long as it takes: after a refusal it is better to look first
  /// To make a row, it waits for whoever has made it meanwhile and changed it in a transaction; not for long, and then
  /// it fails.
  bool waits_to_make = false;
  /// The answer is what a transaction that is still open has changed in the rows of `look`. Their last column, left out
  /// of the answer, changes with each transaction that says in `thread` which one it is.
  bool uncommitted = false;
};

/// All SQL of one database, for one table prefix.
class ROWLOCK_EXPORT table {
 public:
  static constexpr std::size_t size = static_cast<std::size_t>(verb::count_of_verbs);

  /// `steps` in any order; every verb is needed that its comment does not say is not. In their texts "rowlock_" stands
  /// for the prefix.
  table(std::span<const step> steps, std::string_view prefix);

  const step& operator[](verb v) const noexcept { return steps_[static_cast<std::size_t>(v)]; }

 private:
  std::array<step, size> steps_{};
};

/// The text with every `what` replaced.
ROWLOCK_EXPORT std::string replaced(std::string_view text, std::string_view what, std::string_view by);

/// The text with every "rowlock_" replaced.
ROWLOCK_EXPORT std::string with_prefix(std::string_view text, std::string_view prefix);

table sqlite(std::string_view prefix);

/// What a client's options mean for the texts.
struct choices {
  bool transaction_pooling = false;  ///< each statement brings the settings that it needs
  bool durable_release = false;      ///< a release waits until it is on disk
};
table postgresql(std::string_view prefix, const choices& with);
table mysql(std::string_view prefix);

/// What is sent in a transaction of the caller's, on a connection that somebody else has set up: nothing in it depends
/// on settings. Behind each: arguments -> columns, for each database that has it. `home` is what the verb tells the
/// client; "vacant" and "free" are about the row.
struct guest_texts {
  // PostgreSQL: name, home, note, released -> is at home, version if it was taken, vacant in the snapshot, isolation
  // MySQL: name, released -> version, vacant or released, next version, autocommit, end of the lease, vacant; locks the
  // row
  // SQLite: name, home -> version, vacant, expires_at, liveness; takes the write lock, makes the row
  std::string take{};
  std::string await{};   // servers: as take, but waits for whoever has the row locked
  std::string change{};  // MySQL: name, version, note; SQLite: name, version, note, clock -> nothing
  // PostgreSQL: name, acquisition, home -> is at home, unexpired (NULL: not seen), isolation
  // MySQL: name, acquisition -> ours, unexpired, ours in the snapshot, home, autocommit, session; locks the row
  // SQLite: name, acquisition, home -> expires_at; takes the write lock
  std::string pin{};
  std::string isolation{};  // MySQL: -> isolation, session
  std::string prolong{};    // MySQL: name, lease -> nothing
  std::string see{};        // MySQL: name -> version, home, autocommit, end of the lease
  std::string home{};       // PostgreSQL: home -> is at home; MySQL: -> home
  // PostgreSQL: name, home, version -> is at home, version if it was changed
  // MySQL: name, version -> next version, home, autocommit; locks the row
  std::string set{};
};
/// `file` is what the caller's connection calls it.
guest_texts sqlite_guest(std::string_view prefix, std::string_view file);
guest_texts postgresql_guest(std::string_view prefix);
guest_texts mysql_guest(std::string_view prefix);

}  // namespace rowlock::inline v1::dialect
