#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>

#include "contest.hpp"
#include "contest_census.hpp"
#include "contest_rounds.hpp"
#include "crew.hpp"

namespace bench {
namespace {

/// Two workers, of whom one has the lock.
class pair_of_workers {
 public:
  explicit pair_of_workers(crew& both) : holder_{&both[0]}, waiter_{&both[1]} {
    holder_->tell("take");
    (void)holder_->hear();
    (void)holder_->hear();
  }

  /// How long it took, in nanoseconds.
  std::uint32_t hand_over() {
    waiter_->tell("take");
    (void)waiter_->hear();  // it begins to wait
    holder_->tell(fmt::format("let_go {}", hold_us_(random_)));
    const auto let_go = holder_->hear().at_ns;
    const auto granted = waiter_->hear().at_ns;
    std::swap(holder_, waiter_);
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(granted - let_go, 0, UINT32_MAX));
  }

  void let_go() {
    holder_->tell("let_go");
    (void)holder_->hear();
  }

 private:
  worker_process* holder_;
  worker_process* waiter_;
  std::mt19937 random_{std::random_device{}()};
  std::uniform_int_distribution<int> hold_us_{20'000, 60'000};
};

bout hand_over(crew& both, std::size_t times) {
  bout done;
  pair_of_workers pair{both};
  for (int before = 0; before < 4; ++before) (void)pair.hand_over();  // connects, and listens
  while (done.latencies_ns.size() < times) done.latencies_ns.push_back(pair.hand_over());
  pair.let_go();
  std::sort(done.latencies_ns.begin(), done.latencies_ns.end());
  done.rate = 1e9 / std::max(done.latencies_ns[times / 2], 1U);
  return done;
}

auto counting(std::size_t times) {
  return [times](crew& both) { return static_cast<double>(hand_over(both, times).latencies_ns.size()); };
}

}  // namespace

std::vector<measurement> measure_handovers(const contest& what, bool is_quick) {
  const std::size_t times = is_quick ? 3 : 60;
  return in_rounds(
      what, is_quick,
      [&](const contestant& who) { return count_workers(what, who, counting(1), counting(is_quick ? 3 : 11)); },
      [&](crew& both) { return hand_over(both, times); });
}

}  // namespace bench
