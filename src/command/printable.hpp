#pragma once

#include <string>
#include <string_view>

namespace rowlock::command {

/// With every control character written as \n, \t or \x1b: names and notes are anybody's, and a terminal obeys them.
std::string printable(std::string_view text);

}  // namespace rowlock::command
