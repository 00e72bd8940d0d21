#pragma once

#include <sqlite3.h>

#include <string>
#include <string_view>

namespace rowlock::inline v1::driver {

// Which installation the main file of a caller's connection has. The address of a connection that was closed serves
// another one, and SQLite reports the end of a connection only to functions that are registered there. So one is, which
// does nothing.

bool is_known_in(sqlite3* connection, std::string_view installation);
void note_installation(sqlite3* connection, std::string_view installation);

}  // namespace rowlock::inline v1::driver
