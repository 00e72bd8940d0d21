#include <rowlock/rowlock.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <latch>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ground.hpp"

namespace bench {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

/// So many callers of one client, each of which acquires and releases a name again and again: threads, or coroutines.
struct callers {
  std::size_t number = 1;
  bool is_hot = false;  ///< all want one name

  rowlock::lock_name name(std::size_t caller) const { return fmt::format("async/{}", is_hot ? 0 : caller); }
};

/// The cycles of one caller.
struct tally {
  std::vector<std::uint32_t> times_ns;
  std::exception_ptr failure;
};

std::uint32_t since(clock::time_point began) {
  return static_cast<std::uint32_t>(std::chrono::nanoseconds{clock::now() - began}.count());
}

measurement joined(std::vector<tally> all, std::chrono::duration<double> length) {
  measurement out;
  std::size_t cycles = 0;
  for (auto& each : all) {
    if (each.failure) std::rethrow_exception(each.failure);
    cycles += each.times_ns.size();
    out.latencies_ns.insert(out.latencies_ns.end(), each.times_ns.begin(), each.times_ns.end());
  }
  out.rates = {static_cast<double>(cycles) / length.count()};
  return out;
}

measurement by_threads(rowlock::client& locks, const callers& who, std::chrono::milliseconds length) {
  std::vector<tally> all(who.number);
  const auto began = clock::now();
  {
    std::vector<std::jthread> threads;
    for (std::size_t caller = 0; caller < who.number; ++caller)
      threads.emplace_back([&, caller] {
        try {
          for (const auto name = who.name(caller); clock::now() < began + length;) {
            const auto start = clock::now();
            locks.acquire(name).release();
            all[caller].times_ns.push_back(since(start));
          }
        } catch (...) {
          all[caller].failure = std::current_exception();
        }
      });
  }
  return joined(std::move(all), clock::now() - began);
}

struct free_coroutine {
  struct promise_type {
    free_coroutine get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }
  };
};

free_coroutine cycle_until(rowlock::client& locks, rowlock::lock_name name, clock::time_point end, tally& to,
                           std::latch& done) {
  try {
    while (clock::now() < end) {
      const auto start = clock::now();
      auto held = co_await locks.acquire_async(name);
      co_await held.release_async();
      to.times_ns.push_back(since(start));
    }
  } catch (...) {
    to.failure = std::current_exception();
  }
  done.count_down();
}

measurement by_coroutines(rowlock::client& locks, const callers& who, std::chrono::milliseconds length) {
  std::vector<tally> all(who.number);
  std::latch done{static_cast<std::ptrdiff_t>(who.number)};
  const auto began = clock::now();
  for (std::size_t caller = 0; caller < who.number; ++caller)
    cycle_until(locks, who.name(caller), began + length, all[caller], done);
  done.wait();
  return joined(std::move(all), clock::now() - began);
}

void add(measurement& to, measurement round) {
  to.rates.insert(to.rates.end(), round.rates.begin(), round.rates.end());
  to.latencies_ns.insert(to.latencies_ns.end(), round.latencies_ns.begin(), round.latencies_ns.end());
}

/// Each in tables and with a client of its own; the rounds take turns.
std::vector<measurement> measure_callers(const make_ground& make, const callers& who, bool is_quick) {
  const auto length = is_quick ? 100ms : 2000ms;
  const std::size_t rounds = is_quick ? 1 : 5;
  std::vector<ground> places{make(), make()};
  std::vector<rowlock::client> clients;
  for (const auto& each : places) {
    clients.push_back(rowlock::client::connect(each.at.url, each.options()));
    clients.back().migrate();
  }
  std::vector<measurement> out(2);
  by_threads(clients[0], who, length / 10);  // connects, and makes the rows
  by_coroutines(clients[1], who, length / 10);
  for (std::size_t round = 0; round < rounds; ++round) {
    add(out[0], by_threads(clients[0], who, length));
    add(out[1], by_coroutines(clients[1], who, length));
  }
  for (auto& each : out) std::sort(each.latencies_ns.begin(), each.latencies_ns.end());
  return out;
}

}  // namespace

std::vector<bench_case> async_cases(const std::string& database, const make_ground& make) {
  std::vector<bench_case> out;
  for (const auto& who : {callers{.number = 1}, callers{.number = 32, .is_hot = true}, callers{.number = 256}})
    out.push_back(whole_case(fmt::format("asynchronous, {} caller{}, {}", who.number, who.number == 1 ? "" : "s",
                                         who.is_hot ? "one name" : "distinct names"),
                             database, who.number,
                             {"rowlock unique_index, threads", "rowlock unique_index, coroutines"},
                             [make, who](bool is_quick) { return measure_callers(make, who, is_quick); }));
  return out;
}

}  // namespace bench
