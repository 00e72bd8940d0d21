#include "command/measure.hpp"

#include <fmt/format.h>
#include <rowlock/rowlock.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command/database.hpp"
#include "command/exit_status.hpp"

namespace rowlock::command {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

struct cycle {
  duration acquire{};
  duration release{};
};

template <class Each, class Time>
duration median(std::vector<Each> of, Time time) {
  const auto middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
  std::ranges::nth_element(of, middle, {}, time);
  return std::invoke(time, *middle);
}

duration since(clock::time_point begin) { return std::chrono::duration_cast<duration>(clock::now() - begin); }

/// A name that no other process uses.
std::string new_name() {
  std::random_device dice;
  return fmt::format("rowlock check --measure {:08x}{:08x}", dice(), dice());
}

std::vector<cycle> cycles_until(clock::time_point end, client& locks, const std::string& name) {
  std::vector<cycle> out;
  do {
    const auto begin = clock::now();
    auto held = locks.try_acquire_for(name, 2s);
    if (!held)
      throw failure{"nothing was granted within 2s, so nothing was measured; rowlock guard says if a quarantine is on",
                    exit_status::out_of_reach};
    const auto acquired = since(begin);
    held->release();
    out.push_back({.acquire = acquired, .release = since(begin) - acquired});
  } while (clock::now() < end);
  return out;
}

/// Of all threads together. The first cycle of each opens a session, so it is left out of the measurement.
measured_cycles cycles_of(int threads, duration length, client& locks, const std::string& commits) {
  std::vector<std::future<std::vector<cycle>>> running;
  for (int i = 0; i < threads; ++i)
    running.push_back(std::async(std::launch::async, [&locks, length] {
      const auto name = new_name();
      locks.acquire(name).release();
      return cycles_until(clock::now() + length, locks, name);
    }));
  std::vector<cycle> all;
  for (auto& each : running) {
    const auto one = each.get();
    all.insert(all.end(), one.begin(), one.end());
  }
  return {.commits = commits,
          .threads = threads,
          .per_second = static_cast<double>(all.size()) / std::chrono::duration<double>(length).count(),
          .acquire = median(all, &cycle::acquire),
          .release = median(all, &cycle::release),
          .both = median(all, [](const cycle& one) { return one.acquire + one.release; })};
}

std::vector<measured_cycles> cycles_of_few_and_many(duration length, client& locks, const std::string& commits) {
  return {cycles_of(1, length, locks, commits), cycles_of(8, length, locks, commits)};
}

duration time_of_read(duration length, client& locks) {
  const auto name = new_name();
  std::vector<duration> reads;
  locks.find(name);
  for (const auto end = clock::now() + length; reads.empty() || clock::now() < end;) {
    const auto begin = clock::now();
    locks.find(name);
    reads.push_back(since(begin));
  }
  return median(std::move(reads), std::identity{});
}

/// The URL with which sessions do not wait for the disk, as grants do not under a relaxed guard; empty: there is none.
std::string relaxed(std::string url) {
  constexpr std::string_view setting = "options=-csynchronous_commit%3Doff";
  if (!url.starts_with("postgresql:") && !url.starts_with("postgres:")) return {};
  const auto begin = url.find('?');
  if (begin == std::string::npos) return url.append("?").append(setting);
  if (const auto at = url.find("options=", begin); at != std::string::npos)
    return url.replace(at, std::string_view{"options="}.size(), std::string{setting} + "%20");
  return url.append("&").append(setting);
}

}  // namespace

measurement measure(const options& given) {
  const auto silent = [](const event&) {};
  const auto part = given.check.length / 5;
  auto locks = connect(given, silent);
  measurement out{.read = time_of_read(part, locks), .cycles = cycles_of_few_and_many(part, locks, "as now")};
  auto other = given;
  other.database = relaxed(database_url(given));
  if (other.database.empty() || locks.guard().relaxed) return out;
  try {
    auto without_disk = connect(other, silent);
    for (auto& each : cycles_of_few_and_many(part, without_disk, "relaxed")) out.cycles.push_back(std::move(each));
  } catch (const error&) {  // a pooler may refuse the setting
  }
  return out;
}

}  // namespace rowlock::command
