#pragma once

#include <rowlock/export.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "dialect/migration.hpp"

namespace rowlock::inline v1::dialect {

/// What can be asked of a database. For each verb docs/protocol-*.md say what it sends, locks and guarantees.
/// After each verb: its arguments (?1, ?2, …) -> the columns of a row. A database may lack a verb only where this says
/// who needs it.
enum class verb : std::uint8_t {
  acquire,           // name, owner, thread, acquisition, lease, note -> acquisition, version (NULL: busy), left,
                     // permits (busy: something else than 0 if the name is shared)
  compare_and_set,   // as acquire, and the version that was seen -> as acquire, granted or nothing
  hold,              // name -> name, version, or nothing; in a transaction. For databases with row locks, as are the
                     // next two:
  find_held,         // name -> as inspect, where an open transaction has changed the row
  list_held,         // prefix, end of prefix -> as inspect, of such rows
  beat,              // -> anything
  hold_while_alive,  // as acquire, and the client's liveness -> as acquire. For databases without row locks, as are the
                     // next two:
  names_liveness,    // liveness -> something if a row names it
  vacate_dead,       // liveness -> something if there were rows that named it
  make,              // name -> nothing; makes a vacant row if there is none
  vacate_expired,    // name -> nothing; vacates the row if its lease has ended and nobody has it locked. For databases
                     // with row locks
  renew,             // name, acquisition, lease -> acquisition, left
  extend,            // as renew
  reserve,           // name, acquisition, lease, number -> acquisition, left, version, whether a live ticket of another
                     // owner waits for the name; renews, and raises the version by that number at least
  release,        // name, acquisition -> acquisition, who was told (NULL: nobody), whether the row says that somebody
                  // waits; also grants the name to the first who waits in turn, where the database can
  release_alone,  // as release, but only where nobody waits, as far as the row tells, or else the queue
  first_in_turn,  // name -> owner, ticket, attempt, lease (NULL: none) of the first ticket that nothing was granted to.
                  // For databases whose release grants to nobody, as is the next one:
  grant,          // name, acquisition, ticket, attempt -> acquisition, if its lease went over to that ticket, to which
                  // nothing is granted a second time
  defer_release,  // name, acquisition, time since the grant -> acquisition; the lease ends then, or has ended
  free,           // name, version -> name; vacates the row with that version if it has an owner, whoever the owner
                  // is. Also used after a crash, so it does not say who releases
  find_pinning,   // name -> as inspect, of the transactions that keep the row locked, whether or not the name looks
                  // free; those that only lock it first. Where the server can tell
  end_session,    // name, number -> anything if that session of the server kept the row locked and was told to end.
                  // As find_pinning
  inspect,        // name -> name, version, owner, thread, acquisition, age, left, note, without a lease
  list,           // prefix, end of prefix -> as inspect
  share,  // name, owner, thread, acquisition, lease, note, permits, room, version -> acquisition, version, left, if
          // the name is free, or shared and not more permits than that are given out. Version 0: and nobody
          // waits; else: and the row has that version, unless it is shared. The row must be there. A batch is of one
          // name, and as a whole
  renew_share,    // name, acquisition, lease -> acquisition, left
  extend_share,   // as renew_share
  release_share,  // name, acquisition -> as release
  upgrade_share,  // name, acquisition, owner, thread, note -> acquisition, version, left, if nobody else shares it: it
                  // has the name alone from then on
  downgrade,    // name, acquisition, owner, thread, note, attempt, permits -> as upgrade_share: it shares the name from
                // then on, which is shared since that attempt
  reap_shares,  // name -> name, if permits are free now, of one or all holders whose lease has ended; their rows go
  purge_shares,      // name -> anything; rows that have ended and do not count any more go
  find_dead_shares,  // name, number, retention -> name, of the next names with rows that have been dead for so long
  sharers,           // name -> as inspect, and the permits, of each holder that shares it
  acquire_any,  // as acquire, of the first name of a batch that is free -> name, version, left, or nothing. The rows
                // must be there
  acquire_all,  // as acquire, and the version that was seen (0: any) -> acquisition, version, left; all of a batch, or
                // nothing. The rows must be there
  acquire_in_turn,  // as acquire, and the own ticket (0: none), the turn -> as acquire, and the place in the queue:
                    // comes after others, has its ticket, has left it, looks free. Tickets after the turn are not
                    // waited for; a granted ticket leaves the queue. Where it saves a statement
  enqueue,         // name, owner, thread, attempt, life, note, the lease that a release may grant it (NULL: none), room
                   // -> attempt, ticket
  refresh_ticket,  // name, attempt, ticket, life -> attempt, whether its turn has come and the name looks free (NULL:
                   // not asked), whether the row says that somebody waits (where that is asked, too); nothing if the
                   // ticket is gone
  leave,           // name, attempt, ticket -> attempt if the ticket is gone; also notifies the next waiter of another
                   // client, where the database can and the name looks free
  withdraw,        // name, attempt -> anything; as leave, if the ticket's number is not known
  mark_waiting,    // name -> name, if its row says now that somebody waits; made if there is none. Where releases look
                   // for tickets only then, as is the next one:
  clear_waiting,   // name -> name, if its row does not say so any more, since nobody has a ticket
  first_waiter,    // name, attempt -> owner of the first ticket of another client, if the name looks free. The
                   // attempt begins with the own client's id; also notifies the owner, where the database can, or
                   // else answers whether tickets of the own client come before
  turn,            // name, turn, room, patience -> name, comes after others that have waited for so long, has its
                   // ticket, looks free or has room, left, version, who holds it, whether the row says that somebody
                   // waits (where it can)
  waiters,         // name -> name, ticket, owner, thread, age, note
  list_waiters,    // prefix, end of prefix -> as waiters
  declare_held,    // ticket, name, acquisition (empty: a transaction's) -> anything; the waiter with that ticket has
                   // that name
  forget_held,     // ticket -> anything
  waiting_holders,  // -> name, ticket, owner, thread of each live waiter that has declared a name, and which; a name
                    // for each row, and only those that it has yet, as far as the tables tell
  purge_held,       // -> anything; what was declared for tickets that are gone
  tell_next,        // name, attempt -> anything; after a transaction that has released. Where the database can notify
                    // waiters, as are the next two:
  ring,             // owner -> anything; an empty notification to the owner's client, which shows that it arrives
  notify_waiters,   // name, number -> name, something if it looks free and the first in its queue was notified; of
                    // that number of tickets, the next ones in the order of names
  find_unused,      // name, number, retention -> name, whether nobody has had it for so long, version; of that number
                    // of names, the next ones: all that may be deleted, and the last one
  raise_floor,      // version -> anything; a row that is made from then on begins above that version
  sweep,            // name, retention -> name if its row was deleted because nobody has had it for so long; no row
                    // whose version is above the floor
  find_dead,        // ticket, number, retention -> ticket, name, attempt, whether its waiter has been dead for so
                    // long; of that number of tickets, the next ones: all that may be deleted, and the last one
  purge_tickets,    // name, attempt, ticket, retention -> attempt if the ticket was deleted because it was dead so long
  touch,            // name -> as inspect, and whether it is vacant and nobody has it locked. Where a transaction's
                    // snapshot may begin with a statement that locks
  pinned_by,        // name, sign -> something if the transaction that gives this sign, and no other, keeps the row as
                    // it is. PostgreSQL: the number of its session; MySQL: when the lease ends, as that transaction
                    // sees it in the row that it has locked. For databases with row locks
  installation,     // -> a text that identifies the database and the place of the tables in it
  schema,           // -> version, serves_from, installation, applied_at, clock
  probe,            // -> a table of which rows may be hidden from this role; fails if locks could not be taken
  settings,         // -> name, value: of the server's settings and of this session's
  connection,       // -> name, value: as settings, what they leave out about this session. MySQL
  count,            // -> rows of the lock table, waiters that are alive, for how long the first of them has waited
  applied,          // -> version, checksum, serves_from, applied_at
  applying,         // version, checksum -> nothing
  count_of_verbs
};

/// What is being done then, for people: "acquiring".
ROWLOCK_EXPORT const char* doing(verb v) noexcept;

/// A verb in one database's SQL. A text that the step does not need is absent, never empty. `look` answers requests
/// that need no write; `act` is run for the requests that `look` did not answer. `many` carries out a whole batch in
/// one statement, with arguments that stand for all requests. `told` and `many_told` read afterwards what a write
/// cannot answer itself.
struct step {
  dialect::verb verb{};
  std::size_t key = 0;  ///< the argument by which an answer names its request
  std::optional<std::string> look{};
  std::optional<std::string> act{};
  /// In the same transaction, if act changed something: SQLite; on MySQL the text itself asks whether it did. There act
  /// may be several statements with ";\n" between them, and told answers what became of them.
  std::optional<std::string> also{};
  std::optional<std::string> told{};
  std::optional<std::string> many{};
  std::optional<std::string> many_also{};  ///< as `also`, if many changed something
  /// As `many`, without the rows that others have locked: after it failed because of them, or, where many_waits, for
  /// every batch about more than one row.
  std::optional<std::string> many_skipping{};
  std::optional<std::string> many_told{};
  /// Where act (many) has failed because there is no row: as it, and makes the row, at the cost of a look at the floor.
  /// MariaDB
  std::optional<std::string> making{};
  std::optional<std::string> many_making{};
  /// The number of changed rows tells how many requests were carried out; many_told answers which ones are still open.
  bool counts = false;
  /// The argument that answers each request besides its key if as many rows were changed as requests were sent; else
  /// told is asked. MySQL
  std::optional<std::size_t> answered_by{};
  bool look_explains = false;        ///< act decides alone; look saves it where it would be refused, and says by whom
  bool takes_one = false;            ///< of a batch, the first request that can be carried out, and no other
  bool takes_all = false;            ///< all of a batch, or none
  bool many_waits = false;           ///< `many` waits for a row that others have locked, and so is for one row only
  bool always_changes = false;       ///< if no row was changed, nothing was carried out
  bool locks_where_refused = false;  ///< locks rows until it ends even if it is refused: look first after a refusal
  /// To make a row, it waits for a transaction that has made the same row meanwhile and changed it. The wait is short;
  /// then the statement fails.
  bool waits_to_make = false;
};

/// What not every database can do. True: the table has the verbs.
struct capabilities {
  bool acquires_in_turn = false;    ///< acquire_in_turn: acquires and looks at the queue in one statement
  bool grants_to_a_ticket = false;  ///< first_in_turn, grant
  bool notifies_waiters = false;    ///< tell_next, ring, notify_waiters
  bool marks_waiting = false;       ///< mark_waiting, clear_waiting, first_waiter
  bool finds_blockers = false;      ///< find_pinning
  bool lists_transactions = false;  ///< find_held, list_held
  bool shows_locked_rows = false;   ///< touch
  bool reads_uncommitted = false;   ///< find_held and list_held answer what is read dirty; elsewhere, what is so
};

/// In a text: where the tables are, with a point behind it, if the database has several places for tables. A session
/// fills it in once for each text.
inline constexpr std::string_view place_mark = "{place}";

/// All SQL of one database, for one table prefix.
class ROWLOCK_EXPORT table {
 public:
  static constexpr std::size_t size = static_cast<std::size_t>(verb::count_of_verbs);

