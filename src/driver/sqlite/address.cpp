#include "driver/sqlite/address.hpp"

#include <rowlock/error.hpp>

#include <string_view>

#include "base/text.hpp"

namespace rowlock::inline v1::driver {

namespace {

[[noreturn]] void refuse(const std::string& sentence) { throw error{errc::invalid_url, sentence}; }

}  // namespace

std::string read_sqlite_url(const core::url& url) {
  std::string_view body = url.body;
  if (!url.options.empty())
    refuse("a sqlite: URL takes no options" + core::first_option(url) +
           "; leave out the '?' and what follows it, or write %3F for a '?' in the path");
  if (body.starts_with("//")) {
    body.remove_prefix(2);
    if (!body.starts_with('/')) refuse("a sqlite: URL has no host; write sqlite:path or sqlite:///absolute/path");
  }
  const auto path = base::percent_decoded(body);
  if (!path || !base::is_plain_text(*path))
    refuse(
        "the path of this sqlite: URL has a % without two hexadecimal digits, or is not UTF-8 without NUL; write a '%' "
        "as "
        "%25");
  if (path->empty()) refuse("this sqlite: URL has no path; write the path of a file, as in sqlite:locks.db");
  return *path;
}

}  // namespace rowlock::inline v1::driver
