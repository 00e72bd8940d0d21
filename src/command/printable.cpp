#include "command/printable.hpp"

#include "core/text.hpp"

namespace rowlock::command {

std::string printable(std::string_view text) { return core::printable(text); }

}  // namespace rowlock::command
