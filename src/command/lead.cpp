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
#include "command/waiting.hpp"
#include "command/words.hpp"

namespace rowlock::command {

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

/// Before a command that has ended is started again: longer and longer where it ends soon.
class restart_pause {
 public:
  std::chrono::seconds after(steady_clock::duration it_ran) {
    if (it_ran >= longest) next_ = shortest;
    return std::exchange(next_, std::min(2 * next_, longest));
  }

 private:
  static constexpr auto shortest = 1s;
  static constexpr auto longest = 30s;
  std::chrono::seconds next_ = shortest;
};

/// The signal that tells rowlock to end; nullopt: the time is over, or the lock is lost.
std::optional<int> rest(std::chrono::seconds pause, const held_set& held, const signals& taken) {
  const bell bell;
  const std::stop_callback on_loss{held.lost(), [&] { bell.ring(); }};
  const auto end = steady_clock::now() + pause;
  while (!held.lost().stop_requested()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - steady_clock::now());
    if (left <= 0ms) return std::nullopt;
    const auto arrived = taken.wait(bell, left);
    if (arrived && signals::ends_a_wait(arrived->number)) return arrived->number;
  }
  return std::nullopt;
}

// What ended while somebody else had the lead already may be half done: it is wanted again.
std::optional<int> resign(held_set& held, const options& given, bool is_the_end, int status) {
  const bool was_lost = held.lost().stop_requested();
  if (let_go(held)) return status;
  if (!was_lost) say("lost the lock \"" + given.name + "\" while the command ran");
  return is_the_end ? std::optional{given.run.lost_exit} : std::nullopt;
}

std::optional<int> lead_under(held_set& held, const options& given, const signals& taken, guardian& guard) {
  for (restart_pause pause;;) {
    const auto begin = steady_clock::now();
    guarded_run command{given, taken, guard, held, true};
    const int status = command.wait();
    const bool is_the_end = command.was_told_to_end();
    if (is_the_end || !given.run.restarts || held.lost().stop_requested())
      return resign(held, given, is_the_end, status);
    const auto again = pause.after(steady_clock::now() - begin);
    say("the command has ended with status " + std::to_string(status) + "; it is started again in " +
        bound_in_words(again));
    if (const auto number = rest(again, held, taken)) {
      let_go(held);
      signals::die_of(*number);
    }
    if (held.lost().stop_requested()) {
      say("lost the lock \"" + given.name + "\" (" + loss_in_words(held, given) + ')');
      let_go(held);
      return std::nullopt;
    }
  }
}

}  // namespace

int lead(const options& given) {
  const signals taken;
  guardian guard{given, taken};
  return with_lock(given, taken, [&](held_set& held) { return lead_under(held, given, taken, guard); });
}

}  // namespace rowlock::command
