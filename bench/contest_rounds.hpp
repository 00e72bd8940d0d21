#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "contest.hpp"
#include "crew.hpp"

namespace bench {

/// What the workers of a contestant did in one round.
struct bout {
  double rate = 0;  ///< cycles per second
  std::vector<std::uint32_t> latencies_ns{};
};

/// Lets the subjects of a contest have their turns, each with fresh workers: those of the others would not be quite
/// idle. `count` takes the census of one, `run` has its turn.
template <class Count, class Run>
std::vector<measurement> in_rounds(const contest& what, bool is_quick, const Count& count, const Run& run) {
  const int rounds = is_quick ? 1 : 5;
  std::vector<std::unique_ptr<arena>> arenas;
  std::vector<measurement> all(what.subjects.size());
  for (std::size_t at = 0; at < all.size(); ++at) all[at].needs = count(what.subjects[at]);
  for (std::size_t at = 0; at < all.size(); ++at) arenas.push_back(what.open_arena());
  for (int round = 0; round < rounds; ++round)
    for (std::size_t at = 0; at < all.size(); ++at) {
      crew workers{arenas[at]->here(what.subjects[at].what), what.processes};
      const bout done = run(workers);
      all[at].rates.push_back(done.rate);
      all[at].latencies_ns.insert(all[at].latencies_ns.end(), done.latencies_ns.begin(), done.latencies_ns.end());
    }
  for (auto& each : all) std::sort(each.latencies_ns.begin(), each.latencies_ns.end());
  return all;
}

}  // namespace bench
