#include <rowlock/lock_name.hpp>

#include <rowlock/error.hpp>

#include "base/text.hpp"

namespace rowlock::inline v1 {

namespace {

constexpr std::size_t longest_name = 255;

[[noreturn]] void refuse(const std::string& sentence) { throw error{errc::invalid_name, sentence}; }

}  // namespace

lock_name::lock_name(checked /*tag*/, std::string_view text) : text_{text} {
  if (text.empty()) refuse("the lock's name is empty; it must have 1 to 255 bytes");
  if (text.size() > longest_name)
    refuse("the lock's name has " + std::to_string(text.size()) +
           " bytes, and at most 255 are allowed; it begins with " + base::quoted(base::printable(text.substr(0, 40))));
  if (const auto nul = text.find('\0'); nul != std::string_view::npos)
    refuse("the lock's name must not have a NUL; this one has one at byte " + std::to_string(nul));
  if (!base::is_utf8(text)) refuse("the lock's name must be well-formed UTF-8");
}

}  // namespace rowlock::inline v1
