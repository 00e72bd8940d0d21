#include "command/sqlite_file.hpp"

#include <cstdlib>
#include <string_view>
#include <system_error>

#include "base/text.hpp"

namespace rowlock::command {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view scheme = "sqlite:";

/// As it is written, decoded.
std::optional<std::string> path_in(std::string_view url) {
  if (!url.starts_with(scheme)) return std::nullopt;
  url.remove_prefix(scheme.size());
  if (url.starts_with("///")) url.remove_prefix(2);
  if (url.empty() || url == ":memory:" || url.starts_with("//") || url.find_first_of("?#") != std::string_view::npos)
    return std::nullopt;
  return base::percent_decoded(url);
}

fs::path home() {
  const char* const folder = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe): nobody sets any
  return folder != nullptr ? folder : "";
}

bool is_in_home(const std::string& path) { return path == "~" || path.starts_with("~/"); }

}  // namespace

std::optional<fs::path> sqlite_file(const std::string& url) {
  const auto path = path_in(url);
  if (!path) return std::nullopt;
  if (is_in_home(*path) && !home().empty()) return home() / fs::path{*path}.lexically_relative("~");
  std::error_code failure;
  auto absolute = fs::absolute(*path, failure);
  return failure ? std::nullopt : std::optional{std::move(absolute)};
}

std::string url_of(const fs::path& sqlite_file) {
  std::string url{scheme};
  for (const char c : sqlite_file.string()) {
    if (c == '%')
      url += "%25";
    else if (c == '?')
      url += "%3F";
    else if (c == '#')
      url += "%23";
    else
      url += c;
  }
  return url;
}

std::string warning_about(const std::string& url) {
  const auto path = path_in(url);
  if (!path || fs::path{*path}.is_absolute() || is_in_home(*path) || home().empty()) return {};
  std::error_code failure;
  const auto here = fs::current_path(failure);
  if (failure || fs::equivalent(here, home(), failure)) return {};
  return "warning: the path in " + url + " is relative; here it is " + (here / *path).string() +
         ", but in a crontab it would be " + (home() / *path).string();
}

}  // namespace rowlock::command
