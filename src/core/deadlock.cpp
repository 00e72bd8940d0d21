#include "core/deadlock.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"

namespace rowlock::inline v1::core {

namespace {

bool has(const waiting_holder& who, const std::string& name) {
  return std::find(who.has.begin(), who.has.end(), name) != who.has.end();
}

// Depth first, over the waiters that came before the first.
bool extend(std::span<const waiting_holder> all, std::vector<const waiting_holder*>& path,
            std::set<ticket_number>& in_vain) {
  const auto& wanted = path.back()->waits_for;
  if (has(*path.front(), wanted)) return true;
  for (const auto& each : all) {
    if (!(each.ticket < path.front()->ticket) || !has(each, wanted) || !in_vain.insert(each.ticket).second) continue;
    path.push_back(&each);
    if (extend(all, path, in_vain)) return true;
    path.pop_back();
  }
  return false;
}

}  // namespace

std::vector<const waiting_holder*> find_cycle(std::span<const waiting_holder> all, ticket_number youngest) {
  const auto first =
      std::find_if(all.begin(), all.end(), [&](const waiting_holder& each) { return each.ticket == youngest; });
  if (first == all.end()) return {};
  std::vector<const waiting_holder*> path{&*first};
  std::set<ticket_number> in_vain;
  return extend(all, path, in_vain) ? path : std::vector<const waiting_holder*>{};
}

std::string text_of(std::span<const waiting_holder* const> cycle) {
  std::string out;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    const auto& who = *cycle[i];
    const auto& gets_from = cycle[(i + 1) % cycle.size()];
    if (i > 0) out.append("; ");
    out.append(who.owner).append(" (").append(who.thread).append(") waits for ").append(base::quoted(who.waits_for));
    out.append(", which ");
    if (gets_from == &who) {
      out.append("it has itself");
    } else {
      out.append(gets_from->owner).append(" (").append(gets_from->thread).append(") has");
    }
  }
  return out;
}

}  // namespace rowlock::inline v1::core
