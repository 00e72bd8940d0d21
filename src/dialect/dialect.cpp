#include "dialect/dialect.hpp"

namespace rowlock::inline v1::dialect {

table::table(std::span<const step> steps, std::string_view prefix) {
  for (const step& s : steps)
    steps_[static_cast<std::size_t>(s.verb)] = {s.verb, s.key, with_prefix(s.look, prefix), with_prefix(s.act, prefix)};
}

std::string with_prefix(std::string_view text, std::string_view prefix) {
  constexpr std::string_view placeholder = "rowlock_";
  std::string out;
  for (;;) {
    const auto at = text.find(placeholder);
    out.append(text.substr(0, at));
    if (at == std::string_view::npos) return out;
    out.append(prefix);
    text.remove_prefix(at + placeholder.size());
  }
}

}  // namespace rowlock::inline v1::dialect
