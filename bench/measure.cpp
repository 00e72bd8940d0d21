#include "measure.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <functional>
#include <latch>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <utility>

#include "cpu.hpp"
#include "testkit/temp_folder.hpp"

namespace bench {
namespace {

using clock = std::chrono::steady_clock;

/// What one lane did in one slice, or in all slices of a round.
struct tally {
  std::size_t cycles = 0;
  std::chrono::duration<double> took{};

  void add(const tally& more) {
    cycles += more.cycles;
    took += more.took;
  }
  double rate() const { return took.count() > 0 ? static_cast<double>(cycles) / took.count() : 0; }
};

/// Lets threads begin when it goes, also where one more could not be started: nobody is left waiting.
class start_signal {
 public:
  explicit start_signal(std::latch& to) : latch_{to} {}
  start_signal(const start_signal&) = delete;
  start_signal& operator=(const start_signal&) = delete;
  ~start_signal() { latch_.count_down(); }

 private:
  std::latch& latch_;
};

/// Runs `body(lane number)` in as many threads at once, which begin together.
void in_threads(std::size_t count, const std::function<void(std::size_t)>& body) {
  std::vector<std::exception_ptr> errors(count);
  std::latch start{1};
  {
    std::vector<std::jthread> threads;
    const start_signal when_all_are_there{start};
    for (std::size_t number = 0; number < count; ++number)
      threads.emplace_back([&error = errors[number], &body, &start, number] {
        start.wait();
        try {
          body(number);
        } catch (...) {
          error = std::current_exception();
        }
      });
  }
  for (const auto& each : errors)
    if (each) std::rethrow_exception(each);
}

/// The end of a cycle is the beginning of the next: one look at the clock for each.
tally run_slice(lane& of, std::chrono::milliseconds slice, std::vector<std::uint32_t>& latencies_ns) {
  const auto began = clock::now();
  tally done;
  for (auto last = began; last - began < slice; done.cycles += of.cycles_at_once()) {
    of.cycle();
    const auto now = clock::now();
    latencies_ns.push_back(static_cast<std::uint32_t>(std::min<std::int64_t>((now - last).count(), UINT32_MAX)));
    last = now;
    done.took = now - began;
  }
  return done;
}

double slowest_share(const std::vector<tally>& of) {
  const auto fewer = [](const tally& one, const tally& other) { return one.cycles < other.cycles; };
  const auto slowest = std::min_element(of.begin(), of.end(), fewer)->cycles;
  const auto all = std::accumulate(of.begin(), of.end(), std::size_t{0},
                                   [](auto sum, const tally& each) { return sum + each.cycles; });
  return all > 0 ? static_cast<double>(slowest * of.size()) / static_cast<double>(all) : 0;
}

double sum_of_rates(const std::vector<tally>& of) {
  return std::accumulate(of.begin(), of.end(), 0.0, [](double sum, const tally& each) { return sum + each.rate(); });
}

measurement joined(std::vector<double> rates, const std::vector<std::vector<std::uint32_t>>& latencies_ns) {
  measurement all{.rates = std::move(rates)};
  for (const auto& each : latencies_ns) all.latencies_ns.insert(all.latencies_ns.end(), each.begin(), each.end());
  std::sort(all.latencies_ns.begin(), all.latencies_ns.end());
  return all;
}

/// A subject with its lanes, while its case is measured.
class contender {
 public:
  contender(const named_subject& what, std::size_t threads, const schedule& when)
      : when_{when}, threads_{threads}, subject_{what.make(folder_.path())}, latencies_(threads) {
    if (!when_.has_fresh_lanes) lanes_ = open_warm_lanes();
  }

  void begin_round() { tallies_.assign(threads_, {}); }

  void take_turn() {
    if (when_.has_fresh_lanes) lanes_ = open_warm_lanes();
    const cpu_meter meter;
    in_threads(threads_, [&](std::size_t number) {
      tallies_[number].add(run_slice(*lanes_[number], when_.slice, latencies_[number]));
    });
    meter.add_to(cpu_);
    if (when_.has_fresh_lanes) lanes_.clear();
  }

