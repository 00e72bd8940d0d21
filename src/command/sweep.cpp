#include "command/subcommands.hpp"

#include <rowlock/rowlock.hpp>

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "command/database.hpp"
#include "command/output.hpp"
#include "command/signals.hpp"

namespace rowlock::command {

namespace {

/// The first that would end a program that only waits; 0: the bell rang before.
int wait_for_end(const signals& taken, const bell& over, const std::atomic<bool>& is_over) {
  while (!is_over) {
    const auto arrived = taken.wait(over, std::nullopt);
    if (arrived && signals::ends_a_wait(arrived->number)) return arrived->number;
  }
  return 0;
}

std::string counted(std::uint64_t number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

json json_of(const sweeper_statistics& done) {
  return {{"sweeps", done.sweeps},
          {"stand_bys", done.stand_bys},
          {"failures", done.failures},
          {"rows", done.rows},
          {"tickets", done.tickets},
          {"announced", done.announced},
          {"longest_call_us", microseconds(done.longest_call)}};
}

void print_line(const sweeper_statistics& done) {
  if (done.stand_bys != 0)
    std::cout << "another sweeper is at work\n";
  else
    std::cout << counted(done.rows, "row") << " and " << counted(done.tickets, "ticket") << " deleted\n";
}

/// Ended by a signal, it lets go of what it has, and dies of it.
int sweep_once(const options& given, sweeper& sweeps, const signals& taken) {
  const bell over;
  std::atomic<bool> is_over{false};
  int died_of = 0;
  std::jthread listening{[&] {
    died_of = wait_for_end(taken, over, is_over);
    if (died_of != 0) sweeps.stop();
  }};
  const auto stop_listening = [&] {
    is_over = true;
    over.ring();
    listening.join();
  };
  try {
    sweeps.sweep_once();
  } catch (...) {
    stop_listening();
    throw;
  }
  stop_listening();
  if (died_of != 0) return died_of;
  if (given.as_json)
    print(json_of(sweeps.statistics()));
  else if (!given.sweep.is_quiet)
    print_line(sweeps.statistics());
  return 0;
}

}  // namespace

int sweep(const options& given) {
  const signals taken;
  int died_of = 0;
  {
    auto locks = connect(given);
    locks.check();
    auto how = given.sweep.how;
    if (given.sweep.is_once) how.every = std::chrono::hours{24};  // its own thread is not needed
    sweeper sweeps{locks, how};
    if (given.sweep.is_once) {
      died_of = sweep_once(given, sweeps, taken);
    } else {
      const std::atomic<bool> never{false};
      wait_for_end(taken, bell{}, never);
    }
  }
  if (died_of != 0) signals::die_of(died_of);
  return exit_status::done;
}

}  // namespace rowlock::command
