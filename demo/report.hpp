#pragma once

#include <string>
#include <vector>

#include "run.hpp"
#include "sale.hpp"

namespace flash_sale {

/// A row of the table, as people read it.
struct figures {
  std::string sold;
  std::string oversold;
  std::string double_orders;
  std::string orders_per_second;
  std::string wait_p50;
  std::string wait_p99;
};
figures figures_of(const run_result& result);

void print_heading(const sale& what);
void print_row(const run_result& result);
/// What went wrong in the run without a lock, in a sentence.
void print_damage(const run_result& unlocked);
/// A mistake and what is right, in a line.
void print_unlocking(const run_result& before_commit, const run_result& after_commit);
void print_pausing(const run_result& going_on, const run_result& confirming);
/// The verdict: the last line. Throws std::runtime_error where nobody can read it.
void print_summary(const run_result& worst);

/// Throws std::runtime_error where the file cannot be written.
void write_json(const std::string& file, const sale& what, const std::vector<run_result>& results);

}  // namespace flash_sale
