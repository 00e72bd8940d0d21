#include "command/measure.hpp"

#include <fmt/format.h>
#include <rowlock/rowlock.hpp>

#include <algorithm>
#include <chrono>
#include <future>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "command/database.hpp"
#include "command/exit_status.hpp"

namespace rowlock::command {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr int few = 1;
constexpr int many = 8;

/// The times of calls, one after the other, until the end.
struct times {
  std::vector<duration> acquire{};
  std::vector<duration> release{};
  std::vector<duration> cycle{};
};

duration median(std::vector<duration> of) {
  const auto middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
  std::nth_element(of.begin(), middle, of.end());
  return *middle;
}

duration since(clock::time_point begin) { return std::chrono::duration_cast<duration>(clock::now() - begin); }

/// A name that no other process uses.
std::string new_name() {
  std::random_device dice;
  return fmt::format("rowlock check --measure {:08x}{:08x}", dice(), dice());
}

times cycles_until(clock::time_point end, client& locks, const std::string& name) {
  times out;
  do {
    const auto begin = clock::now();
    auto held = locks.try_acquire_for(name, 2s);
    if (!held)
      throw failure{"nothing was granted within 2s, so nothing was measured; rowlock guard says if a quarantine is on",
                    exit_status::out_of_reach};
    out.acquire.push_back(since(begin));
    const auto releasing = clock::now();
    held->release();
    out.release.push_back(since(releasing));
    out.cycle.push_back(since(begin));
  } while (clock::now() < end);
  return out;
}

/// Of all threads together. The first cycle of each opens a session, so it is left out of the measurement.
times cycles_of(int threads, duration length, client& locks) {
  std::vector<std::future<times>> running;
  for (int i = 0; i < threads; ++i)
    running.push_back(std::async(std::launch::async, [&locks, length] {
      const auto name = new_name();
      locks.acquire(name).release();
      return cycles_until(clock::now() + length, locks, name);
    }));
  times all;
  for (auto& each : running) {
    const auto one = each.get();
    all.acquire.insert(all.acquire.end(), one.acquire.begin(), one.acquire.end());
    all.release.insert(all.release.end(), one.release.begin(), one.release.end());
    all.cycle.insert(all.cycle.end(), one.cycle.begin(), one.cycle.end());
  }
  return all;
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
  return median(std::move(reads));
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
  measurement out{.read = time_of_read(part, locks)};
  const auto add = [&](const std::string& commits, int threads, client& by) {
    auto seen = cycles_of(threads, part, by);
    const double per_second = static_cast<double>(seen.cycle.size()) / std::chrono::duration<double>(part).count();
    out.cycles.push_back(
        {.commits = commits, .threads = threads, .per_second = per_second, .median = median(seen.cycle)});
    return seen;
  };
  const auto alone = add("as now", few, locks);
  out.acquire = median(alone.acquire);
  out.release = median(alone.release);
  add("as now", many, locks);
  auto other = given;
  other.database = relaxed(database_url(given));
  if (other.database.empty() || locks.guard().relaxed) return out;
  try {
    auto without_disk = connect(other, silent);
    add("relaxed", few, without_disk);
    add("relaxed", many, without_disk);
  } catch (const error&) {  // a pooler may refuse the setting
    std::erase_if(out.cycles, [](const measured_cycles& each) { return each.commits == "relaxed"; });
  }
  return out;
}

}  // namespace rowlock::command
