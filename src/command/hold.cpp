#include "command/subcommands.hpp"

#include <rowlock/rowlock.hpp>

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <iostream>
#include <optional>
#include <stop_token>

#include "command/database.hpp"
#include "command/signals.hpp"
#include "command/waiting.hpp"

namespace rowlock::command {

namespace {

/// Reads and ignores the input.
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
  while (!held.lost().stop_requested())
    if (taken.wait_for_end(lost, {}, {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0}) || input_has_ended())
      return true;
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
  const signals taken;
  return with_lock(
      given, taken, [&](client&, held_set& held) { return hold_it(held, given, taken); }, STDOUT_FILENO);
}

}  // namespace rowlock::command
