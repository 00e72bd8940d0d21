#include "command/subcommands.hpp"

#include <rowlock/rowlock.hpp>

#include "command/database.hpp"
#include "command/guarded_run.hpp"
#include "command/waiting.hpp"

namespace rowlock::command {

namespace {

int run_under(held_set& held, const options& given, const signals& taken, guardian& guard) {
  const int status = guarded_run{given, taken, guard, held, false}.wait();
  const bool was_lost = held.lost().stop_requested();
  if (let_go(held)) return status;
  if (!was_lost) say("lost the lock \"" + given.name + "\" while the command ran");
  return given.run.lost_exit;
}

}  // namespace

int run(const options& given) {
  const signals taken;
  guardian guard{given, taken};
  return with_lock(given, taken, [&](held_set& held) { return run_under(held, given, taken, guard); });
}

}  // namespace rowlock::command
