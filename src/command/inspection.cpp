#include "command/subcommands.hpp"

#include <iostream>
#include <string>
#include <vector>

#include "command/database.hpp"
#include "command/output.hpp"
#include "command/overview.hpp"
#include "command/situation.hpp"
#include "command/wait_graph.hpp"

namespace rowlock::command {

int list(const options& given) {
  auto locks = connect(given);
  const auto held = locks.list(given.prefix);
  if (given.as_json) {
    auto all = json::array();
    for (const auto& lock : held) all.push_back(json_of(lock));
    print(all);
  } else if (held.empty()) {
    say(given.prefix.empty() ? "no lock is held" : "no lock is held whose name begins with \"" + given.prefix + '"');
  } else {
    std::vector<table_line> lines{{"NAME", "TOKEN", "HELD", "EXPIRES", "OWNER", "NOTE"}};
    for (const auto& lock : held) lines.push_back(line_of(lock));
    write_table(std::cout, lines);
  }
  return exit_status::done;
}

int show(const options& given) {
  auto locks = connect(given);
  const auto seen = look_at(locks, given.name);
  if (given.as_json) {
    print(seen.holder || !seen.queue.empty() ? json_of(seen) : json{});
  } else {
    if (!seen.holder) say("nobody holds \"" + given.name + '"');
    write(std::cout, seen);
  }
  return seen.holder ? exit_status::done : exit_status::nobody;
}

namespace {

std::string names_of(const options& given) {
  return given.prefix.empty() ? "any lock" : "a lock whose name begins with \"" + given.prefix + '"';
}

int waiters_of_all(const options& given) {
  auto locks = connect(given);
  const auto queues = look_at_all(locks, given.prefix).queue;
  if (given.as_json) {
    print(json_of(queues));
  } else {
    if (queues.empty()) say("nobody waits for " + names_of(given));
    write_queues(std::cout, queues);
  }
  return queues.empty() ? exit_status::nobody : exit_status::done;
}

int graph(const options& given) {
  auto locks = connect(given);
  const auto all = wait_graph(locks);
  if (given.as_json) {
    print(json_of(all));
  } else {
    if (all.empty()) say("nobody waits for any lock");
    write_graph(std::cout, all);
  }
  return all.empty() ? exit_status::nobody : exit_status::done;
}

}  // namespace

int waiters(const options& given) {
  if (given.waiters.is_graph) return graph(given);
  if (!given.waiters.is_of_one) return waiters_of_all(given);
  auto locks = connect(given);
  const auto queue = look_at(locks, given.name).queue;
  if (given.as_json) {
    print(json_of(queue));
  } else {
    if (queue.empty()) say("nobody waits for \"" + given.name + '"');
    write_queue(std::cout, queue);
  }
  return queue.empty() ? exit_status::nobody : exit_status::done;
}

}  // namespace rowlock::command
