#include "contest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>

namespace bench {

namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;
using std::chrono::seconds;

// --- the census

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

/// Lets fresh workers do a little of something and then, others, much of it: what the second time takes more is what
/// that more of it needs. `little` and `much` give the number of cycles that were done.
census count_workers(const contest& what, const contestant& who, const std::function<double(crew&)>& little,
                     const std::function<double(crew&)>& much) {
  const auto less = one_run(what, who, little);
  const auto more = one_run(what, who, much);
  const auto cycles = more.cycles - less.cycles;
  const auto statements = std::max(more.statements - less.statements, 0.0);
  return {.connections = more.connections, .statements_per_cycle = cycles > 0 ? statements / cycles : 0};
}

// --- rounds

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

// --- as fast as they can

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

auto counting_rush(microseconds length) {
  return [length](crew& workers) { return static_cast<double>(rush_for(workers, length).latencies_ns.size()); };
}

// --- from one to the other

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

auto counting_handovers(std::size_t times) {
  return [times](crew& both) { return static_cast<double>(hand_over(both, times).latencies_ns.size()); };
}

// --- waiting

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

std::vector<measurement> measure_rush(const contest& what, bool is_quick) {
  // Nobody can be seen to wait for longer than that.
  const microseconds length = is_quick ? 100ms : 3s;
  const microseconds beginning = is_quick ? 50ms : 200ms;
  return in_rounds(
      what, is_quick,
      [&](const contestant& who) {
        return count_workers(what, who, counting_rush(beginning), counting_rush(beginning + length / 3));
      },
      [&](crew& workers) {
        (void)rush_for(workers, beginning);  // connects, and listens
        return rush_for(workers, length);
      });
}

std::vector<measurement> measure_handovers(const contest& what, bool is_quick) {
  const std::size_t times = is_quick ? 3 : 60;
  return in_rounds(
      what, is_quick,
      [&](const contestant& who) {
        return count_workers(what, who, counting_handovers(1), counting_handovers(is_quick ? 3 : 11));
      },
      [&](crew& both) { return hand_over(both, times); });
}

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
