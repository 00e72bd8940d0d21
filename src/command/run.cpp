#include "command/subcommands.hpp"

#include <rowlock/rowlock.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "command/database.hpp"
#include "command/guarded_run.hpp"
#include "command/guardian.hpp"
#include "command/recorded_run.hpp"
#include "command/signals.hpp"
#include "command/waiting.hpp"
#include "command/words.hpp"

// rowlock run and rowlock lead.
namespace rowlock::command {

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

/// Waits while the lock is held. false: the lock was lost. A signal to end ends this process.
bool rest(std::chrono::seconds pause, held_set& held, const options& given, const signals& taken) {
  const bell lost;
  const std::stop_callback on_loss{held.lost(), [&] { lost.ring(); }};
  const auto number = taken.wait_for_end(lost, pause);
  if (!number && !held.lost().stop_requested()) return true;
  if (!number) say(loss_in_words(held, given));
  release_held(held, given, !number);
  if (number) signals::die_of(*number);
  return false;
}

// nullopt: lead has lost the lock and must run the command again, which may have left its work half done.
std::optional<int> run_under(held_set& held, const options& given, const signals& taken, guardian& guard) {
  constexpr auto longest_pause = 30s;
  for (auto next_pause = 1s;;) {
    const auto begin = steady_clock::now();
    guarded_run command{given, taken, guard, held};
    const int status = status_of_end(command.wait());
    const bool is_the_end = given.what != subcommand::lead || command.was_asked_to_end();
    if (is_the_end || !given.run.restarts || held.lost().stop_requested()) {
      if (release_held(held, given, command.has_reported_loss())) return status;
      return is_the_end ? std::optional{given.run.lost_exit} : std::nullopt;
    }
    if (steady_clock::now() - begin >= longest_pause) next_pause = 1s;
    const auto pause = std::exchange(next_pause, std::min(2 * next_pause, longest_pause));
    say("the command has ended with status " + std::to_string(status) + "; it is started again in " +
        bound_in_words(pause));
    if (!rest(pause, held, given, taken)) return std::nullopt;
  }
}

}  // namespace

int run(const options& given) {
  const signals taken;
  if (given.run.every) return run_once_a_period(given, taken);
  guardian guard{given, taken};
  return with_lock(given, taken, [&](client&, held_set& held) { return run_under(held, given, taken, guard); });
}

}  // namespace rowlock::command
