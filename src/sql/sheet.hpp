#pragma once

#include <rowlock/export.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sql/migration.hpp"
#include "sql/signature.hpp"

namespace rowlock::inline v1::sql {

/// What can be asked of a database. The sheets of SQL (src/sql) say for each verb what it takes, answers and locks, and
/// why a database lacks it.
enum class verb : std::uint8_t {
  acquire,
  compare_and_set,  // acquire, if the row has the version that was seen: granted, or nothing
  hold,             // in a transaction that stays open. For databases with row locks, as are the next two
  find_held,        // where an open transaction has changed the row
  list_held,
  beat,
  hold_while_alive,  // acquire without a lease, naming the client's liveness. For databases without row locks, as are
                     // the next two
  names_liveness,    // whether a row names it
  vacate_dead,       // of the rows that name it
  make,              // a vacant row, if there is none
  vacate_expired,    // the row, if its lease has ended and no session has it locked. For databases with row locks
  renew,
  extend,
  reserve,        // renews, and raises the version by that number at least
  release,        // also grants the name to the first who waits in turn, where the database can. told is NULL: nobody
  release_alone,  // release, but only where nobody waits, as far as the row tells, or else the queue
  first_in_turn,  // the first ticket that nothing was granted to. For databases whose release grants to nobody, as is
                  // the next one
  grant,          // the lease goes over to that ticket, to which nothing is granted a second time
  defer_release,  // the lease ends at that time since the grant, or has ended
  free,  // the row with that version, whoever the owner is. Also used after a crash, so it does not say who releases
  find_pinning,  // the transactions that keep the row locked, those that only lock it first. Where the server can tell
  end_session,   // if that session of the server keeps the row locked. As find_pinning
  inspect,
  list,
  share,  // if the name is free, or shared and not more permits than room are given out. Version 0: and nobody waits;
          // else: and the row has that version, unless it is shared. The row must be there. A batch is of one name, and
          // as a whole
  renew_share,
  extend_share,
  release_share,
  upgrade_share,     // if nobody else shares it: it has the name alone from then on
  downgrade,         // it shares the name from then on, which is shared since that attempt
  reap_shares,       // those of the name that have ended; answers if permits are free now
  purge_shares,      // those that have ended and do not count any more
  find_dead_shares,  // of the next names
  sharers,
  acquire_any,      // the first name of a batch that is free. The rows must be there
  acquire_all,      // all of a batch, or nothing; by the version that was seen, 0: any. The rows must be there
  acquire_in_turn,  // acquire, and the place in the queue. Tickets after the turn are not waited for; a granted ticket
                    // leaves the queue. Where it saves a statement
  enqueue,          // lease: what a release may grant it, NULL: nothing
  refresh_ticket,   // may_go is NULL: not asked; nothing if the ticket is gone
  leave,            // if the ticket is gone; also notifies the next waiter of another client, where the database can
  withdraw,         // leave, if the ticket's number is not known
  mark_waiting,   // so that its row says that somebody waits. Where releases look for tickets only then, as is the next
                  // one
  clear_waiting,  // since nobody has a ticket
  first_waiter,   // of another client, if the name looks free. The attempt begins with the own client's id; also
                  // notifies the owner, where the database can, or else answers whether tickets of the own client come
                  // before
  turn,           // what a waiter must know of its queue and its name
  waiters,
  list_waiters,
  declare_held,  // the waiter with that ticket has that name. acquisition is empty: a transaction's
  forget_held,
  waiting_holders,  // each live waiter with what it has declared and has yet, as far as the tables tell
  purge_held,       // what was declared for tickets that are gone
  tell_next,        // after a transaction that has released. Where the database can notify waiters, as are the next two
  ring,             // an empty notification to the owner's client, which shows that it arrives
  notify_waiters,   // the first in each queue of a page whose name looks free
  find_unused,      // a page of names: all that may be deleted, and the last one
  raise_floor,      // a row that is made from then on begins above that version
  sweep,            // the row, if nobody has had the name for so long; no row whose version is above the floor
  find_dead,        // a page of tickets: all that may be deleted, and the last one
  purge_tickets,
  touch,      // inspect, and whether the row is vacant and no session has it locked. Where a transaction's snapshot may
              // begin with a statement that locks
  pinned_by,  // whether the transaction that gives this sign, and no other, keeps the row as it is. PostgreSQL: the
              // number of its session; MySQL: when the lease ends, as that transaction sees it in the row that it has
              // locked
  installation,  // identifies the database and the place of the tables in it
  schema,
  probe,       // names a table of which rows may be hidden from this role; fails if locks could not be taken
  settings,    // of the server and of this session
  connection,  // what settings leaves out about this session. MySQL
  count,
  applied,
  applying,  // notes the checksum of a migration
  count_of_verbs
};

/// What is being done then, for people: "acquiring".
ROWLOCK_EXPORT const char* doing(verb v) noexcept;

/// A verb in one database's SQL. A text that the step does not need is absent, never empty. `read` answers requests
/// that need no write; `write` is run for the requests that `read` did not answer. `batch` carries out a whole batch in
/// one statement, with arguments that stand for all requests. `read_back` and `batch_read_back` read afterwards what a
/// write cannot answer itself.
struct step {
  sql::verb verb{};
  sql::signature signature{};
  std::size_t key = 0;  ///< the argument by which an answer names its request
  std::optional<std::string> read{};
  std::optional<std::string> write{};
  /// In the same transaction, if write changed something: SQLite; on MySQL the text itself asks whether it did. There
  /// write may be several statements with ";\n" between them, and read_back answers what became of them.
  std::optional<std::string> then{};
  std::optional<std::string> read_back{};
  std::optional<std::string> batch{};
  std::optional<std::string> batch_then{};  ///< as `then`, if batch changed something
  /// As `batch`, without the rows that others have locked: after it failed because of them, or, where batch_waits, for
  /// every batch about more than one row.
  std::optional<std::string> batch_skipping{};
  std::optional<std::string> batch_read_back{};
  /// Where write (batch) has failed because there is no row: as it, and makes the row, at the cost of a look at the
  /// floor. MariaDB
  std::optional<std::string> making{};
  std::optional<std::string> batch_making{};
  /// The number of changed rows tells how many requests were carried out; batch_read_back answers which ones are still
  /// open.
  bool counts = false;
  /// The argument that answers each request besides its key if as many rows were changed as requests were sent; else
  /// read_back is asked. MySQL
  std::optional<std::size_t> answered_by{};
  bool read_explains = false;        ///< write decides alone; read saves it where it would be refused, and says by whom
  bool takes_one = false;            ///< of a batch, the first request that can be carried out, and no other
  bool takes_all = false;            ///< all of a batch, or none
  bool batch_waits = false;          ///< `batch` waits for a row that others have locked, and so is for one row only
  bool always_changes = false;       ///< if no row was changed, nothing was carried out
  bool locks_where_refused = false;  ///< locks rows until it ends even if it is refused: look first after a refusal
  /// To make a row, it waits for a transaction that has made the same row meanwhile and changed it. The wait is short;
  /// then the statement fails.
  bool waits_to_make = false;
};

/// Calls `change(text)` for each text that the step has.
template <class Change>
void change_texts(step& of, Change change) {
  for (std::optional<std::string>* text : {&of.read, &of.write, &of.then, &of.read_back, &of.batch, &of.batch_then,
                                           &of.batch_skipping, &of.batch_read_back, &of.making, &of.batch_making})
    if (*text) change(**text);
}

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
class ROWLOCK_EXPORT sheet {
 public:
  static constexpr std::size_t size = static_cast<std::size_t>(verb::count_of_verbs);

  /// How the names of a table begin: `place` stands before each table's.
  struct naming {
    std::string_view prefix;
    std::string_view place = place_mark;
  };

  /// `declared`: what the verbs that are there do not tell. `steps` in any order; a database may lack only those verbs
  /// whose comment says so. In the texts "rowlock_" stands for the prefix.
  sheet(std::span<const step> steps, const naming& names, const capabilities& declared = {});

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

sheet sqlite(std::string_view prefix);

/// What a client's options mean for the texts.
struct choices {
  bool transaction_pooling = false;  ///< each statement brings the settings that it needs
  bool durable_release = false;      ///< a release waits until it is on disk
};
sheet postgresql(std::string_view prefix, const choices& with);
/// The same without what it notifies besides its work, and without a grant that its waiter would not hear of; nullopt:
/// it notifies nobody, or does nothing else.
ROWLOCK_EXPORT std::optional<step> postgresql_without_notices(const step& of);
sheet mysql(std::string_view prefix);

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

}  // namespace rowlock::inline v1::sql
