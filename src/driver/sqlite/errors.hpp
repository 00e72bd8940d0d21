#pragma once

#include <sqlite3.h>

#include <string>

namespace rowlock::inline v1::driver {

/// Throws what `code` means; `doing` begins its sentence, see failure_of. `file` is for a connection that could not be
/// opened, and so does not know its file.
[[noreturn]] void raise_sqlite(sqlite3* db, int code, const std::string& doing, bool writing, std::string file = {});

}  // namespace rowlock::inline v1::driver
