#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "contest.hpp"
#include "contest_census.hpp"
#include "contest_rounds.hpp"
#include "crew.hpp"

namespace bench {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

/// What all workers did, each for that long and then until it had its last turn.
bout rush_for(crew& workers, microseconds length) {
  bout done;
  std::int64_t took_ns = 1;
  for (const auto& each : workers.ask(fmt::format("cycle {}", length.count()))) {
    done.latencies_ns.insert(done.latencies_ns.end(), each.waits_ns.begin(), each.waits_ns.end());
    took_ns = std::max(took_ns, each.took_ns);
  }
  done.rate = static_cast<double>(done.latencies_ns.size()) * 1e9 / static_cast<double>(took_ns);
  return done;
}

auto counting(microseconds length) {
  return [length](crew& workers) { return static_cast<double>(rush_for(workers, length).latencies_ns.size()); };
}

}  // namespace

std::vector<measurement> measure_rush(const contest& what, bool is_quick) {
  // Nobody can be seen to wait for longer than that.
  const microseconds length = is_quick ? 100ms : 3s;
  const microseconds beginning = is_quick ? 50ms : 200ms;
  return in_rounds(
      what, is_quick,
      [&](const contestant& who) {
        return count_workers(what, who, counting(beginning), counting(beginning + length / 3));
      },
      [&](crew& workers) {
        (void)rush_for(workers, beginning);  // connects, and listens
        return rush_for(workers, length);
      });
}

}  // namespace bench
