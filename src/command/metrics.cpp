#include "command/subcommands.hpp"

#include <rowlock/rowlock.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "command/database.hpp"
#include "command/job_runs.hpp"
#include "command/output.hpp"
#include "command/signals.hpp"

namespace rowlock::command {

namespace {

// All keys are always present, so that the object has one shape.
json json_of_all(const std::optional<database_statistics>& found, const std::vector<job_run>& runs) {
  const auto number = [&](std::uint64_t database_statistics::*of) { return found ? json((*found).*of) : json{}; };
  return {{"up", found.has_value()},
          {"names", number(&database_statistics::names)},
          {"held", number(&database_statistics::held)},
          {"held_by_transaction", number(&database_statistics::held_by_transaction)},
          {"waiters", number(&database_statistics::waiters)},
          {"longest_hold_us", found ? microseconds(found->longest_hold) : json{}},
          {"longest_wait_us", found ? microseconds(found->longest_wait) : json{}},
          {"job_runs", found ? json_of(runs) : json{}}};
}

namespace fs = std::filesystem;

[[noreturn]] void cannot_write(const std::string& path, int code) {
  throw failure{"cannot write " + base::quoted(path) + ": " + std::generic_category().message(code),
                exit_status::not_written};
}

/// The file at the end of symbolic links. A device or a pipe must not be replaced by a file.
std::string target_of(const std::string& path) {
  std::error_code code;
  const auto status = fs::status(path, code);
  if (!fs::exists(status)) return path;
  if (fs::is_directory(status)) cannot_write(path, EISDIR);
  if (!fs::is_regular_file(status))
    throw failure{base::quoted(path) + " is no file; leave out --output", exit_status::not_written};
  const auto target = fs::canonical(path, code);
  if (code) cannot_write(path, code.value());
  return target.string();
}

/// Replaces the file in one step: a reader sees the old text or the new one. The file's mode is 0644 less the umask.
void replace_file(const std::string& path, std::string_view text) {
  const auto target = target_of(path);
  std::string draft;
  descriptor file;
  for (int i = 0; !file; ++i) {
    draft = fmt::format("{}.{}.{}", target, ::getpid(), i);
    file = descriptor{::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644)};
    if (!file && errno != EEXIST) cannot_write(target, errno);
  }
  if (write_all(file.number(), text) && ::rename(draft.c_str(), target.c_str()) == 0) return;
  const int code = errno;
  ::unlink(draft.c_str());
  cannot_write(target, code);
}

void write(const options& given, const std::optional<database_statistics>& found,
           const std::vector<job_run>& runs = {}) {
  std::ostringstream text;
  if (given.as_json)
    text << text_of(json_of_all(found, runs));
  else
    write_openmetrics(text, found, runs);
  if (given.output.empty())
    std::cout << text.str();
  else
    replace_file(given.output, text.str());
}

/// Each job's last runs, and its last success, however many failures came after it.
std::vector<job_run> runs_of_jobs(client& locks) {
  const auto is_success = [](const job_run& each) { return each.result == job_result::succeeded; };
  const auto is_of_earlier_job = [](const job_run& a, const job_run& b) { return a.job < b.job; };
  auto out = list_job_runs(locks, 100);
  for (auto& last : list_job_runs(locks, 1, runs_of::each_result)) {
    const auto [begin, end] = std::equal_range(out.begin(), out.end(), last, is_of_earlier_job);
    if (is_success(last) && begin != end && std::none_of(begin, end, is_success)) out.insert(end, std::move(last));
  }
  return out;
}

}  // namespace

int metrics(const options& given) try {
  auto locks = connect(given, [](const event&) {});
  write(given, locks.database_stats(), runs_of_jobs(locks));
  return exit_status::done;
} catch (const error& e) {
  if (status_of(e) == exit_status::usage) throw;
  write(given, std::nullopt);  // without it a dashboard would go on showing the last values
  throw;
}

}  // namespace rowlock::command
