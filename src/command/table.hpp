#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace rowlock::command {

using table_line = std::vector<std::string>;

/// In columns. All lines have as many fields as the first.
void write_table(std::ostream& out, const std::vector<table_line>& lines);

}  // namespace rowlock::command
