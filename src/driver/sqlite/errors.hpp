#pragma once

#include <sqlite3.h>

#include <string>

namespace rowlock::inline v1::driver {

/// Throws what `code` means; `doing` completes the sentence "while …".
[[noreturn]] void raise_sqlite(sqlite3* db, int code, const std::string& doing, bool writing);

}  // namespace rowlock::inline v1::driver
