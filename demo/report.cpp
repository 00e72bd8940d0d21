#include "report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace flash_sale {
namespace {

using wait = std::optional<std::chrono::microseconds>;

std::string in_milliseconds(const wait& waited) {
  if (!waited) return "-";
  return fmt::format("{:.2f} ms", static_cast<double>(waited->count()) / 1000);
}

nlohmann::ordered_json in_microseconds(const wait& waited) {
  if (!waited) return nullptr;
  return waited->count();
}

nlohmann::ordered_json to_json(const sale& what, const run_result& result) {
  return {{"strategy", result.strategy},
          {"units", result.units},
          {"sold", result.sold},
          {"oversold", result.oversold()},
          {"double_orders", result.double_orders},
          {"lost_updates", result.lost_updates},
          {"seconds", result.took.count()},
          {"orders_per_s", result.orders_per_second()},
          {"wait_p50_us", in_microseconds(result.wait_p50)},
          {"wait_p99_us", in_microseconds(result.wait_p99)},
          {"processes", what.processes},
          {"threads", what.threads},
          {"seed", what.seed}};
}

}  // namespace

figures figures_of(const run_result& result) {
  return {.sold = fmt::to_string(result.sold),
          .oversold = fmt::to_string(result.oversold()),
          .double_orders = fmt::to_string(result.double_orders),
          .orders_per_second = fmt::format("{:.0f}", result.orders_per_second()),
          .wait_p50 = in_milliseconds(result.wait_p50),
          .wait_p99 = in_milliseconds(result.wait_p99)};
}

void print_heading(const sale& what) {
  fmt::print("{} units of one item, {} users who click twice, {} processes x {} threads, seed {}\n\n", what.units,
             what.users(), what.processes, what.threads, what.seed);
  fmt::print("{:<16}{:>8}{:>10}{:>15}{:>10}{:>15}{:>15}\n", "run", "sold", "oversold", "double orders", "orders/s",
             "lock wait p50", "p99");
  std::fflush(stdout);
}

void print_row(const run_result& result) {
  const auto row = figures_of(result);
  fmt::print("{:<16}{:>8}{:>10}{:>15}{:>10}{:>15}{:>15}\n", result.strategy, row.sold, row.oversold, row.double_orders,
             row.orders_per_second, row.wait_p50, row.wait_p99);
  std::fflush(stdout);
}

void print_damage(const run_result& unlocked) {
  fmt::print("\nwithout a lock: {} oversold units, {} double orders, {} of {} changes of the stock lost\n",
             unlocked.oversold(), unlocked.double_orders, unlocked.lost_updates, unlocked.sold);
}

void print_unlocking(const run_result& before_commit, const run_result& after_commit) {
  fmt::print("unlocked before the commit: {} oversold units; after the commit: {}\n", before_commit.oversold(),
             after_commit.oversold());
  std::fflush(stdout);
}

void print_pausing(const run_result& going_on, const run_result& confirming) {
  fmt::print("paused past the end of its lease, then going on: {} oversold unit; with confirm before the commit: {}\n",
             going_on.oversold(), confirming.oversold());
  std::fflush(stdout);
}

void print_summary(const run_result& worst) {
  fmt::print("flash sale: sold {} of {}, oversold {}, double orders {}\n", worst.sold, worst.units, worst.oversold(),
             worst.double_orders);
  if (std::fflush(stdout) != 0) throw std::runtime_error{"standard output cannot be written"};
}

void write_json(const std::string& file, const sale& what, const std::vector<run_result>& results) {
  auto all = nlohmann::ordered_json::array();
  for (const auto& each : results) all.push_back(to_json(what, each));
  std::ofstream out{file};
  out << all.dump(2) << '\n';
  out.close();
  if (!out) throw std::runtime_error{fmt::format("{}: cannot be written", file)};
}

}  // namespace flash_sale
