#include "command/subcommands.hpp"

#include <rowlock/rowlock.hpp>

#include <cstddef>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
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

/// `none` is the message about an empty list. Returns the exit status, which says whether the list is empty.
template <class List, class Write>
int print_list(const options& given, const List& all, const std::string& none, Write write) {
  if (given.as_json)
    print(json_of(all));
  else if (all.empty())
    say(none);
  else
    write(std::cout, all);
  return all.empty() ? exit_status::none : exit_status::done;
}

/// Leaves the first `most` of the runs of each job that have failed.
void leave_failed(std::vector<job_run>& runs, std::size_t most) {
  std::map<std::string, std::size_t, std::less<>> left;
  std::erase_if(runs,
                [&](const job_run& each) { return !has_failed(each) || ++left[std::string{each.job.view()}] > most; });
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

int history(const options& given) {
  auto locks = connect(given);
  const auto name = given.is_of_one ? std::optional{given.name} : std::nullopt;
  auto runs = last_runs(locks, name, given.last, given.only_failed ? runs_of::each_result : runs_of::any_result);
  if (given.only_failed) leave_failed(runs, given.last);
  return print_list(given, runs, name ? "no run of " + base::quoted(*name) + " is recorded" : "no run is recorded",
                    [](std::ostream& out, const auto& all) { write(out, all); });
}

int waiters(const options& given) {
  auto locks = connect(given);
  const std::string none = "no client waits for ";
  if (given.is_graph) return print_list(given, wait_graph(locks), none + "any lock", write_graph);
  const bool is_of_one = given.is_of_one;
  const auto queue = is_of_one ? look_at(locks, given.name).queue : look_at_all(locks, given.prefix).queue;
  const auto awaited = is_of_one              ? base::quoted(given.name)
                       : given.prefix.empty() ? "any lock"
                                              : "a lock whose name begins with " + base::quoted(given.prefix);
  return print_list(given, queue, none + awaited,
                    [&](std::ostream& out, const auto& all) { write_queue(out, all, !is_of_one); });
}

}  // namespace rowlock::command
