// What rowlock costs beside the bare statements. Not built on Google Benchmark, because it cannot interleave the
// subjects of a case within one run, gives no percentiles over single cycles, and has a JSON format of its own.

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <exception>
#include <fstream>
#include <functional>
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
#include "memory.hpp"
#include "result.hpp"
#include "server.hpp"
#include "subjects.hpp"

namespace {

constexpr const char* footer =
    "The ratio is the time of a cycle beside that of the first subject of its case. \"slowest\" is what the slowest "
    "thread did beside the mean of all. \"cores\" are the processors that were busy, whoever kept them so; what this "
    "program used is in the JSON. Statements are counted by the database; PostgreSQL counts transactions, so that a "
    "cycle of for_update is one there, and a notification is one in each session that listens. In the cases lock_in "
    "and confirm they are those of the caller's connection, BEGIN and COMMIT included where they are sent. In the "
    "case hot the times are those of waiting for the lock. In wake they, and its cycles, are those from the call of "
    "one process that lets go to the grant in another. In the cases sweep the longest statement is the longest of "
    "those that delete or look for what to delete, a cycle of sweep, all rows old, is a row, and nothing is counted.";

struct options {
  bool quick = false;
  std::optional<std::string> only;
  std::optional<std::string> json;
  std::vector<std::string> databases;
};

/// Keeps the subjects that match, and beside them the first one, with which they are compared.
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
    subjects.erase(std::remove_if(subjects.begin() + 1, subjects.end(), std::not_fn(matches)), subjects.end());
    kept.push_back(std::move(each));
  }
  return kept;
}

/// What there is to measure: within this process, and between processes.
struct program {
  std::vector<bench::bench_case> cases;
  std::vector<bench::contest> contests;
};

void tell_of_redis() {
#ifdef ROWLOCK_WITH_HIREDIS
  if (bench::redis_subjects().empty())
    fmt::print(stderr, "Redis is left out: ROWLOCK_BENCH_REDIS_URL does not tell where a server is\n");
#else
  fmt::print(stderr, "Redis is left out: this program was built without hiredis\n");
#endif
}

program everything(const options& asked) {
  program all;
#ifdef ROWLOCK_WITH_SQLITE
  all = {bench::sqlite_cases(), bench::sqlite_contests()};
#endif
  tell_of_redis();
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

/// Where the results go, case by case: what was measured is kept even if a later case fails.
class report {
 public:
  explicit report(const std::optional<std::string>& file) {
    if (!file) return;
    file_.emplace(*file);
    if (!*file_) throw std::runtime_error{fmt::format("{}: cannot be written", *file)};
  }

  void add(const std::vector<bench::result>& of_one_case) {
    bench::print_table(of_one_case);
    if (!file_) return;
    bench::write_lines(*file_, of_one_case);
    if (!file_->flush()) throw std::runtime_error{"the results could not be written"};
  }

 private:
  std::optional<std::ofstream> file_;
};

void run(const options& asked) {
  const auto what = what_is_asked_for(asked);
  report results{asked.json};
  for (const auto& each : what.cases)
    results.add(bench::evaluate(
        each, each.measure_whole ? each.measure_whole(asked.quick) : bench::measure(each, asked.quick)));
  for (const auto& each : what.contests) results.add(bench::evaluate(each, each.measure(each, asked.quick)));
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
  const auto role = rowlock::test::role_of(argc, argv);
  if (role == bench::worker_role) return bench::work();
  if (role == bench::memory_role) return bench::measure_memory_of_this_process();
  options asked;
  CLI::App app{"Measures rowlock beside the bare statements, all subjects of a case interleaved in one run",
               "rowlock_bench"};
  app.add_flag("--quick", asked.quick, "Shorter rounds: does it run? rather than how fast");
  app.add_option("--only", asked.only, "Only what this regular expression finds in \"database: case: subject\"")
      ->type_name("PATTERN");
  app.add_option("--json", asked.json, "Also write the results there, a line of JSON for each")->type_name("FILE");
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
