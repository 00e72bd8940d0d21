#include "measure.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <utility>

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

/// Runs `body(lane number)` in as many threads at once.
void in_threads(std::size_t count, const std::function<void(std::size_t)>& body) {
  std::vector<std::exception_ptr> errors(count);
  {
    std::vector<std::jthread> threads;
    for (std::size_t number = 0; number < count; ++number)
      threads.emplace_back([&error = errors[number], &body, number] {
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
  contender(const named_subject& what, std::size_t threads)
      : subject_{what.make(folder_.path())}, lanes_{open_lanes(*subject_, threads)}, latencies_(threads) {}

  void warm_up(std::chrono::milliseconds slice) {
    begin_round();
    run(slice);
    for (auto& each : latencies_) each.clear();
  }

  void begin_round() { tallies_.assign(lanes_.size(), {}); }

  void run(std::chrono::milliseconds slice) {
    in_threads(lanes_.size(),
               [&](std::size_t lane) { tallies_[lane].add(run_slice(*lanes_[lane], slice, latencies_[lane])); });
  }

  void end_round() { rates_.push_back(sum_of_rates(tallies_)); }

  measurement result() const { return joined(rates_, latencies_); }

 private:
  rowlock::test::temp_folder folder_;
  std::unique_ptr<subject> subject_;
  lanes lanes_;
  std::vector<tally> tallies_;
  std::vector<std::vector<std::uint32_t>> latencies_;
  std::vector<double> rates_;
};

census take_census(const bench_case& what, const named_subject& of, std::size_t cycles) {
  const rowlock::test::temp_folder folder;
  return what.count([&] { return of.make(folder.path()); }, what.threads,
                    std::max<std::size_t>(cycles / what.threads, 1));
}

using contenders = std::vector<std::unique_ptr<contender>>;

void run_round(const contenders& all, const schedule& when) {
  for (const auto& each : all) each->begin_round();
  for (std::size_t slice = 0; slice < when.slices; ++slice)
    for (const auto& each : all) each->run(when.slice);
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

std::vector<measurement> measure(const bench_case& what, const schedule& when) {
  std::vector<census> needs;
  for (const auto& each : what.subjects) needs.push_back(take_census(what, each, when.counted));
  contenders all;
  for (const auto& each : what.subjects) all.push_back(std::make_unique<contender>(each, what.threads));
  for (const auto& each : all) each->warm_up(when.slice);
  for (std::size_t round = 0; round < when.rounds; ++round) run_round(all, when);
  std::vector<measurement> results;
  for (std::size_t at = 0; at < all.size(); ++at) {
    results.push_back(all[at]->result());
    results.back().needs = needs[at];
  }
  return results;
}

}  // namespace bench
