#pragma once

#include <rowlock/export.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sql/names.hpp"
#include "sql/passage.hpp"

namespace rowlock::inline v1::sheets {

/// The activity, for people: "acquiring".
ROWLOCK_EXPORT const char* doing(verb v) noexcept;

/// The names of a verb's arguments, and of the columns of its answer; field::none comes after the last.
using argument_names = std::array<field, 9>;
using column_names = std::array<field, 13>;

/// The meaning of some names: `left`: of a lease; `age`: since it was acquired, or since the waiter came;
/// `without_lease`: held by a transaction or a process; `is_unlocked`: vacant, and no transaction had it locked;
/// `session`: the number of a session of the server; `transaction`: changes with each transaction that has changed the
/// row; `sign`: the sign by which pinned_by recognizes a transaction; `turn`: the ticket before which others come
/// first; `room`: how many permits other holders may have; `permits`: how many, 0: it is not shared; `patience`:
/// younger tickets are passed; `life`: of a ticket; `retention`: for how long an unused row is kept; `is_over`: it may
/// be deleted, otherwise it only ends the page; `notified`: the client that was notified, NULL: none; `held_name`: a
/// name that a waiter holds; `waiting`: the row says that a client waits; `holding`: the acquisition that holds the
/// name; `held_as`: the version of its row.
///
/// A verb's arguments, in the order in which its texts number them, and the columns of its answer, of which a database
/// may lack the last. A text that names the request is in the first column.
struct signature {
  argument_names arguments{};
  column_names columns{};
  bool operator==(const signature&) const = default;
};

/// A verb in one database's SQL. A text that the step does not need is absent, never empty. `read` answers requests
/// that need no write; `write` is run for the requests that `read` did not answer. `batch` carries out a whole batch in
/// one statement, with arguments that contain all requests. `read_back` and `batch_read_back` afterwards read the
/// answers that a write cannot give itself.
struct step {
  sheets::verb verb{};
  sheets::signature signature{};
  std::size_t key = 0;  ///< the argument by which an answer names its request
  std::optional<std::string> read{};
  std::optional<std::string> write{};
  /// In the same transaction, if write changed something: SQLite does this by itself, on MySQL the text tests it. There
  /// write may be several statements with ";\n" between them, and read_back answers their outcome.
  std::optional<std::string> then{};
  std::optional<std::string> read_back{};
  std::optional<std::string> batch{};
  std::optional<std::string> batch_then{};  ///< as `then`, if batch changed something
  /// As `batch`, without the rows that others have locked: after it failed because of them, or, if batch_waits, for
  /// every batch about more than one row.
  std::optional<std::string> batch_skipping{};
  std::optional<std::string> batch_skipping_then{};  ///< if it differs from batch_then
  std::optional<std::string> batch_read_back{};
  /// After write (batch) has failed because there is no row: the same, and makes the row, at the cost of a look at the
  /// floor. MariaDB
  std::optional<std::string> making{};
  std::optional<std::string> batch_making{};
  /// The number of changed rows is that of the requests that were carried out; batch_read_back answers which ones are
  /// still open.
  bool counts = false;
  /// The argument that answers each request besides its key if as many rows were changed as requests were sent;
  /// otherwise read_back is asked. MySQL
  std::optional<std::size_t> answered_by{};
  bool read_explains = false;   ///< write decides alone; read saves a write that would be refused, and says who holds
                                ///< the name
  bool takes_one = false;       ///< of a batch, the first request that can be carried out, and no other
  bool takes_all = false;       ///< all of a batch, or none
  bool batch_waits = false;     ///< `batch` waits for a row that others have locked, and so is for one row only
  bool always_changes = false;  ///< if no row was changed, nothing was carried out
  bool locks_where_refused = false;  ///< locks rows until it ends even if it is refused: look first after a refusal
  /// To make a row, it waits for a transaction that has made the same row meanwhile and changed it. The wait is short;
  /// then the statement fails.
  bool waits_to_make = false;
};

/// Calls `change(text)` for each text that the step has.
template <class Change>
void change_texts(step& of, Change change) {
  for (std::optional<std::string>* text :
       {&of.read, &of.write, &of.then, &of.read_back, &of.batch, &of.batch_then, &of.batch_skipping,
        &of.batch_skipping_then, &of.batch_read_back, &of.making, &of.batch_making})
    if (*text) change(**text);
}

/// Abilities that some databases lack. True: the sheet has the verbs.
struct capabilities {
  bool acquires_in_turn = false;    ///< acquire_in_turn: acquires and looks at the queue in one statement
  bool grants_to_a_ticket = false;  ///< first_in_turn, grant
  bool notifies_waiters = false;    ///< ring, notify_waiters
  bool marks_waiting = false;       ///< mark_waiting, clear_waiting, first_waiter
  bool finds_blockers = false;      ///< find_pinning
  bool lists_transactions = false;  ///< find_held
  bool guards_failovers = false;    ///< see_guard, set_guard: the database may lose commits in a failover
  bool notices_crashes = false;     ///< see_witness, await_relaxed
  bool shows_locked_rows = false;   ///< touch
  bool reads_uncommitted = false;   ///< find_held reads uncommitted data and may be wrong; elsewhere it answers facts
};

/// In a text: the place of the tables, followed by a point, if the database has several places for tables. A session
/// fills it in once for each text.
inline constexpr std::string_view place_mark = "{place}";

/// All SQL of one database, for one table prefix.
class ROWLOCK_EXPORT sheet {
 public:
  static constexpr std::size_t size = static_cast<std::size_t>(verb::count_of_verbs);