  void end_round() {
    rates_.push_back(sum_of_rates(tallies_));
    slowest_shares_.push_back(slowest_share(tallies_));
  }

  measurement result() const {
    auto all = joined(rates_, latencies_);
    all.slowest_shares = slowest_shares_;
    all.own_cores = cpu_.own_cores();
    all.busy_cores = cpu_.busy_cores();
    return all;
  }

 private:
  lanes open_warm_lanes() {
    auto opened = open_lanes(*subject_, threads_);
    std::vector<std::vector<std::uint32_t>> forgotten(threads_);
    in_threads(threads_, [&](std::size_t number) { (void)run_slice(*opened[number], warm_up, forgotten[number]); });
    return opened;
  }

  static constexpr std::chrono::milliseconds warm_up{25};

  schedule when_;
  std::size_t threads_;
  rowlock::test::temp_folder folder_;
  std::unique_ptr<subject> subject_;
  lanes lanes_;
  std::vector<tally> tallies_;
  std::vector<std::vector<std::uint32_t>> latencies_;
  std::vector<double> rates_;
  std::vector<double> slowest_shares_;
  cpu_times cpu_;
};

census census_of(const bench_case& what, const named_subject& of, std::size_t cycles) {
  const rowlock::test::temp_folder folder;
  const auto& count = of.count ? of.count : what.count;
  return count([&] { return of.make(folder.path()); }, what.threads, std::max<std::size_t>(cycles / what.threads, 1));
}

using contenders = std::vector<std::unique_ptr<contender>>;

void run_round(const contenders& all, const schedule& when) {
  for (const auto& each : all) each->begin_round();
  for (std::size_t slice = 0; slice < when.slices; ++slice)
    for (const auto& each : all) each->take_turn();
  for (const auto& each : all) each->end_round();
}

}  // namespace

lanes open_lanes(subject& of, std::size_t count) {
  lanes opened;
  for (std::size_t number = 0; number < count; ++number) opened.push_back(of.open_lane(number));
  return opened;
}

void run_cycles(const lanes& all, std::size_t cycles) {
  in_threads(all.size(), [&](std::size_t lane) {
    for (std::size_t done = 0; done < cycles; ++done) all[lane]->cycle();
  });
}

measurement run_while(const lanes& all, const std::function<bool()>& goes_on) {
  std::vector<tally> tallies(all.size());
  std::vector<std::vector<std::uint32_t>> latencies(all.size());
  in_threads(all.size(), [&](std::size_t lane) {
    while (goes_on()) tallies[lane].add(run_slice(*all[lane], schedule{}.slice, latencies[lane]));
  });
  return joined({sum_of_rates(tallies)}, latencies);
}

double percentile(const std::vector<std::uint32_t>& sorted_ns, double share) {
  if (sorted_ns.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted_ns.size())));
  return sorted_ns[std::clamp<std::size_t>(rank, 1, sorted_ns.size()) - 1];
}

// Threads that are many have to wait for their turns, so that a slice must be long beside a cycle.
schedule schedule_for(std::size_t threads, bool is_quick) {
  using namespace std::chrono_literals;
  constexpr std::size_t few = 16;
  if (threads > few && is_quick)
    return {.rounds = 1, .slices = 1, .slice = 200ms, .counted = threads, .has_fresh_lanes = true};
  if (threads > few) return {.slices = 1, .slice = 2s, .counted = 10 * threads, .has_fresh_lanes = true};
  if (is_quick) return {.rounds = 3, .slices = 1, .counted = 32};
  return {};
}

std::vector<measurement> measure(const bench_case& what, bool is_quick) {
  const auto when = schedule_for(what.threads, is_quick);
  std::vector<census> needs;
  for (const auto& each : what.subjects) needs.push_back(census_of(what, each, when.counted));
  contenders all;
  for (const auto& each : what.subjects) all.push_back(std::make_unique<contender>(each, what.threads, when));
  for (std::size_t round = 0; round < when.rounds; ++round) run_round(all, when);
  std::vector<measurement> results;
  for (std::size_t at = 0; at < all.size(); ++at) {
    results.push_back(all[at]->result());
    results.back().needs = needs[at];
  }
  return results;
}

}  // namespace bench
