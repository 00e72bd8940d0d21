#pragma once

#include <string>
#include <vector>

#include "driver/session.hpp"

struct st_mysql;

namespace rowlock::inline v1::driver {

/// Runs one statement on a connection of the caller's. Rows are text, or NULL. Throws what sql_failure_of() explains.
void execute_text(st_mysql* on, const std::string& sql, std::vector<row>& to);

/// The server's code for how the last call on the connection failed; 0: it did not.
int last_failure(st_mysql* on) noexcept;

}  // namespace rowlock::inline v1::driver
