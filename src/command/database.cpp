#include "command/database.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>
#include <variant>

#include "command/printable.hpp"

namespace rowlock::command {

namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets any
  return value != nullptr ? value : "";
}

std::string first_line_of(const std::string& path) {
  std::ifstream file{path};
  std::string line;
  if (!file) throw usage_error{"ROWLOCK_DATABASE_FILE: " + path + ": " + std::strerror(errno)};  // NOLINT
  std::getline(file, line);
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
  if (line.empty()) throw usage_error{"ROWLOCK_DATABASE_FILE: the first line of " + path + " is empty"};
  return line;
}

std::string url_for(const options& given) {
  if (!given.database.empty()) return given.database;
  if (auto url = variable("ROWLOCK_DATABASE"); !url.empty()) return url;
  if (const auto path = variable("ROWLOCK_DATABASE_FILE"); !path.empty()) return first_line_of(path);
  throw usage_error{"no database is given; use --database URL, ROWLOCK_DATABASE or ROWLOCK_DATABASE_FILE"};
}

// What is lost is told by who held it, and what fails by who asked for it.
void observe(const event& e) {
  if (const auto* warning = std::get_if<events::warning>(&e.what)) say("warning: " + warning->sentence);
  if (const auto* failed = std::get_if<events::sweep_failed>(&e.what))
    say(std::string{"sweeping failed: "} + failed->cause.what());
}

}  // namespace

client connect(const options& given) { return connect(given, observe); }

client connect(const options& given, std::function<void(const event&)> observer) {
  return client::connect(url_for(given), {.table_prefix = given.table_prefix, .observer = std::move(observer)});
}

void say(const std::string& sentence) {
  const auto line = "rowlock: " + printable(sentence) + '\n';
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace rowlock::command
