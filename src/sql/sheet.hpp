#pragma once

#include <rowlock/export.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "sql/names.hpp"
#include "sql/passage.hpp"

namespace rowlock::inline v1::sheets {

/// What is being done then, for people: "acquiring".
ROWLOCK_EXPORT const char* doing(verb v) noexcept;

/// What some of the names mean: `left` of a lease; `age` since it was acquired, or since the waiter came;
/// `without_lease`: held by a transaction or a process; `is_unlocked`: vacant, and no transaction had it locked;
/// `session`: the number of a session of the server; `transaction` changes with each transaction that has changed the
/// row; `sign`: by which pinned_by knows a transaction; `turn`: the ticket up to which others come first; `room`: how
/// many permits of others there may be; `permits`: how many, 0: it is not shared; `patience`: for how long a ticket is
/// not waited for; `life` of a ticket; `retention`: for how long something is kept that nobody uses; `is_over`: it may
/// be deleted, else it only ends the page; `told` is NULL: nobody; `held_name`: what a waiter has; `waiting`: the row
/// says that somebody waits; `holding`: the acquisition that has the name; `held_as`: the version of its row.
///
/// A verb's arguments, in the order in which its texts number them, and the columns of its answer, of which a database
/// may lack the last. Text that names the request is in the first column.
struct signature {
  std::array<field, 9> arguments{};
  std::array<field, 10> columns{};
  bool operator==(const signature&) const = default;
};

/// A verb in one database's SQL. A text that the step does not need is absent, never empty. `read` answers requests
/// that need no write; `write` is run for the requests that `read` did not answer. `batch` carries out a whole batch in
/// one statement, with arguments that stand for all requests. `read_back` and `batch_read_back` read afterwards what a
/// write cannot answer itself.
struct step {
  sheets::verb verb{};
  sheets::signature signature{};
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
  bool notifies_waiters = false;    ///< ring, notify_waiters
  bool marks_waiting = false;       ///< mark_waiting, clear_waiting, first_waiter
  bool finds_blockers = false;      ///< find_pinning
  bool lists_transactions = false;  ///< find_held
  bool shows_locked_rows = false;   ///< touch
  bool reads_uncommitted = false;   ///< find_held answers what is read dirty; elsewhere, what is so
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

/// The number of the newest file, which is the schema that a library with these expects.
constexpr int newest(std::span<const migration> files) noexcept { return files.empty() ? 0 : files.back().version; }

std::span<const migration> sqlite_migrations();
std::span<const migration> postgresql_migrations();
std::span<const migration> mysql_migrations();

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

}  // namespace rowlock::inline v1::sheets
