#include "result.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace bench {
namespace {

double percentile_us(const measurement& of, double share) { return percentile(of.latencies_ns, share) / 1000; }

double ratio(const measurement& baseline, const measurement& to) {
  std::vector<double> ratios;
  for (std::size_t round = 0; round < baseline.rates.size(); ++round)
    ratios.push_back(baseline.rates[round] / to.rates[round]);
  return median(ratios);
}

double rounded(double number, int digits) {
  const double scale = std::pow(10, digits);
  return std::round(number * scale) / scale;
}

std::optional<double> slowest_share(const measurement& of) {
  return of.slowest_shares.empty() ? std::nullopt : std::optional{median(of.slowest_shares)};
}

/// What a bench_case and a contest have in common.
template <class Case>
std::vector<result> evaluate_any(const Case& what, const std::vector<measurement>& measured) {
  std::vector<result> results;
  for (std::size_t at = 0; at < measured.size(); ++at) {
    const auto& of = measured[at];
    results.push_back({.bench_case = what.name,
                       .database = what.database,
                       .subject = what.subjects[at].name,
                       .cycles_per_s = median(of.rates),
                       .rounds = of.rates,
                       .p50_us = percentile_us(of, 0.50),
                       .p90_us = percentile_us(of, 0.90),
                       .p99_us = percentile_us(of, 0.99),
                       .max_us = percentile_us(of, 1),
                       .baseline = what.subjects.front().name,
                       .ratio = ratio(measured.front(), of),
                       .needs = of.needs,
                       .own_cores = of.own_cores,
                       .busy_cores = of.busy_cores,
                       .figures = of.figures});
  }
  return results;
}

nlohmann::ordered_json to_json(const result& from) {
  auto rounds = from.rounds;
  for (auto& each : rounds) each = rounded(each, 1);
  auto figures = from.figures;
  for (auto& [name, number] : figures) number = rounded(number, 3);
  nlohmann::ordered_json to{{"database", from.database},
                            {"case", from.bench_case},
                            {"subject", from.subject},
                            {"processes", from.processes},
                            {"threads", from.threads},
                            {"cycles_per_s", rounded(from.cycles_per_s, 1)},
                            {"rounds", rounds},
                            {"p50_us", rounded(from.p50_us, 2)},
                            {"p90_us", rounded(from.p90_us, 2)},
                            {"p99_us", rounded(from.p99_us, 2)},
                            {"max_us", rounded(from.max_us, 2)},
                            {"baseline", from.baseline},
                            {"ratio", rounded(from.ratio, 3)},
                            {"slowest_share", nullptr},
                            {"connections", from.needs.connections},
                            {"statements_per_cycle", rounded(from.needs.statements_per_cycle, 2)},
                            {"own_cores", rounded(from.own_cores, 2)},
                            {"busy_cores", rounded(from.busy_cores, 2)},
                            {"figures", figures}};
  if (from.slowest_share) to["slowest_share"] = rounded(*from.slowest_share, 3);
  return to;
}

result from_json(const nlohmann::json& from) {
  result to;
  from.at("database").get_to(to.database);
  from.at("case").get_to(to.bench_case);
  from.at("subject").get_to(to.subject);
  from.at("processes").get_to(to.processes);
  from.at("threads").get_to(to.threads);
  from.at("cycles_per_s").get_to(to.cycles_per_s);
  from.at("rounds").get_to(to.rounds);
  from.at("p50_us").get_to(to.p50_us);
  from.at("p90_us").get_to(to.p90_us);
  from.at("p99_us").get_to(to.p99_us);
  from.at("max_us").get_to(to.max_us);
  from.at("baseline").get_to(to.baseline);
  from.at("ratio").get_to(to.ratio);
  if (const auto& share = from.at("slowest_share"); !share.is_null()) to.slowest_share = share.get<double>();
  from.at("connections").get_to(to.needs.connections);
  from.at("statements_per_cycle").get_to(to.needs.statements_per_cycle);
  from.at("own_cores").get_to(to.own_cores);
  from.at("busy_cores").get_to(to.busy_cores);
  from.at("figures").get_to(to.figures);
  return to;
}

/// Nothing is what was not measured.
std::string cell(double number, int digits) { return number > 0 ? fmt::format("{:.{}f}", number, digits) : "-"; }

void print_rates(const std::vector<result>& of_one_case) {
  std::size_t width = 0;
  for (const auto& each : of_one_case) width = std::max(width, each.subject.size());
  constexpr const char* row = "  {:<{}} {:>9} {:>9} {:>9} {:>9} {:>9} {:>10} {:>8} {:>12} {:>17} {:>6}\n";
  fmt::print(row, "subject", width, "cycles/s", "ratio", "p50 us", "p90 us", "p99 us", "max us", "slowest",
             "connections", "statements/cycle", "cores");
  for (const auto& each : of_one_case)
    fmt::print(row, each.subject, width, cell(each.cycles_per_s, 0), cell(each.ratio, 2), cell(each.p50_us, 1),
               cell(each.p90_us, 1), cell(each.p99_us, 1), cell(each.max_us, 1),
               cell(each.slowest_share.value_or(0), 2), cell(static_cast<double>(each.needs.connections), 0),
               cell(each.needs.statements_per_cycle, 2), cell(each.busy_cores, 2));
}

}  // namespace

double median(std::vector<double> of) {
  if (of.empty()) return 0;
  std::sort(of.begin(), of.end());
  const auto middle = of.size() / 2;
  return of.size() % 2 == 1 ? of[middle] : (of[middle - 1] + of[middle]) / 2;
}

std::vector<result> evaluate(const bench_case& what, const std::vector<measurement>& measured) {
  auto results = evaluate_any(what, measured);
  for (std::size_t at = 0; at < results.size(); ++at) {
    results[at].threads = what.threads;
    if (what.threads > 1) results[at].slowest_share = slowest_share(measured[at]);
  }
  return results;
}

std::vector<result> evaluate(const contest& what, const std::vector<measurement>& measured) {
  auto results = evaluate_any(what, measured);
  for (auto& each : results) each.processes = what.processes;
  return results;
}

void print_table(const std::vector<result>& of_one_case) {
  if (of_one_case.empty()) return;
  fmt::print("{}: {}\n", of_one_case.front().database, of_one_case.front().bench_case);
  if (!of_one_case.front().rounds.empty()) print_rates(of_one_case);
  for (const auto& each : of_one_case)
    for (const auto& [name, number] : each.figures) fmt::print("  {}: {}: {:.2f}\n", each.subject, name, number);
  fmt::print("\n");
  std::fflush(stdout);
}

void write_lines(std::ostream& to, const std::vector<result>& results) {
  for (const auto& each : results) to << to_json(each).dump() << '\n';
}

std::vector<result> read_lines(std::istream& from) {
  std::vector<result> results;
  for (std::string line; std::getline(from, line);) results.push_back(from_json(nlohmann::json::parse(line)));
  return results;
}

}  // namespace bench
