#include "server_census.hpp"

#include <algorithm>

#include "measure.hpp"

namespace bench {
namespace {

struct sums {
  std::size_t connections = 0;
  long long statements = 0;
};

sums run_and_count(const server& at, const std::function<std::unique_ptr<subject>()>& make, std::size_t threads,
                   std::size_t cycles) {
  const auto watching = at.observe();
  const auto before = watching->statements();
  sums found;
  {
    const auto of = make();
    const lanes all = open_lanes(*of, threads);
    run_cycles(all, cycles);
    found.connections = watching->connections();
  }
  found.statements = watching->statements() - before;
  return found;
}

}  // namespace

census count_on(const server& at, const std::function<std::unique_ptr<subject>()>& make, std::size_t threads,
                std::size_t cycles) {
  constexpr std::size_t warm_up = 10;
  const auto less = run_and_count(at, make, threads, warm_up);
  const auto more = run_and_count(at, make, threads, warm_up + cycles);
  const auto statements = static_cast<double>(more.statements - less.statements);
  return {.connections = more.connections,
          .statements_per_cycle = std::max(statements, 0.0) / static_cast<double>(cycles * threads)};
}

}  // namespace bench
