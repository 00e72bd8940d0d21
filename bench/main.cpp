// What rowlock costs beside the bare statements. Not built on Google Benchmark, because it cannot interleave the
// subjects of a case within one run, gives no percentiles over single cycles, and has a JSON format of its own.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <exception>
#include <iterator>
#include <optional>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

#include "measure.hpp"
#ifdef ROWLOCK_WITH_POSTGRESQL
#include "postgresql_cases.hpp"
#endif
#include "result.hpp"
#include "sqlite_cases.hpp"

namespace {

struct options {
  bool quick = false;
  std::optional<std::string> only;
  std::optional<std::string> json;
  std::optional<std::string> database;
};

/// Keeps the subjects that match, and beside them the raw one that they are compared with.
std::vector<bench::bench_case> chosen(std::vector<bench::bench_case> all, const std::string& pattern) {
  const std::regex wanted{pattern};
  std::vector<bench::bench_case> kept;
  for (auto& each : all) {
    const auto matches = [&](const bench::named_subject& subject) {
      return std::regex_search(each.database + ": " + each.name + ": " + subject.name, wanted);
    };
    auto& subjects = each.subjects;
    if (std::none_of(subjects.begin(), subjects.end(), matches)) continue;
    std::erase_if(subjects, [&](const auto& subject) { return !subject.is_raw() && !matches(subject); });
    kept.push_back(std::move(each));
  }
  if (kept.empty()) throw std::invalid_argument{fmt::format("nothing to measure matches \"{}\"", pattern)};
  return kept;
}

#ifdef ROWLOCK_WITH_POSTGRESQL
void add_postgresql(std::vector<bench::bench_case>& to, const options& asked) {
  if (!asked.database) {
    fmt::print(stderr, "PostgreSQL is left out: no --database tells where a server is\n");
    return;
  }
  for (auto& each : bench::postgresql_cases(*asked.database)) to.push_back(std::move(each));
}
#endif

std::vector<bench::bench_case> all_cases([[maybe_unused]] const options& asked) {
  auto all = bench::sqlite_cases();
#ifdef ROWLOCK_WITH_POSTGRESQL
  add_postgresql(all, asked);
#endif
  return all;
}

bench::schedule schedule_for(const options& asked) {
  if (asked.quick) return {.rounds = 5, .slices = 2, .slice = std::chrono::milliseconds{25}};
  return {};
}

void run(const options& asked) {
  std::vector<bench::result> results;
  for (const auto& each : chosen(all_cases(asked), asked.only.value_or(""))) {
    const auto of_case = bench::evaluate(each, bench::measure(each, schedule_for(asked)));
    bench::print_table(of_case);
    results.insert(results.end(), of_case.begin(), of_case.end());
  }
  if (asked.json) bench::write_json(*asked.json, results);
}

}  // namespace

int main(int argc, char** argv) {
  options asked;
  CLI::App app{"Measures rowlock beside the bare statements, all subjects of a case interleaved in one run",
               "rowlock_bench"};
  app.add_flag("--quick", asked.quick, "Shorter rounds: does it run? rather than how fast");
  app.add_option("--only", asked.only, "Only what this regular expression finds in \"database: case: subject\"")
      ->type_name("PATTERN");
  app.add_option("--json", asked.json, "Also write the results there")->type_name("FILE");
#ifdef ROWLOCK_WITH_POSTGRESQL
  app.add_option("--database", asked.database, "A PostgreSQL database, for tables that are gone afterwards")
      ->type_name("postgresql://user:password@host:port/database")
      ->envname("ROWLOCK_TEST_POSTGRESQL_URL");
#endif
  CLI11_PARSE(app, argc, argv);
  try {
    run(asked);
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "rowlock_bench: {}\n", e.what());
    return 1;
  }
}