  /// How the names of tables begin: `place`, then `prefix`.
  struct naming {
    std::string_view prefix;
    std::string_view place = place_mark;
  };

  /// `declared`: abilities that do not follow from the verbs. `steps` in any order; a database may lack only those
  /// verbs whose comment permits it. In the texts "rowlock_" stands for the prefix.
  sheet(std::span<const step> steps, const naming& names, const capabilities& declared = {});

  const step& operator[](verb v) const noexcept { return steps_[static_cast<std::size_t>(v)]; }
  /// The verb as batch_skipping alone, also for one request: waits for no row.
  const step& skipping(verb v) const { return skipping_.at(v); }
  const capabilities& can() const noexcept { return can_; }

 private:
  std::array<step, size> steps_{};
  std::map<verb, step> skipping_{};
  capabilities can_{};
};

/// The text with every `what` replaced.
ROWLOCK_EXPORT std::string replaced(std::string_view text, std::string_view what, std::string_view by);

/// The text with every "rowlock_" replaced.
ROWLOCK_EXPORT std::string with_prefix(std::string_view text, std::string_view prefix);

/// Where `sign` begins a parameter at `from` or later, outside of names in quotes. npos: there is none.
ROWLOCK_EXPORT std::size_t find_parameter(std::string_view text, char sign, char quote, std::size_t from = 0) noexcept;

/// The text with `literal(n)` in place of each parameter: a sign and a digit. The first parameter is 0.
template <class Literal>
std::string with_literals(std::string_view text, char sign, char quote, Literal literal) {
  std::string out;
  for (;;) {
    const auto at = find_parameter(text, sign, quote);
    out.append(text.substr(0, at));
    if (at == std::string_view::npos) return out;
    out.append(literal(static_cast<std::size_t>(text.at(at + 1) - '1')));
    text.remove_prefix(at + 2);
  }
}

/// One file of schema/<database>/, embedded when the library is built.
struct migration {
  int version = 0;
  std::string_view name;
  std::string_view sha256;
  std::string_view text;
};

/// The number of the newest file, which is the schema that a library with these files expects.
constexpr int newest(std::span<const migration> files) noexcept { return files.empty() ? 0 : files.back().version; }

std::span<const migration> sqlite_migrations();
std::span<const migration> postgresql_migrations();
std::span<const migration> mysql_migrations();

sheet sqlite(std::string_view prefix);

/// The effect of a client's options on the texts.
struct choices {
  bool transaction_pooling = false;  ///< each statement contains the settings that it needs
  bool durable_release = false;      ///< a release waits until it is on disk
  bool is_guarded = false;           ///< the guard is on: what grants tests it
  bool may_relax = false;            ///< the guard was seen relaxed: what commits tests whether it still is
};
sheet postgresql(std::string_view prefix, const choices& with);
/// The same without notifications besides its work, and without a grant that its waiter would not hear of; nullopt: it
/// notifies no client, or does nothing else.
ROWLOCK_EXPORT std::optional<step> postgresql_without_notices(const step& of);
sheet mysql(std::string_view prefix, bool is_guarded);

/// The statements that are sent inside the caller's transaction, on a connection that the caller has set up: none
/// depends on settings. After each text: arguments -> columns, for each database that has it. `installation` is the
/// answer of the verb of that name; "vacant" and "free" are about the row.
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
  std::string isolation{};  // MySQL: -> isolation, session
  std::string prolong{};    // MySQL: name, lease -> nothing
  std::string see{};        // SQLite: name -> version, vacant, expires_at, liveness
  // PostgreSQL: installation -> is in the installation; MySQL: -> installation, autocommit; SQLite: -> installation
  std::string installation{};
  // PostgreSQL: name, installation, version -> is in the installation, version if it was changed
  // MySQL: name, version -> next version, installation, autocommit; locks the row
  std::string set{};
};
/// Tables are named in full, since the caller's connection may find others by the same names. `file` is the name of the
/// client's file on that connection.
ROWLOCK_EXPORT enlisted_texts sqlite_enlisted(std::string_view prefix, std::string_view file);
/// `place` replaces place_mark.
ROWLOCK_EXPORT enlisted_texts postgresql_enlisted(std::string_view prefix, std::string_view place, bool is_guarded);
ROWLOCK_EXPORT enlisted_texts mysql_enlisted(std::string_view prefix, std::string_view place, bool is_guarded);

}  // namespace rowlock::inline v1::sheets
