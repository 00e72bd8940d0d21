// What rowlock costs beside the bare statements. Not built on Google Benchmark, because it cannot interleave the
// subjects of a case within one run, gives no percentiles over single cycles, and has a JSON format of its own.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <exception>
#include <iterator>
#include <optional>
#include <regex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cases.hpp"
#include "crew.hpp"
#include "measure.hpp"
#include "result.hpp"
#include "server.hpp"

namespace {

constexpr const char* footer =
    "The ratio is the time of a cycle beside that of the first raw subject of its case. Statements are counted by the "
    "database; PostgreSQL counts transactions, so that a cycle of for_update is one there. In the cases lock_in and "
    "confirm they are those of the caller's connection, BEGIN and COMMIT included where they are sent. In the case hot "
    "the times are those of waiting for the lock. In wake they, and its cycles, are those from the call of one process "
    "that lets go to the grant in another. In the cases sweep the longest time is that of one "
    "statement that deletes or looks for what to delete, a cycle of sweep, all rows old, is a row, and nothing is "
    "counted.";

struct options {
  bool quick = false;
  std::optional<std::string> only;
  std::optional<std::string> json;
  std::vector<std::string> databases;
};

/// Keeps the subjects that match, and beside them the raw one that they are compared with.
template <class Case>
std::vector<Case> chosen(std::vector<Case> all, const std::string& pattern) {
  const std::regex wanted{pattern};
  std::vector<Case> kept;
  for (auto& each : all) {
    const auto matches = [&](const auto& subject) {
      return std::regex_search(each.database + ": " + each.name + ": " + subject.name, wanted);
    };
    auto& subjects = each.subjects;
    if (std::none_of(subjects.begin(), subjects.end(), matches)) continue;
    if constexpr (requires { each.measure_whole; })
      if (each.measure_whole) {
        kept.push_back(std::move(each));
        continue;
      }
    std::erase_if(subjects, [&](const auto& subject) { return !subject.is_raw() && !matches(subject); });
    kept.push_back(std::move(each));
  }
  return kept;
}

/// What there is to measure: within this process, and between processes.
struct program {
  std::vector<bench::bench_case> cases;
  std::vector<bench::contest> contests;
};

program everything(const options& asked) {
  program all;
#ifdef ROWLOCK_WITH_SQLITE
  all = {bench::sqlite_cases(), bench::sqlite_contests()};
#endif
  for (const auto& server : bench::open_servers(asked.databases)) {
    for (auto& each : bench::cases_on(server)) all.cases.push_back(std::move(each));
    for (auto& each : bench::contests_on(server)) all.contests.push_back(std::move(each));
  }
  return all;
}

program what_is_asked_for(const options& asked) {
  const auto pattern = asked.only.value_or("");
  auto all = everything(asked);
  program kept{chosen(std::move(all.cases), pattern), chosen(std::move(all.contests), pattern)};
  if (kept.cases.empty() && kept.contests.empty())
    throw std::invalid_argument{fmt::format("nothing to measure matches \"{}\"", pattern)};
  return kept;
}

bench::schedule schedule_for(const options& asked) {
  if (asked.quick) return {.rounds = 3, .slices = 1, .slice = std::chrono::milliseconds{25}, .counted = 32};
  return {};
}

void run(const options& asked) {
  const auto what = what_is_asked_for(asked);
  std::vector<bench::result> results;
  const auto report = [&](const std::vector<bench::result>& of_case) {
    bench::print_table(of_case);
    results.insert(results.end(), of_case.begin(), of_case.end());
  };
  for (const auto& each : what.cases)
    report(bench::evaluate(
        each, each.measure_whole ? each.measure_whole(asked.quick) : bench::measure(each, schedule_for(asked))));
  for (const auto& each : what.contests) report(bench::evaluate(each, each.measure(each, asked.quick)));
  if (asked.json) bench::write_json(*asked.json, results);
}

void add_databases(CLI::App& app, std::vector<std::string>& to) {
  std::string forms;
  std::string variables;
  for (const auto& each : bench::server_kinds()) {
    forms += fmt::format("{}{}//user:password@host:port/database", forms.empty() ? "" : "|", each.scheme);
    variables += fmt::format("{}{}", variables.empty() ? "" : ", ", each.variable);
  }
  if (forms.empty()) return;
  const auto* const what = "A database on a server, for tables that are gone afterwards; may be given several times";
  app.add_option("--database", to, fmt::format("{} (Env: {})", what, variables))
      ->type_name(forms)
      ->allow_extra_args(false);
}

}  // namespace

int main(int argc, char** argv) {
  if (rowlock::test::role_of(argc, argv) == bench::worker_role) return bench::work();
  options asked;
  CLI::App app{"Measures rowlock beside the bare statements, all subjects of a case interleaved in one run",
               "rowlock_bench"};
  app.add_flag("--quick", asked.quick, "Shorter rounds: does it run? rather than how fast");
  app.add_option("--only", asked.only, "Only what this regular expression finds in \"database: case: subject\"")
      ->type_name("PATTERN");
  app.add_option("--json", asked.json, "Also write the results there")->type_name("FILE");
  add_databases(app, asked.databases);
  app.footer(footer);
  CLI11_PARSE(app, argc, argv);
  try {
    run(asked);
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "rowlock_bench: {}\n", e.what());
    return 1;
  }
}
