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
  require(!text.empty(), "the name is empty; it needs 1 to 255 bytes");
  require(text.size() <= longest_name, "the name has " + std::to_string(text.size()) +
                                           " bytes; at most 255 are allowed: " + text_.substr(0, 40) + "…");
  require(text.find('\0') == std::string_view::npos, "the name has a NUL at byte " + std::to_string(text.find('\0')));
  require(base::is_utf8(text), "the name is not well-formed UTF-8");
}

}  // namespace rowlock::inline v1
