#include "command/subcommands.hpp"

#include <rowlock/rowlock.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <future>
#include <iostream>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "base/text.hpp"
#include "command/database.hpp"

namespace rowlock::command {

namespace {

using namespace std::chrono_literals;

constexpr auto patience_of_a_shell = 200ms;

std::set<std::string> names_in_the_database(const options& given) {
  std::set<std::string> out;
  const auto& begun = *given.completes.begun_name;
  auto locks = connect(given, [](const event&) {});
  if (given.completes.offers_locks)
    for (const auto& each : locks.list(begun)) out.emplace(each.name.view());
  if (given.completes.offers_jobs)
    for (const auto& each : list_job_runs(locks, 1))
      if (each.job.view().starts_with(begun)) out.emplace(each.job.view());
  return out;
}

/// Empty if the database takes too long or fails.
std::set<std::string> names_in_time(const options& given) {
  std::packaged_task<std::set<std::string>()> task{[given] { return names_in_the_database(given); }};
  auto names = task.get_future();
  std::thread{std::move(task)}.detach();
  try {
    if (names.wait_for(patience_of_a_shell) == std::future_status::ready) return names.get();
  } catch (const std::exception&) {  // completion then offers no names
  }
  return {};
}

/// A message would disturb the shell's prompt.
void silence_standard_error() {
  if (const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC); nothing >= 0) ::dup2(nothing, STDERR_FILENO);
}

}  // namespace

// Ends by _exit(), because a thread may still be waiting for the database.
int print_completion(const options& given) {
  silence_standard_error();
  const auto& next = given.completes;
  std::cout << next.manner << '\n';
  for (const auto& [word, description] : next.candidates) std::cout << word << '\t' << description << '\n';
  if (next.begun_name)
    for (const auto& name : names_in_time(given))
      if (name == base::printable(name)) std::cout << next.before_names << name << '\n';
  std::cout.flush();
  ::_exit(exit_status::done);
}

}  // namespace rowlock::command
