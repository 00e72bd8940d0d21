#pragma once

#include <string>
#include <vector>

#include "driver/session.hpp"

namespace sql {
class Connection;
}

namespace rowlock::inline v1::driver {

/// Runs one statement on a connection of the caller's. Rows are text, or NULL. Throws what sql_failure_of() explains.
void execute_text(sql::Connection& on, const std::string& sql, std::vector<row>& to);

}  // namespace rowlock::inline v1::driver
