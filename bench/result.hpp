#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "contest.hpp"
#include "measure.hpp"

namespace bench {

/// One line of the report.
struct result {
  std::string bench_case{};
  std::string database{};
  std::string subject{};
  std::size_t processes = 1;
  std::size_t threads = 1;
  double cycles_per_s = 0;       ///< the median of the rounds
  std::vector<double> rounds{};  ///< cycles per second in each of them
  double p50_us = 0;
  double p90_us = 0;
  double p99_us = 0;
  double max_us = 0;
  std::string baseline{};  ///< the subject that it is compared with
  /// How many times as long as the baseline it takes: the median of the rounds, each compared with its own.
  double ratio = 1;
  /// What the slowest thread did, beside the mean of all; 1 is fair. nullopt: threads did not compete.
  std::optional<double> slowest_share{};
  census needs{};
  double own_cores = 0;
  double busy_cores = 0;
  std::map<std::string, double> figures{};
};

/// 0 of nothing.
double median(std::vector<double> of);

std::vector<result> evaluate(const bench_case& what, const std::vector<measurement>& measured);
std::vector<result> evaluate(const contest& what, const std::vector<measurement>& measured);

void print_table(const std::vector<result>& of_one_case);

/// One line of JSON for each.
void write_lines(std::ostream& to, const std::vector<result>& results);
/// What write_lines() wrote. Throws std::exception where it is something else.
std::vector<result> read_lines(std::istream& from);

}  // namespace bench