  /// How the names of a table begin: `place` stands before each table's.
  struct naming {
    std::string_view prefix;
    std::string_view place = place_mark;
  };

  /// `declared`: what the verbs that are there do not tell. `steps` in any order; a database may lack only those verbs
  /// whose comment says so. In the texts "rowlock_" stands for the prefix.
  table(std::span<const step> steps, const naming& names, const capabilities& declared = {});

  const step& operator[](verb v) const noexcept { return steps_[static_cast<std::size_t>(v)]; }
  const capabilities& can() const noexcept { return can_; }

 private:
  std::array<step, size> steps_{};
  capabilities can_{};
};

/// The text with every `what` replaced.
ROWLOCK_EXPORT std::string replaced(std::string_view text, std::string_view what, std::string_view by);

/// The text with every "rowlock_" replaced.
ROWLOCK_EXPORT std::string with_prefix(std::string_view text, std::string_view prefix);

/// Where `sign` begins a parameter at `from` or later: not in a name in quotes. npos: nowhere.
ROWLOCK_EXPORT std::size_t find_parameter(std::string_view text, char sign, char quote, std::size_t from = 0) noexcept;

table sqlite(std::string_view prefix);

/// What a client's options mean for the texts.
struct choices {
  bool transaction_pooling = false;  ///< each statement brings the settings that it needs
  bool durable_release = false;      ///< a release waits until it is on disk
};
table postgresql(std::string_view prefix, const choices& with);
/// The same without what it notifies besides its work, and without a grant that its waiter would not hear of; nullopt:
/// it notifies nobody, or does nothing else.
ROWLOCK_EXPORT std::optional<step> postgresql_without_notices(const step& of);
table mysql(std::string_view prefix);

/// What is sent inside the caller's transaction, on a connection that the caller has set up: nothing in it depends on
/// settings. After each text: arguments -> columns, for each database that has it. `installation` is what the verb of
/// that name tells the client; "vacant" and "free" are about the row.
struct enlisted_texts {
  // PostgreSQL: name, installation, note -> version if it was taken
  // SQLite: name, next version, note, clock, a version -> nothing; takes the row if its version is less than that
  std::string take_vacant{};
  // PostgreSQL: name, installation, note, released -> is in the installation, version if it was taken, vacant in the
  // snapshot, isolation
  // MySQL: name, released -> version, vacant or released, next version, autocommit, end of the lease, vacant, the same
  // in the snapshot, installation; locks the row
  // SQLite: name -> version, vacant, expires_at, liveness; makes the row
  std::string take{};
  // Servers: as take, but waits for a transaction that has the row locked
  // SQLite: -> nothing; takes the write lock
  std::string await{};
  std::string change{};  // MySQL: name, version, note; SQLite: name, version, note, clock -> nothing
  // PostgreSQL: name, acquisition, installation -> is in the installation, unexpired (NULL: not seen), isolation
  // MySQL: name, acquisition -> ours, unexpired, ours in the snapshot, installation, autocommit, session; locks the row
  // SQLite: name, acquisition -> ours, expires_at
  std::string pin{};
  std::string isolation{};     // MySQL: -> isolation, session
  std::string prolong{};       // MySQL: name, lease -> nothing
  std::string see{};           // SQLite: name -> version, vacant, expires_at, liveness
  std::string installation{};  // PostgreSQL: installation -> is in the installation; MySQL, SQLite: -> installation
  // PostgreSQL: name, installation, version -> is in the installation, version if it was changed
  // MySQL: name, version -> next version, installation, autocommit; locks the row
  std::string set{};
};
/// Tables are named in full, since the caller's connection may find others by the same names. `file` is the name of the
/// client's file on that connection.
ROWLOCK_EXPORT enlisted_texts sqlite_enlisted(std::string_view prefix, std::string_view file);
/// `place` is what stands in for place_mark.
ROWLOCK_EXPORT enlisted_texts postgresql_enlisted(std::string_view prefix, std::string_view place);
ROWLOCK_EXPORT enlisted_texts mysql_enlisted(std::string_view prefix, std::string_view place);

}  // namespace rowlock::inline v1::dialect
