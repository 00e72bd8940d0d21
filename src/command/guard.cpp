#include <rowlock/rowlock.hpp>

#include <fmt/format.h>

#include <chrono>
#include <iostream>
#include <string>

#include "command/database.hpp"
#include "command/output.hpp"
#include "command/question.hpp"
#include "command/subcommands.hpp"
#include "command/words.hpp"

namespace rowlock::command {

namespace {

json json_of(const guard_status& found) {
  const bool was_ever_on = found.term > 0;
  return {{"on", found.quarantine.has_value()},
          {"relaxed", found.relaxed},
          {"quarantine_us", microseconds(found.quarantine)},
          {"left_us", microseconds(found.left)},
          {"since", was_ever_on ? json(format_time(found.since)) : json{}},
          {"incarnation", or_null(found.incarnation)},
          {"term", found.term}};
}

// The end by this host's clock: the answer has the time that is left.
std::string state_of(const guard_status& found) {
  if (!found.quarantine) return "off";
  std::string on = found.relaxed ? "on, relaxed" : "on";
  if (!found.left) return on;
  const auto end = std::chrono::system_clock::now() + *found.left;
  return fmt::format("{}; nothing is granted for {}, until {}", on, format_duration(*found.left),
                     format_time(std::chrono::ceil<std::chrono::seconds>(end)));
}

void print_lines(const guard_status& found) {
  const auto field = [](const char* title, const std::string& value) { write_field(std::cout, 12, title, value); };
  field("guard", state_of(found));
  if (!found.quarantine) return;
  field("quarantine", bound_in_words(*found.quarantine));
  field("since", format_time(found.since));
  field("incarnation", found.incarnation);
  if (found.left) field("reason", "a failover or a crash may have lost the last commits, or longer leases are out");
}

int print_state(const options& given, const guard_status& found) {
  if (given.as_json)
    print(json_of(found));
  else
    print_lines(found);
  return exit_status::done;
}

int end_quarantine(const options& given) {
  question asked{given, "guard asks before it ends a quarantine"};
  auto locks = connect(given, [](const event&) {});
  const auto found = locks.guard();
  if (!found.left) {
    say("no quarantine is on");
    return exit_status::none;
  }
  const auto text =
      fmt::format("A quarantine is on for {}. If commits were lost, two may hold one lock after it has ended. End it?",
                  format_duration(*found.left));
  if (!asked.agrees(text)) {
    say("the quarantine was not ended");
    return exit_status::none;
  }
  return print_state(given, locks.end_quarantine());
}

}  // namespace

// The state, which is printed, has what the event of a quarantine says.
int guard_failovers(const options& given) {
  if (given.guard.ends_quarantine) return end_quarantine(given);
  auto locks = connect(given, [](const event&) {});
  const auto& to = given.guard;
  if (!to.is_off && !to.quarantine && !to.is_relaxed) return print_state(given, locks.guard());
  const auto as_before = to.is_relaxed && !to.quarantine ? locks.guard().quarantine : to.quarantine;
  return print_state(given, locks.set_guard(as_before, {.relaxed = to.is_relaxed}));
}

}  // namespace rowlock::command
