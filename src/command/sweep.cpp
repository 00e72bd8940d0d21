#include "command/subcommands.hpp"

#include <rowlock/rowlock.hpp>

#include <chrono>
#include <exception>
#include <iostream>

#include "command/database.hpp"
#include "command/output.hpp"
#include "command/signals.hpp"
#include "command/words.hpp"

namespace rowlock::command {

namespace {

json json_of(const sweeper_statistics& done) {
  return {{"sweeps", done.sweeps},       {"stand_bys", done.stand_bys},
          {"failures", done.failures},   {"rows", done.rows},
          {"tickets", done.tickets},     {"runs", done.runs},
          {"announced", done.announced}, {"longest_call_us", microseconds(done.longest_call)}};
}

void print_result(const options& given, const sweeper_statistics& done) {
  if (given.as_json)
    print(json_of(done));
  else if (given.sweep.is_quiet)
    return;
  else if (done.stand_bys != 0)
    std::cout << "another sweeper is at work\n";
  else
    std::cout << counted(done.rows, "row") << ", " << counted(done.tickets, "ticket") << " and "
              << counted(done.runs, "run") << " deleted\n";
}

/// 0, or the signal that stopped the sweep.
int sweep_once(const options& given, sweeper& sweeps, const signals& taken) {
  const bell over;
  auto done = in_background(over, [&] { sweeps.sweep_once(); });
  const auto number = taken.wait_for_end(over);
  if (number) sweeps.stop();
  done.get();
  if (!number) print_result(given, sweeps.statistics());
  return number.value_or(0);
}

int sweep_until_a_signal(const options& given, const signals& taken) {
  auto locks = interruptibly(taken, [&] {
    auto out = connect(given);
    out.check();
    return out;
  });
  auto how = given.sweep.how;
  if (given.sweep.is_once) how.every = std::chrono::hours{24};  // the sweeper's own thread is not needed
  sweeper sweeps{locks, how};
  if (given.sweep.is_once) return sweep_once(given, sweeps, taken);
  taken.wait_for_end(bell{});
  return 0;
}

}  // namespace

int sweep(const options& given) {
  const signals taken;
  if (const int died_of = sweep_until_a_signal(given, taken); died_of != 0) signals::die_of(died_of);
  return exit_status::done;
}

}  // namespace rowlock::command
