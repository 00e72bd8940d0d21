#include "core/url.hpp"

#include <rowlock/error.hpp>

#include <algorithm>

#include "base/text.hpp"

namespace rowlock::inline v1::core {

namespace {

bool is_scheme(std::string_view text) noexcept {
  return !text.empty() && text.size() <= 20 &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '+'; });
}

}  // namespace

url cut_url(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos || !is_scheme(text.substr(0, colon)))
    throw error{errc::invalid_url,
                "this is not a database URL; write sqlite:path, postgresql://host/database or mysql://host/database"};
  if (!base::is_plain_text(text))
    throw error{errc::invalid_url, "a database URL must be UTF-8 without NUL; write other bytes as %XX"};
  url out{.scheme = text.substr(0, colon), .body = text.substr(colon + 1), .options = {}};
  if (const auto question = out.body.find('?'); question != std::string_view::npos) {
    out.options = out.body.substr(question + 1);
    out.body = out.body.substr(0, question);
  }
  return out;
}

std::string first_option(const url& address) {
  const auto equals = address.options.find('=');
  if (equals == std::string_view::npos || equals == 0) return {};
  return ", such as " + base::quoted(base::printable(address.options.substr(0, equals)));
}

}  // namespace rowlock::inline v1::core
