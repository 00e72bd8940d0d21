#include "command/printable.hpp"

#include "base/text.hpp"

namespace rowlock::command {

std::string printable(std::string_view text) { return base::printable(text); }

}  // namespace rowlock::command
