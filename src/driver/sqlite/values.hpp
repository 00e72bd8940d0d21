#pragma once

#include <sqlite3.h>

#include <string_view>

#include "driver/session.hpp"

namespace rowlock::inline v1::driver {

/// Makes the value that of the n-th parameter, counted from 1; text must live until the statement is reset. Returns
/// SQLite's result code.
int bind_value(sqlite3_stmt* statement, int n, const argument& value);

/// In the memory that the cell has.
void assign(cell& to, std::string_view words);
void assign(cell& to, sqlite3_value* value);

}  // namespace rowlock::inline v1::driver
