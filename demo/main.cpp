// A flash sale: many buyers in many processes, one item, one order per user. Without a lock it goes wrong, and
// with one that is used badly, too.

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <utility>
#include <vector>

#include "crew.hpp"
#include "options.hpp"
#include "page.hpp"
#include "page_file.hpp"
#include "report.hpp"
#include "run.hpp"
#include "testkit/temp_folder.hpp"
#include "testkit/url.hpp"
#include "ways.hpp"
#include "worker.hpp"

namespace {

using flash_sale::run_result;

bool took_no_lock(const run_result& result) { return result.strategy == flash_sale::without_lock; }

/// The worst of what is to be right, if that was run.
const run_result& worst_of(const std::vector<run_result>& results) {
  return *std::max_element(results.begin(), results.end(), [](const auto& a, const auto& b) {
    if (took_no_lock(a) != took_no_lock(b)) return took_no_lock(a);
    return a.errors() < b.errors();
  });
}

std::vector<run_result> run_table(const flash_sale::options& options, const flash_sale::database& where,
                                  const flash_sale::interrupts& signals) {
  std::vector<run_result> results;
  const auto mode = options.report ? flash_sale::recording::on : flash_sale::recording::off;
  flash_sale::print_heading(options.sale);
  for (const auto& strategy : options.runs) {
    results.push_back(flash_sale::run(options.sale, where, strategy, signals, mode));
    flash_sale::print_row(results.back());
  }
  return results;
}

/// Without a database that was given, in a file that is gone afterwards.
int sell(const flash_sale::options& options) {
  const flash_sale::interrupts signals;
  const rowlock::test::temp_folder folder;
  const auto where =
      flash_sale::parse_database(options.database.value_or(rowlock::test::sqlite_url((folder / "shop.db").string())));
  auto results = run_table(options, where, signals);
  if (options.json) flash_sale::write_json(*options.json, options.sale, results);
  if (options.report) flash_sale::replace_page_file(*options.report, flash_sale::page_of(options.sale, where, results));
  if (took_no_lock(results.front())) flash_sale::print_damage(results.front());
  if (options.shows_mistakes)
    for (auto& right : flash_sale::show_mistakes(options.sale, where, signals)) results.push_back(std::move(right));
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
    if (rowlock::test::role_of(argc, argv) == flash_sale::worker_role) return flash_sale::work();
    const auto parsed = flash_sale::parse_options(argc, argv);
    return parsed.exit_status ? *parsed.exit_status : sell(parsed.options);
  } catch (const flash_sale::interrupted& by) {
    return end_by(by.signal);
  } catch (const std::exception& e) {
    fmt::print(stderr, "flash_sale: {}\n", e.what());
    return 1;
  }
}
