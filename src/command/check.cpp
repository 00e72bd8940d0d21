#include "command/subcommands.hpp"

#include <fmt/format.h>
#include <rowlock/rowlock.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/boot_clock.hpp"
#include "command/database.hpp"
#include "command/output.hpp"
#include "command/words.hpp"

namespace rowlock::command {

namespace {

using namespace std::chrono_literals;

// --- the findings ----------------------------------------------------------------------------------------------------

struct diagnosis {
  std::vector<finding> findings{};
  int status = exit_status::done;
};

/// By the first failure, which is likely to be the cause of the others.
int status_by(const std::vector<finding>& findings) {
  for (const auto& each : findings) {
    if (each.condition != condition::failed) continue;
    if (each.subject == "privileges") return exit_status::no_permission;
    return each.subject == "schema" ? exit_status::schema : exit_status::out_of_reach;
  }
  return exit_status::done;
}

diagnosis without_database(const error& e) {
  const auto* const culprit = e.code() == errc::schema_missing ? "schema" : "connection";
  diagnosis out{.status = status_of(e)};
  for (const std::string subject : {"connection", "schema", "privileges", "clock", "log settings", "cluster"})
    if (subject == culprit)
      out.findings.push_back({subject, condition::failed, e.what()});
    else
      out.findings.push_back({subject, condition::unknown, "not checked"});
  return out;
}

// The observer is silent: the findings include the warnings about settings.
diagnosis diagnose_database(const options& given) try {
  auto findings = connect(given, [](const event&) {}).diagnose();
  const int status = status_by(findings);
  return {.findings = std::move(findings), .status = status};
} catch (const error& e) {
  if (status_of(e) == exit_status::usage) throw;
  return without_database(e);
}

diagnosis diagnose(const options& given) {
  auto out = diagnose_database(given);
  if (const auto sentence = advice_about_file(given))
    out.findings.push_back({"password", condition::advice, *sentence});
  return out;
}

json findings_in_json(const std::vector<finding>& findings) {
  return array_of(findings, [](const finding& each) -> json {
    return {{"subject", each.subject},
            {"condition", to_string(each.condition)},
            {"sentence", in_words_of_the_shell(each.sentence)}};
  });
}

void print_lines(const std::vector<finding>& findings) {
  std::vector<table_line> lines;
  for (const auto& each : findings)
    lines.push_back({each.subject, std::string{to_string(each.condition)}, in_words_of_the_shell(each.sentence)});
  write_table(std::cout, lines);
}

// --- the measurement -------------------------------------------------------------------------------------------------

/// Cycles of acquire and release, each thread with a name of its own.
struct measured_cycles {
  std::string commits;  ///< "as now", or "relaxed": the commits of grants did not wait for the disk
  std::size_t threads = 0;
  double per_second = 0;
  duration acquire{};  ///< so are the next ones: the median
  duration release{};
  duration both{};
};

/// The cost of a grant on the server of the options, from this host.
struct measurement {
  duration read{};                        ///< of one row: the median
  std::vector<measured_cycles> cycles{};  ///< first those of one thread, as now
};

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

/// A name that no other process uses.
std::string new_name() {
  std::random_device dice;
  return fmt::format("rowlock check --measure {:08x}{:08x}", dice(), dice());
}

held_lock acquire_soon(client& locks, const std::string& name) {
  auto held = locks.try_acquire_for(name, 2s);
  if (held) return std::move(*held);
  throw failure{"nothing was granted within 2s, so nothing was measured; rowlock guard says if a quarantine is on",
                exit_status::out_of_reach};
}

std::vector<cycle> cycles_until(base::instant end, client& locks, const std::string& name) {
  std::vector<cycle> out;
  do {
    const auto begin = base::now();
    auto held = acquire_soon(locks, name);
    const auto acquired = base::now();
    held.release();
    out.push_back({.acquire = acquired - begin, .release = base::now() - acquired});
  } while (base::now() < end);
  return out;
}

/// Of all threads together. The first cycle of each opens a session, so it is left out of the measurement.
measured_cycles cycles_of(std::size_t threads, duration length, client& locks, const std::string& commits) {
  std::vector<std::future<std::vector<cycle>>> running;
  for (std::size_t i = 0; i < threads; ++i)
    running.push_back(std::async(std::launch::async, [&locks, length] {
      const auto name = new_name();
      acquire_soon(locks, name).release();
      return cycles_until(base::now() + length, locks, name);
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
  for (const auto end = base::now() + length; reads.empty() || base::now() < end;) {
    const auto begin = base::now();
    locks.find(name);
    reads.push_back(base::now() - begin);
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

/// Takes about options::measures_for. It acquires locks of new names, which the next sweeps delete. Throws failure, if
/// nothing is granted, and error.
measurement measure(const options& given) {
  const auto silent = [](const event&) {};
  const auto part = given.measures_for / 5;
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

json measured_in_json(const measurement& of) {
  auto cycles = array_of(of.cycles, [](const measured_cycles& each) -> json {
    return {{"commits", each.commits},
            {"threads", each.threads},
            {"per_second", std::llround(each.per_second)},
            {"median_us", microseconds(each.both)}};
  });
  return {{"read_us", microseconds(of.read)},
          {"acquire_us", microseconds(of.cycles.front().acquire)},
          {"release_us", microseconds(of.cycles.front().release)},
          {"cycles", std::move(cycles)}};
}

void print_lines(const measurement& of) {
  const auto in_milliseconds = [](duration d) {
    return fmt::format("{:.2f} ms", std::chrono::duration<double, std::milli>(d).count());
  };
  std::vector<table_line> lines{{"", "median", "per second"},
                                {"read", in_milliseconds(of.read), ""},
                                {"acquire", in_milliseconds(of.cycles.front().acquire), ""},
                                {"release", in_milliseconds(of.cycles.front().release), ""}};
  for (const auto& each : of.cycles)
    lines.push_back({"cycles, " + counted(each.threads, "thread") + ", " + each.commits, in_milliseconds(each.both),
                     fmt::format("{:.0f}", each.per_second)});
  std::cout << '\n';
  write_table(std::cout, lines);
}

}  // namespace

int check(const options& given) {
  const auto [findings, status] = diagnose(given);
  if (!given.as_json) print_lines(findings);
  std::cout << std::flush;  // a measurement takes its time
  std::optional<measurement> measured;
  std::exception_ptr why_not;
  try {
    if (given.measures && status == exit_status::done) measured = measure(given);
  } catch (...) {
    why_not = std::current_exception();
  }
  if (given.as_json && given.measures)
    print({{"findings", findings_in_json(findings)}, {"measured", measured ? measured_in_json(*measured) : json{}}});
  else if (given.as_json)
    print(findings_in_json(findings));
  else if (measured)
    print_lines(*measured);
  if (why_not) std::rethrow_exception(why_not);
  return status;
}

}  // namespace rowlock::command
