#include "command/subcommands.hpp"

#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "command/database.hpp"
#include "command/job_runs.hpp"
#include "command/output.hpp"
#include "command/situation.hpp"
#include "command/words.hpp"

namespace rowlock::command {

namespace {

void write_holders(std::ostream& out, const std::vector<lock_info>& held) {
  std::vector<table_line> lines{{"NAME", "TOKEN", "HELD", "EXPIRES", "OWNER", "NOTE"}};
  for (const auto& lock : held)
    lines.push_back({std::string{lock.name.view()}, token_or_dash(lock), duration_or_dash(lock.held_for),
                     duration_or_dash(lock.expires_in), owner_of(lock), lock.note});
  write_table(out, lines);
}

/// `none` is the message about an empty list.
template <class List, class Write>
void print_list(const options& given, const List& all, const std::string& none, Write write) {
  if (given.as_json)
    print(json_of(all));
  else if (all.empty())
    say(none);
  else
    write(std::cout, all);
}

template <class Waiters, class Write>
int print_waiters(const options& given, const Waiters& all, const std::string& awaited, Write write) {
  print_list(given, all, "no client waits for " + awaited, write);
  return all.empty() ? exit_status::none : exit_status::done;
}

}  // namespace

int list(const options& given) {
  const auto& prefix = given.prefix;
  print_list(given, connect(given).list(prefix),
             prefix.empty() ? "no lock is held" : "no lock is held whose name begins with " + base::quoted(prefix),
             write_holders);
  return exit_status::done;
}

int show(const options& given) {
  auto locks = connect(given);
  const auto seen = look_at(locks, given.name);
  const auto runs = last_runs(locks, given.name, 1, runs_of::each_result);
  if (given.as_json) {
    auto all = json_of(seen);
    if (!runs.empty()) all["job"] = json_of_summary(runs);
    print(seen.holder || !seen.queue.empty() || !runs.empty() ? all : json{});
  } else {
    if (!seen.holder) say(why_not_freed(given.name, freeing::not_held));
    write(std::cout, seen);
    if (!runs.empty() && (seen.holder || !seen.queue.empty())) std::cout << '\n';
    if (!runs.empty()) write_summary(std::cout, runs);
  }
  return seen.holder ? exit_status::done : exit_status::none;
}

int waiters(const options& given) {
  auto locks = connect(given);
  if (given.waiters.is_graph) return print_waiters(given, wait_graph(locks), "any lock", write_graph);
  const bool is_of_one = given.waiters.is_of_one;
  const auto queue = is_of_one ? look_at(locks, given.name).queue : look_at_all(locks, given.prefix).queue;
  const auto awaited = is_of_one              ? base::quoted(given.name)
                       : given.prefix.empty() ? "any lock"
                                              : "a lock whose name begins with " + base::quoted(given.prefix);
  return print_waiters(given, queue, awaited,
                       [&](std::ostream& out, const auto& all) { write_queue(out, all, !is_of_one); });
}

}  // namespace rowlock::command
