#pragma once

#include <string>
#include <string_view>

namespace rowlock::command {

/// As the library writes it for people (core/text.hpp): names and notes are anybody's, and a terminal obeys them.
std::string printable(std::string_view text);

}  // namespace rowlock::command
