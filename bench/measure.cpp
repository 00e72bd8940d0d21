#include "measure.hpp"

#include <algorithm>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "temporary_folder.hpp"

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

  void end_round() {
    double rate = 0;
    for (const auto& each : tallies_) rate += each.rate();
    rates_.push_back(rate);
  }

  measurement result() const {
    measurement all{.rates = rates_};
    for (const auto& each : latencies_) all.latencies_ns.insert(all.latencies_ns.end(), each.begin(), each.end());
    std::sort(all.latencies_ns.begin(), all.latencies_ns.end());
    return all;
  }

 private:
  temporary_folder folder_;
  std::unique_ptr<subject> subject_;
  lanes lanes_;
  std::vector<tally> tallies_;
  std::vector<std::vector<std::uint32_t>> latencies_;
  std::vector<double> rates_;
};

census take_census(const bench_case& what, const named_subject& of) {
  const temporary_folder folder;
  return what.count([&] { return of.make(folder.path()); }, what.threads);
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

std::vector<measurement> measure(const bench_case& what, const schedule& when) {
  std::vector<census> needs;
  for (const auto& each : what.subjects) needs.push_back(take_census(what, each));
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
