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
    refuse("a sqlite: URL takes no options" + core::first_option(url) + "; a '?' in the path is written %3F");
  if (body.starts_with("//")) {
    body.remove_prefix(2);
    if (!body.starts_with('/')) refuse("a sqlite: URL names no host; write sqlite:path or sqlite:///absolute/path");
  }
  const auto path = base::percent_decoded(body);
  if (!path || !base::is_plain_text(*path))
    refuse("a sqlite: URL's path has a broken %XX, or is not UTF-8 without NUL");
  if (path->empty()) refuse("a sqlite: URL names a file, as in sqlite:locks.db");
  return *path;
}

}  // namespace rowlock::inline v1::driver
