#include <rowlock/lock_name.hpp>

#include <rowlock/error.hpp>

#include "base/text.hpp"

namespace rowlock::inline v1 {

namespace {

constexpr std::size_t longest_name = 255;

void require(bool fine, const std::string& sentence) {
  if (!fine) throw error{errc::invalid_name, sentence};
}

}  // namespace

lock_name::lock_name(checked /*tag*/, std::string_view text) : text_{text} {
  require(!text.empty(), "the lock's name is empty; it must have 1 to 255 bytes");
  require(text.size() <= longest_name, "the lock's name has " + std::to_string(text.size()) +
                                           " bytes, and at most 255 are allowed; it begins with \"" +
                                           base::printable(text.substr(0, 40)) + "\"");
  require(text.find('\0') == std::string_view::npos,
          "the lock's name must not have a NUL; this one has one at byte " + std::to_string(text.find('\0')));
  require(base::is_utf8(text), "the lock's name must be well-formed UTF-8");
}

}  // namespace rowlock::inline v1
