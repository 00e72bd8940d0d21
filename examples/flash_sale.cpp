// A flash sale: many buyers in many processes, one item, one order per user. Without a lock it goes wrong.

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "flash_sale/interrupts.hpp"
#include "flash_sale/options.hpp"
#include "flash_sale/report.hpp"
#include "flash_sale/run.hpp"
#include "flash_sale/shop.hpp"
#include "flash_sale/strategies.hpp"
#include "flash_sale/temporary_folder.hpp"
#include "flash_sale/worker.hpp"

namespace {

using flash_sale::run_result;

bool took_no_lock(const run_result& result) { return result.strategy == flash_sale::without_lock; }

/// The worst run with a lock, if there was one.
const run_result& worst_of(const std::vector<run_result>& results) {
  return *std::max_element(results.begin(), results.end(), [](const auto& a, const auto& b) {
    if (took_no_lock(a) != took_no_lock(b)) return took_no_lock(a);
    return a.errors() < b.errors();
  });
}

std::vector<run_result> run_all(const flash_sale::options& options, const flash_sale::interrupts& signals) {
  std::optional<flash_sale::temporary_folder> folder;
  if (!options.database) folder.emplace();
  const auto where = flash_sale::parse_database(
      options.database ? *options.database : flash_sale::sqlite_url((folder->path() / "shop.db").string()));
  std::vector<run_result> results;
  flash_sale::print_heading(options.sale);
  for (const auto& strategy : options.runs) {
    results.push_back(flash_sale::run(options.sale, where, strategy, signals));
    flash_sale::print_row(results.back());
  }
  return results;
}

int sell(const flash_sale::options& options) {
  const flash_sale::interrupts signals;
  const auto results = run_all(options, signals);
  if (options.json) flash_sale::write_json(*options.json, options.sale, results);
  if (took_no_lock(results.front())) flash_sale::print_damage(results.front());
  const auto& worst = worst_of(results);
  flash_sale::print_summary(worst);
  return took_no_lock(worst) || worst.errors() == 0 ? 0 : 1;
}

/// Ends as the signal would have ended it, now that everything is cleared away.
int end_by(int signal) {
  std::fflush(nullptr);
  ::raise(signal);
  return 128 + signal;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto parsed = flash_sale::parse_options(argc, argv);
    if (parsed.exit_status) return *parsed.exit_status;
    return parsed.options.is_worker ? flash_sale::work() : sell(parsed.options);
  } catch (const flash_sale::interrupted& by) {
    return end_by(by.signal);
  } catch (const std::exception& e) {
    fmt::print(stderr, "flash_sale: {}\n", e.what());
    return 1;
  }
}
