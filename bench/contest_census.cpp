#include "contest_census.hpp"

#include <algorithm>

namespace bench {
namespace {

struct effort {
  std::size_t connections = 0;
  double statements = 0;
  double cycles = 0;
};

effort by_their_own_count(crew& of, double cycles) {
  effort sum{.cycles = cycles};
  for (const auto& each : of.ask("count")) {
    sum.connections += each.connections;
    sum.statements += static_cast<double>(each.statements);
  }
  return sum;
}

effort by_the_server(observer& watching, const std::function<double(crew&)>& work, const orders& what,
                     std::size_t size) {
  const auto before = watching.statements();
  effort sum;
  {
    crew workers{what, size};
    watching.watch(workers.ids());
    sum.cycles = work(workers);
    sum.connections = watching.connections();
  }
  sum.statements = static_cast<double>(watching.statements() - before);
  return sum;
}

effort one_run(const contest& what, const contestant& who, const std::function<double(crew&)>& work) {
  const auto place = what.open_arena();
  auto orders = place->here(who.what);
  if (what.observe) return by_the_server(*what.observe(), work, orders, what.processes);
  orders.is_counted = true;
  crew workers{orders, what.processes};
  return by_their_own_count(workers, work(workers));
}

}  // namespace

census count_workers(const contest& what, const contestant& who, const std::function<double(crew&)>& little,
                     const std::function<double(crew&)>& much) {
  const auto less = one_run(what, who, little);
  const auto more = one_run(what, who, much);
  const auto cycles = more.cycles - less.cycles;
  const auto statements = std::max(more.statements - less.statements, 0.0);
  return {.connections = more.connections, .statements_per_cycle = cycles > 0 ? statements / cycles : 0};
}

}  // namespace bench
