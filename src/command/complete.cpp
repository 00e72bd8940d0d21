#include "command/subcommands.hpp"

#include <rowlock/rowlock.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <future>
#include <iostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "command/database.hpp"

namespace rowlock::command {

namespace {

using namespace std::chrono_literals;

constexpr auto patience_of_a_shell = 200ms;

std::vector<std::string> held_names(const options& given) {
  std::vector<std::string> out;
  for (const auto& each : connect(given, [](const event&) {}).list(*given.completes.begun_name))
    out.emplace_back(each.name.view());
  return out;
}

/// Empty if the database takes too long or fails.
std::vector<std::string> names_in_time(const options& given) {
  std::packaged_task<std::vector<std::string>()> task{[given] { return held_names(given); }};
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
