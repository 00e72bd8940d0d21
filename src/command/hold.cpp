#include "command/subcommands.hpp"

#include <rowlock/rowlock.hpp>

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <iostream>
#include <optional>
#include <stop_token>
#include <string>

#include "command/database.hpp"
#include "command/file.hpp"
#include "command/signals.hpp"
#include "command/waiting.hpp"

namespace rowlock::command {

namespace {

/// Whatever somebody writes there means nothing.
bool input_has_ended() {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  if (::poll(&input, 1, 0) <= 0) return false;
  std::array<char, 4096> ignored{};
  const auto size = ::read(STDIN_FILENO, ignored.data(), ignored.size());
  return size == 0 || (size < 0 && errno != EINTR && errno != EAGAIN);
}

/// false: the lock was lost.
bool hold_until_the_end(const held_set& held, const signals& taken) {
  const bell lost;
  const std::stop_callback on_loss{held.lost(), [&] { lost.ring(); }};
  while (!held.lost().stop_requested()) {
    const auto arrived = taken.wait(lost, std::nullopt, {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0});
    if ((arrived && signals::ends_a_wait(arrived->number)) || input_has_ended()) return true;
  }
  return false;
}

int hold_it(held_set& held, const options& given, const signals& taken) {
  if (!(std::cout << held.token(given.name).value() << std::endl)) return exit_status::done;  // which main() tells
  const bool was_held = hold_until_the_end(held, taken);
  const bool was_let_go = let_go(held);
  if (was_held && was_let_go) return exit_status::done;
  say("lost the lock \"" + given.name + "\" (" + loss_in_words(held, given) + ')');
  return given.run.lost_exit;
}

}  // namespace

// Where no one can read the token any more, no one waits for it.
int hold(const options& given) {
  if (::write(STDOUT_FILENO, nullptr, 0) < 0)
    throw not_written{"standard output, where the token is to be written, is closed"};
  const signals taken;
  return with_lock(
      given, taken, [&](held_set& held) { return hold_it(held, given, taken); }, STDOUT_FILENO);
}

}  // namespace rowlock::command
