#include "command/subcommands.hpp"

#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "command/database.hpp"
#include "command/output.hpp"
#include "command/situation.hpp"
#include "command/wait_graph.hpp"
#include "command/words.hpp"

namespace rowlock::command {

namespace {

void write_holders(const std::vector<lock_info>& held) {
  std::vector<table_line> lines{{"NAME", "TOKEN", "HELD", "EXPIRES", "OWNER", "NOTE"}};
  for (const auto& lock : held)
    lines.push_back({base::printable(lock.name.view()), token_or_dash(lock), duration_or_dash(lock.held_for),
                     duration_or_dash(lock.expires_in), base::printable(owner_of(lock)), base::printable(lock.note)});
  write_table(std::cout, lines);
}

/// Prints the waiters. Returns the exit status.
template <class Waiters, class Write>
int print_waiters(const options& given, const Waiters& all, const std::string& awaited, Write write) {
  if (given.as_json)
    print(json_of(all));
  else if (all.empty())
    say("no client waits for " + awaited);
  else
    write(std::cout, all);
  return all.empty() ? exit_status::none : exit_status::done;
}

}  // namespace

int list(const options& given) {
  auto locks = connect(given);
  const auto held = locks.list(given.prefix);
  if (given.as_json) {
    auto all = json::array();
    for (const auto& lock : held) all.push_back(json_of(lock));
    print(all);
  } else if (held.empty()) {
    say(given.prefix.empty() ? "no lock is held"
                             : "no lock is held whose name begins with " + base::quoted(given.prefix));
  } else {
    write_holders(held);
  }
  return exit_status::done;
}

int show(const options& given) {
  auto locks = connect(given);
  const auto seen = look_at(locks, given.name);
  if (given.as_json) {
    print(seen.holder || !seen.queue.empty() ? json_of(seen) : json{});
  } else {
    if (!seen.holder) say(why_not_freed(given.name, freeing::not_held));
    write(std::cout, seen);
  }
  return seen.holder ? exit_status::done : exit_status::none;
}

int waiters(const options& given) {
  auto locks = connect(given);
  if (given.waiters.is_graph) return print_waiters(given, wait_graph(locks), "any lock", write_graph);
  if (given.waiters.is_of_one)
    return print_waiters(given, look_at(locks, given.name).queue, base::quoted(given.name),
                         [](std::ostream& out, const auto& queue) { write_queue(out, queue); });
  const auto awaited =
      given.prefix.empty() ? "any lock" : "a lock whose name begins with " + base::quoted(given.prefix);
  return print_waiters(given, look_at_all(locks, given.prefix).queue, awaited,
                       [](std::ostream& out, const auto& queue) { write_queue(out, queue, true); });
}

}  // namespace rowlock::command
