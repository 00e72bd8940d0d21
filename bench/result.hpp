#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "contest.hpp"
#include "measure.hpp"

namespace bench {

/// One line of the report.
struct result {
  std::string bench_case;
  std::string database;
  std::string subject;
  std::size_t processes = 1;
  std::size_t threads = 1;
  double cycles_per_s = 0;  ///< the median of the rounds
  double p50_us = 0;
  double p99_us = 0;
  std::optional<double> max_us{};  ///< where processes wait for each other, or of the longest statement of a sweep
  census needs;
  /// How many times as long as the raw subject it takes: the median of the rounds, each compared with its own. nullopt:
  /// there is none.
  std::optional<double> ratio_to_raw{};
  std::optional<double> p99_ratio{};  ///< to that of the first subject
};

std::vector<result> evaluate(const bench_case& what, const std::vector<measurement>& measured);
std::vector<result> evaluate(const contest& what, const std::vector<measurement>& measured);

void print_table(const std::vector<result>& of_one_case);
/// Throws std::runtime_error where the file cannot be written.
void write_json(const std::string& file, const std::vector<result>& results);

}  // namespace bench
