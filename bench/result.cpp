#include "result.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {
namespace {

double median(std::vector<double> of) {
  if (of.empty()) return 0;
  std::sort(of.begin(), of.end());
  const auto middle = of.size() / 2;
  return of.size() % 2 == 1 ? of[middle] : (of[middle - 1] + of[middle]) / 2;
}

double percentile_us(const std::vector<std::uint32_t>& sorted_ns, double share) {
  return percentile(sorted_ns, share) / 1000;
}

double ratio(const measurement& raw, const measurement& to) {
  std::vector<double> ratios;
  for (std::size_t round = 0; round < raw.rates.size(); ++round) ratios.push_back(raw.rates[round] / to.rates[round]);
  return median(ratios);
}

double rounded(double number, int digits) {
  const double scale = std::pow(10, digits);
  return std::round(number * scale) / scale;
}

nlohmann::ordered_json to_json(const result& from) {
  nlohmann::ordered_json to{{"case", from.bench_case},
                            {"database", from.database},
                            {"subject", from.subject},
                            {"processes", from.processes},
                            {"threads", from.threads},
                            {"cycles_per_s", rounded(from.cycles_per_s, 1)},
                            {"p50_us", rounded(from.p50_us, 2)},
                            {"p99_us", rounded(from.p99_us, 2)},
                            {"connections", from.needs.connections},
                            {"statements_per_cycle", rounded(from.needs.statements_per_cycle, 2)},
                            {"ratio_to_raw", nullptr}};
  if (from.ratio_to_raw) to["ratio_to_raw"] = rounded(*from.ratio_to_raw, 3);
  if (from.max_us) to["max_us"] = rounded(*from.max_us, 2);
  if (from.p99_ratio) to["p99_ratio"] = rounded(*from.p99_ratio, 3);
  return to;
}

/// What a bench_case and a contest have in common.
template <class Case>
std::vector<result> evaluate_any(const Case& what, const std::vector<measurement>& measured) {
  std::vector<result> results;
  for (std::size_t at = 0; at < measured.size(); ++at) {
    results.push_back({.bench_case = what.name,
                       .database = what.database,
                       .subject = what.subjects[at].name,
                       .cycles_per_s = median(measured[at].rates),
                       .p50_us = percentile_us(measured[at].latencies_ns, 0.50),
                       .p99_us = percentile_us(measured[at].latencies_ns, 0.99),
                       .max_us = measured[at].longest_us,
                       .needs = measured[at].needs,
                       .p99_ratio = measured[at].p99_ratio});
    if (what.subjects.front().is_raw()) results.back().ratio_to_raw = ratio(measured.front(), measured[at]);
  }
  return results;
}

std::string in_table(const std::optional<double>& number, int digits) {
  return number ? fmt::format("{:.{}f}", *number, digits) : "-";
}

}  // namespace

std::vector<result> evaluate(const bench_case& what, const std::vector<measurement>& measured) {
  auto results = evaluate_any(what, measured);
  for (auto& each : results) each.threads = what.threads;
  return results;
}

std::vector<result> evaluate(const contest& what, const std::vector<measurement>& measured) {
  auto results = evaluate_any(what, measured);
  for (std::size_t at = 0; at < results.size(); ++at) {
    results[at].processes = what.processes;
    if (!measured[at].latencies_ns.empty()) results[at].max_us = percentile_us(measured[at].latencies_ns, 1);
  }
  return results;
}

void print_table(const std::vector<result>& of_one_case) {
  if (of_one_case.empty()) return;
  fmt::print("{}: {}\n", of_one_case.front().database, of_one_case.front().bench_case);
  std::size_t width = 0;
  for (const auto& each : of_one_case) width = std::max(width, each.subject.size());
  fmt::print("  {:<{}}{:>10}{:>10}{:>10}{:>11}{:>13}{:>18}{:>14}\n", "subject", width, "cycles/s", "p50 us", "p99 us",
             "max us", "connections", "statements/cycle", "ratio to raw");
  for (const auto& each : of_one_case)
    fmt::print("  {:<{}}{:>10.0f}{:>10.1f}{:>10.1f}{:>11}{:>13}{:>18.2f}{:>14}\n", each.subject, width,
               each.cycles_per_s, each.p50_us, each.p99_us, in_table(each.max_us, 1), each.needs.connections,
               each.needs.statements_per_cycle, in_table(each.ratio_to_raw, 2));
  for (const auto& each : of_one_case)
    if (each.p99_ratio) fmt::print("  {}: {:.2f} times the p99\n", each.subject, *each.p99_ratio);
  fmt::print("\n");
  std::fflush(stdout);
}

void write_json(const std::string& file, const std::vector<result>& results) {
  auto all = nlohmann::ordered_json::array();
  for (const auto& each : results) all.push_back(to_json(each));
  std::ofstream out{file};
  out << all.dump(2) << '\n';
  out.close();
  if (!out) throw std::runtime_error{fmt::format("{}: cannot be written", file)};
}

}  // namespace bench
