#pragma once

#include <sqlite3.h>

#include <string>

namespace rowlock::inline v1::driver {

/// Throws what `code` means; `doing` begins its sentence, see failure_of. `file` is for a connection that could not be
/// opened, and so does not know its file.
[[noreturn]] void raise_sqlite(sqlite3* db, int code, const std::string& doing, bool writing, std::string file = {});

/// Whether the file that the connection has open is not the one of that name any more.
bool has_moved(sqlite3* db, const std::string& schema) noexcept;
/// The file is not the one that was opened.
[[noreturn]] void throw_replaced(const std::string& file);

}  // namespace rowlock::inline v1::driver
