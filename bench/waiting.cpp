#include <chrono>

#include "contest.hpp"
#include "contest_census.hpp"
#include "crew.hpp"

namespace bench {
namespace {

using namespace std::chrono_literals;
using std::chrono::seconds;

double wait_for(crew& both, seconds length) {
  auto& holder = both[0];
  auto& waiter = both[1];
  holder.tell("take");
  (void)holder.hear();
  (void)holder.hear();
  waiter.tell("take");
  (void)waiter.hear();
  waiter.stay_silent_for(length);
  holder.tell("let_go");
  (void)holder.hear();
  (void)waiter.hear();
  waiter.tell("let_go");
  (void)waiter.hear();
  return std::chrono::duration<double>{length}.count();
}

}  // namespace

std::vector<measurement> measure_waiting(const contest& what, bool is_quick) {
  const seconds beginning = is_quick ? 0s : 1s;
  const seconds length = is_quick ? 1s : 60s;
  std::vector<measurement> all;
  for (const auto& each : what.subjects)
    all.push_back({.rates = {1},
                   .needs = count_workers(
                       what, each, [&](crew& both) { return wait_for(both, beginning); },
                       [&](crew& both) { return wait_for(both, beginning + length); })});
  return all;
}

}  // namespace bench
