#include "command/database.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include "base/text.hpp"
#include "command/words.hpp"

namespace rowlock::command {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): never set
  return value != nullptr ? value : "";
}

namespace {

namespace fs = std::filesystem;

// --- SQLite files ----------------------------------------------------------------------------------------------------

constexpr std::string_view scheme = "sqlite:";

/// The path in a sqlite: URL, decoded. nullopt for other databases, for one in memory, and for URLs that the library
/// refuses.
std::optional<std::string> path_in(std::string_view url) {
  if (!url.starts_with(scheme)) return std::nullopt;
  url.remove_prefix(scheme.size());
  if (url.starts_with("///")) url.remove_prefix(std::min(url.find_first_not_of('/'), url.size()) - 1);
  if (url.empty() || url == ":memory:" || url.starts_with("//") || url.find_first_of("?#") != std::string_view::npos)
    return std::nullopt;
  return base::percent_decoded(url);
}

fs::path home() { return variable("HOME"); }

bool is_in_home(const std::string& path) { return path == "~" || path.starts_with("~/"); }

/// The file of such a URL, as an absolute path: `~/` is the home folder, and a relative path begins in the current
/// folder.
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
    if (c == '%' || c == '?' || c == '#')
      url += fmt::format("%{:02X}", static_cast<int>(c));
    else
      url += c;
  }
  return url;
}

/// Warns of a relative path, which cron would look up in the home folder; empty if both are the same file.
std::string warning_about(const std::string& url) {
  const auto path = path_in(url);
  if (!path || fs::path{*path}.is_absolute() || is_in_home(*path) || home().empty()) return {};
  std::error_code failure;
  const auto here = fs::current_path(failure);
  if (failure || fs::equivalent(here, home(), failure)) return {};
  return "warning: the path in " + url + " is relative; here it is " + (here / *path).string() +
         ", but in a crontab it would be " + (home() / *path).string();
}

// --- the database ----------------------------------------------------------------------------------------------------

/// The command that creates the tables in use.
std::string& migrate_command() {
  static std::string command = "rowlock migrate";
  return command;
}

bool has_password(const std::string& url) {
  const auto begin = url.find("://");
  const auto at = url.find('@');
  return begin != std::string::npos && at != std::string::npos && url.find(':', begin + 3) < at;
}

/// A pipe, such as <(pass show database), is read once.
std::string first_line_of(const std::string& path) {
  static std::string of_pipe;
  if (!of_pipe.empty()) return of_pipe;
  std::ifstream file{path};
  std::string line;
  const auto named = "the file " + base::quoted(path) + ", which ROWLOCK_DATABASE_FILE names, ";
  if (!file) throw usage_error{named + "cannot be read: " + std::strerror(errno)};  // NOLINT
  std::error_code failure;
  if (fs::is_directory(path, failure)) throw usage_error{named + "is a folder"};
  std::getline(file, line);
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
  if (line.empty()) throw usage_error{named + "has no URL in its first line"};
  if (!fs::is_regular_file(path, failure)) of_pipe = line;
  return line;
}

std::string address(const options& given) {
  auto url = database_url(given);
  const auto file = sqlite_file(url);
  if (!file) return url;
  if (const auto sentence = warning_about(url); !sentence.empty()) say(sentence);
  // A command that only reads must not create an empty database at a mistyped path.
  const bool migrates = given.what == subcommand::migrate;
  const bool may_create = migrates && !given.is_dry_run && !given.wants_status;
  std::error_code failure;
  if (may_create || fs::exists(*file, failure) || failure || !fs::is_directory(file->parent_path()))
    return url_of(*file);
  if (migrates) return "sqlite::memory:";  // all tables are missing there, too
  throw error{errc::schema_missing, "there is no SQLite file " + file->string() +
                                        "; correct the path, or create the file and its tables: run " +
                                        migrate_command()};
}

}  // namespace

std::string database_url(const options& given) {
  if (!given.database.empty()) return given.database;
  if (auto url = variable("ROWLOCK_DATABASE"); !url.empty()) return url;
  if (const auto path = variable("ROWLOCK_DATABASE_FILE"); !path.empty()) return first_line_of(path);
  throw usage_error{"no database is given; use --database URL, ROWLOCK_DATABASE or ROWLOCK_DATABASE_FILE"};
}

std::optional<std::string> advice_about_file(const options& given) {
  const auto path = variable("ROWLOCK_DATABASE_FILE");
  if (path.empty() || !given.database.empty() || !variable("ROWLOCK_DATABASE").empty()) return std::nullopt;
  std::error_code failure;
  const auto mode = fs::status(path, failure).permissions();
  if (failure || (mode & fs::perms::others_read) == fs::perms::none || !has_password(first_line_of(path)))
    return std::nullopt;
  return "every user of this host may read " + path + ", which has a password; run chmod o-rwx " + path;
}

void advise_about(const options& given) {
  if (given.table_prefix != client_options{}.table_prefix)
    migrate_command() = "rowlock --table-prefix " + given.table_prefix + " migrate";
}

// The subcommands themselves report losses and failures.
void say_warning(const event& e) {
  if (const auto* warning = std::get_if<events::warning>(&e.what)) say("warning: " + warning->sentence);
  if (const auto* begun = std::get_if<events::quarantine>(&e.what))
    say("nothing is granted for " + format_duration(begun->left) +
        ": a failover or a crash may have lost the last commits, or longer leases are out; see rowlock guard");
  if (const auto* failed = std::get_if<events::sweep_failed>(&e.what))
    say(std::string{"a sweep failed: "} + failed->cause.what());
}

client connect(const options& given, std::function<void(const event&)> observer) {
  return client::connect(address(given), {.table_prefix = given.table_prefix, .observer = std::move(observer)});
}

std::string in_words_of_the_shell(std::string sentence) {
  constexpr std::string_view in_cpp = "client::migrate()";
  for (auto at = sentence.find(in_cpp); at != std::string::npos; at = sentence.find(in_cpp, at))
    sentence.replace(at, in_cpp.size(), migrate_command());
  return sentence;
}

void say(const std::string& sentence) {
  const auto line = "rowlock: " + base::printable(in_words_of_the_shell(sentence)) + '\n';
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace rowlock::command
