#pragma once

#include <rowlock/export.hpp>

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/passage.hpp"
#include "sql/sheet.hpp"

/// Every statement of a database is in one file of SQL, src/sql/<database>.sql: its sheet, which the library is built
/// with. All lines that begin with -- are comments, but for these:
///
///   -- name: verb(argument, …) -> column, …   a database may leave out the last columns
///   -- doing: …                               the activity, for people: "acquiring"
///   -- does: …                                its effect
///   -- locks, clock, no row, reply lost: …    what it locks, where the clock is read, what a missing row means
///   -- rules: …                               flags of step
///   -- answered by: argument                  step::answered_by
///   -- none: …                                the database lacks the verb, and why
///   -- read: …                                a statement follows, or that of another verb: "as verb"
///   -- batch skipping: as batch               with SKIP LOCKED for {skipping}, and without the lines that begin with
///                                             {waiting}
///
/// The other statements of a verb are `write`, `then` and so on: step. "enlisted." begins the name of a statement that
/// is sent in the caller's transaction: enlisted_texts. In a statement, `:argument` is an argument, and `:requests` all
/// requests of a batch in one. From the sheet cmake/protocol_pages.py writes docs/protocol-<database>.md.
namespace rowlock::inline v1::sheets {

struct entry {
  struct slot {
    std::string_view key;
    std::string_view value;  ///< after the key
    std::string statement{};
  };

  std::string_view name;
  std::vector<std::string_view> arguments{};
  std::vector<std::string_view> columns{};
  std::vector<slot> slots{};

  /// nullptr: there is none.
  ROWLOCK_EXPORT const slot* find(std::string_view key) const noexcept;
};

/// Views of the text. Throws std::logic_error, like all functions here, if a sheet is wrong.
ROWLOCK_EXPORT std::vector<entry> read_sheet(std::string_view text);

/// How the statements of a sheet are sent to a database.
struct spelling {
  char sign = '?';           ///< begins a numbered argument
  bool is_one_line = false;  ///< a statement is sent in one line
  /// Replaces the database's other placeholders.
  std::function<std::string(std::string text, const entry& of)> finish = [](std::string text, const entry& /*of*/) {
    return text;
  };
};

ROWLOCK_EXPORT sheet sheet_of(std::span<const entry> entries, const spelling& how, const sheet::naming& names,
                              const capabilities& declared = {});
/// `place` replaces "rowlock_".
ROWLOCK_EXPORT enlisted_texts enlisted_of(std::span<const entry> entries, const spelling& how, std::string_view place);

/// The items of "a, b".
ROWLOCK_EXPORT std::vector<std::string_view> split(std::string_view list);
ROWLOCK_EXPORT std::size_t place_of(const entry& in, std::string_view argument);

/// The first `what` from there on that is not inside brackets.
std::size_t find_outside(std::string_view text, char what, std::size_t from = 0);
/// The text with each `name(argument)` replaced by as(argument). `name` may begin with what comes before it.
std::string expanded(std::string text, std::string_view name, const std::function<std::string(std::string_view)>& as);
/// The same for insists(x), whether the set with the ticket x insists: `condition`, in which {x} is x.
std::string with_insists(std::string text, std::string_view condition);

/// Its name in the sheets.
ROWLOCK_EXPORT std::string_view name_of(verb v) noexcept;

// --- printing
// ---------------------------------------------------------------------------------------------------------

// A sheet for human readers: its comments, and each statement as it is sent.

/// Everything that is sent for one sheet.
struct sent_texts {
  sheet of_client;
  enlisted_texts of_caller;
};

/// A statement as it is printed; empty: this server is not sent it.
using layout = std::function<std::string(std::string sent, const entry& of, std::string_view key)>;

/// The passages of the sheet with this text, in its order. `head`: comments about the whole sheet.
ROWLOCK_EXPORT std::vector<passage> passages_of(
    std::string_view head, std::string_view text, const sent_texts& sent,
    const layout& how = [](const std::string& statement, const entry& /*of*/, std::string_view /*key*/) {
      return statement;
    });

std::vector<passage> sqlite_passages(std::string_view prefix);
std::vector<passage> postgresql_passages(std::string_view prefix, const choices& with);
/// `server`: MySQL or MariaDB, for which `how` chooses.
std::vector<passage> mysql_passages(std::string_view server, std::string_view prefix, const layout& how);

// For passages_of:

/// "-- key: value". A line of prose may have this form, too, with another key.
entry::slot slot_in(std::string_view comment);
bool begins_statement(std::string_view key) noexcept;
/// A statement of the sheet as it is sent.
const std::string& statement_in(const sheet& sent, const enlisted_texts& of_caller, const entry& of,
                                std::string_view key);

std::string_view sqlite_text() noexcept;
std::string_view postgresql_text() noexcept;
std::string_view mysql_text() noexcept;

}  // namespace rowlock::inline v1::sheets
