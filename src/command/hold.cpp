#include "command/subcommands.hpp"

#include <rowlock/rowlock.hpp>

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <iostream>
#include <optional>
#include <stop_token>

#include "command/database.hpp"
#include "command/signals.hpp"
#include "command/waiting.hpp"

namespace rowlock::command {

namespace {

enum class input { open, ended, of_others };

/// Reads and ignores the input. A terminal gives its input to the job in the foreground only.
input read_input() {
  pollfd readable{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  if (::poll(&readable, 1, 0) <= 0) return input::open;
  std::array<char, 4096> ignored{};
  const auto size = ::read(STDIN_FILENO, ignored.data(), ignored.size());
  if (size > 0 || (size < 0 && (errno == EINTR || errno == EAGAIN))) return input::open;
  return size < 0 && errno == EIO && ::isatty(STDIN_FILENO) == 1 ? input::of_others : input::ended;
}

/// false: the lock was lost.
bool hold_until_the_end(const held_set& held, const signals& taken) {
  using namespace std::chrono_literals;
  const bell lost;
  const std::stop_callback on_loss{held.lost(), [&] { lost.ring(); }};
  for (auto seen = input::open; !held.lost().stop_requested(); seen = read_input()) {
    const bool is_ours = seen != input::of_others;
    const pollfd more{.fd = STDIN_FILENO, .events = static_cast<short>(is_ours ? POLLIN : 0), .revents = 0};
    const auto until_next_look = is_ours ? signals::time_limit{} : 1s;
    if (seen == input::ended || taken.wait_for_end(lost, until_next_look, more)) return true;
  }
  return false;
}

int hold_it(held_set& held, const options& given, const signals& taken) {
  if (!(std::cout << held.token(given.name).value() << std::endl)) return exit_status::done;  // main() reports it
  const bool was_held = hold_until_the_end(held, taken);
  if (!was_held) say(loss_in_words(held, given));
  const bool was_released = release_held(held, given, !was_held);
  return was_held && was_released ? exit_status::done : given.run.lost_exit;
}

}  // namespace

// If standard output is closed, no process can read the token, so do not wait for the lock.
int hold(const options& given) {
  if (::write(STDOUT_FILENO, nullptr, 0) < 0)
    throw failure{"standard output, where the token is to be written, is closed", exit_status::not_written};
  // In the background of a terminal a read fails then, and does not stop this process, nor does a message.
  const signals taken{SIGTTIN, SIGTTOU};
  return with_lock(
      given, taken, [&](client&, held_set& held) { return hold_it(held, given, taken); }, STDOUT_FILENO);
}

}  // namespace rowlock::command
