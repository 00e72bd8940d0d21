#pragma once

#include <string>
#include <vector>

namespace rowlock::command {

using table_line = std::vector<std::string>;

/// To standard output, in columns. All lines have as many fields as the first.
void print_table(const std::vector<table_line>& lines);

}  // namespace rowlock::command
