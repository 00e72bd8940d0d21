#include "command/wait_graph.hpp"

#include <algorithm>
#include <cstddef>
#include <set>

#include "command/output.hpp"
#include "command/situation.hpp"

namespace rowlock::command {

namespace {

bool waits_for(const wait_edge& a, const wait_edge& b) {
  return std::find(a.holders.begin(), a.holders.end(), b.who) != a.holders.end();
}

bool reaches(const std::vector<wait_edge>& all, const wait_edge& from, const wait_edge& wanted,
             std::set<const wait_edge*>& seen) {
  if (waits_for(from, wanted)) return true;
  return std::any_of(all.begin(), all.end(), [&](const wait_edge& next) {
    return waits_for(from, next) && seen.insert(&next).second && reaches(all, next, wanted, seen);
  });
}

std::vector<party> parties_that_hold(client& locks, const lock_name& name) {
  std::vector<party> out;
  for (const auto& each : holders_of(locks, name))
    out.push_back({.owner = each.sharers > 0 ? each.owner : owner_of(each), .thread = each.thread});
  return out;
}

}  // namespace

std::vector<wait_edge> wait_graph(client& locks) {
  std::vector<wait_edge> out;
  for (const auto& each : look_at_all(locks, {}).queue)
    out.push_back({.who = {.owner = each.owner, .thread = each.thread},
                   .name = std::string{each.name.view()},
                   .holders = out.empty() || out.back().name != each.name.view() ? parties_that_hold(locks, each.name)
                                                                                 : out.back().holders});
  mark_circles(out);
  return out;
}

void mark_circles(std::vector<wait_edge>& all) {
  for (auto& each : all) {
    std::set<const wait_edge*> seen;
    each.is_in_circle = reaches(all, each, each, seen);
  }
}

void write_graph(std::ostream& out, const std::vector<wait_edge>& all) {
  std::vector<table_line> lines{{"WAITER", "THREAD", "WAITS FOR", "HELD BY", "THREAD", "IN A CIRCLE"}};
  for (const auto& each : all) {
    const auto line = [&](std::string owner, std::string thread) {
      lines.push_back({each.who.owner, each.who.thread, each.name, std::move(owner), std::move(thread),
                       each.is_in_circle ? "yes" : "-"});
    };
    if (each.holders.empty()) line("-", "-");
    for (const auto& holder : each.holders) line(holder.owner, or_dash(holder.thread));
  }
  write_table(out, lines);
}

json json_of(const std::vector<wait_edge>& all) {
  auto out = json::array();
  for (const auto& each : all) {
    auto holders = json::array();
    for (const auto& one : each.holders)
      holders.push_back({{"owner", or_null(one.owner)}, {"thread", or_null(one.thread)}});
    out.push_back({{"owner", each.who.owner},
                   {"thread", each.who.thread},
                   {"name", each.name},
                   {"holders", std::move(holders)},
                   {"in_circle", each.is_in_circle}});
  }
  return out;
}

}  // namespace rowlock::command
