#include <rowlock/rowlock.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <exception>
#include <iostream>

#include "command/database.hpp"
#include "command/exit_status.hpp"
#include "command/options.hpp"
#include "command/signals.hpp"
#include "command/subcommands.hpp"

namespace rowlock::command {

namespace {

/// In the order of `subcommand`.
constexpr int (*actions[])(const options&) = {run,       hold,
                                              run,       migrate,
                                              sweep,     list,
                                              show,      history,
                                              waiters,   release,
                                              top,       check,
                                              metrics,   guard_failovers,
                                              print_sql, print_completion};

// A full disk must not pass for an empty list.
int with_all_written(int status) {
  if (std::cout.flush()) return status;
  say("standard output cannot be written to; is the disk full, or has the reader of a pipe ended?");
  return exit_status::not_written;
}

// Otherwise the next file or connection would get this number: hold would wait for the end of its own signals, and
// messages would be written into a connection. The placeholder can be neither read nor written, and the command finds
// the descriptor closed.
void occupy_closed_standard_descriptors() {
  for (const int each : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(each, F_GETFD) < 0) ::open("/", O_PATH | O_CLOEXEC);  // returns the lowest free number
}

int act(int argc, const char* const* argv) try {
  occupy_closed_standard_descriptors();
  survive_file_size_limit();
  const auto given = parse_options(argc, argv);
  advise_about(given);
  if (!given.answer) return with_all_written(actions[static_cast<std::size_t>(given.what)](given));
  std::cout << *given.answer;
  return with_all_written(exit_status::done);
} catch (const failure& e) {
  say(e.what());
  return e.exit_status();
} catch (const error& e) {
  say(e.what());
  return status_of(e);
} catch (const std::exception& e) {
  say(e.what());
  return exit_status::internal;
}

}  // namespace
}  // namespace rowlock::command

int main(int argc, char** argv) { return rowlock::command::act(argc, argv); }
