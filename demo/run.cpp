#include "run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "report.hpp"
#include "ways.hpp"

namespace flash_sale {
namespace {

constexpr const char* erase = "\r\033[K";

/// A line on a terminal that says how far a run is, and is gone with this object. Elsewhere nothing.
class progress_line {
 public:
  progress_line(std::string run, std::size_t units)
      : run_{std::move(run)}, units_{units}, on_terminal_{::isatty(STDERR_FILENO) == 1} {}
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;
  ~progress_line() {
    if (on_terminal_) std::fputs(erase, stderr);
  }

  void show(shop& of) const {
    if (!on_terminal_) return;
    const auto sold = static_cast<long long>(of.count().orders);
    std::fprintf(stderr, "%s%s: %lld/%zu sold", erase, run_.c_str(), sold, units_);
  }

 private:
  std::string run_;
  std::size_t units_;
  bool on_terminal_;
};

std::optional<std::chrono::microseconds> percentile(const std::vector<std::int64_t>& sorted, double share) {
  if (sorted.empty()) return std::nullopt;
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return std::chrono::microseconds{sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1]};
}

void add_waits(run_result& result, const std::vector<message>& messages) {
  std::vector<std::int64_t> waits;
  for (const auto& each : messages) waits.insert(waits.end(), each.waits_us.begin(), each.waits_us.end());
  std::sort(waits.begin(), waits.end());
  result.wait_p50 = percentile(waits, 0.50);
  result.wait_p99 = percentile(waits, 0.99);
}

void add_totals(run_result& result, const totals& found, const std::vector<message>& messages) {
  std::size_t bought = 0;
  for (const auto& each : messages) bought += each.bought;
  if (found.orders != static_cast<std::int64_t>(bought))
    throw std::runtime_error{fmt::format("the buyers made {} orders, but the shop has {}", bought, found.orders)};
  result.sold = found.orders;
  result.double_orders = found.orders - found.buyers;
  result.lost_updates = found.orders - (result.units - found.left);
}

/// What the workers of a run are to do.
task task_for(const sale& what, const database& where, const std::string& run) {
  return {.sale = what,
          .strategy = run,
          .shop_url = where.shop_url,
          .locks_url = locks_beside_shop(run) ? where.shop_url : where.locks_url};
}

/// Fills the shop, and makes the tables of the locks where the run has any.
void prepare(const task& what) {
  shop{what.shop_url}.reset(what.sale.units);
  if (what.strategy != without_lock) connect(what.locks_url).migrate();
}

std::int64_t microseconds_of(std::chrono::steady_clock::time_point when) {
  return std::chrono::duration_cast<std::chrono::microseconds>(when.time_since_epoch()).count();
}

timeline timeline_of(const task& what, std::vector<message> messages, std::int64_t first_oversold,
                     std::chrono::steady_clock::time_point began) {
  std::vector<std::vector<purchase>> lanes;
  for (auto& each : messages) std::move(each.purchases.begin(), each.purchases.end(), std::back_inserter(lanes));
  return make_timeline(std::move(lanes), what.recorded, microseconds_of(began), first_oversold);
}

/// By what the shop has and what the buyers say. Throws std::runtime_error where the two do not agree.
run_result result_of(const task& what, const totals& found, const std::vector<message>& messages) {
  run_result result{.strategy = what.strategy, .units = static_cast<std::int64_t>(what.sale.units)};
  add_waits(result, messages);
  add_totals(result, found, messages);
  return result;
}

constexpr sale last_unit{.units = 1, .processes = 1, .threads = 1};

message buy_the_last_unit(const database& where) {
  auto locks = connect(where.shop_url);
  shop from{where.shop_url};
  const auto held = locks.try_acquire_for(item, std::chrono::seconds{20});
  if (!held) throw std::runtime_error{"the lock of a process that stands still did not become free"};
  if (buy(from, {.user = 2}) != outcome::bought) throw std::runtime_error{"the last unit was not there"};
  return {.bought = 1};
}

/// The last unit: one process takes the lock, sees that there is a unit left, and is stopped (SIGSTOP). When its lease
/// is over another one buys the unit; then the first one is let go on (SIGCONT), and sells what it believes is there.
/// `name` is paused_without_confirm or paused_with_confirm.
run_result run_paused(const database& where, const std::string& name, const interrupts& signals) {
  const auto what = task_for(last_unit, where, name);
  prepare(what);
  crew late{what, signals};
  late.wait_until_ready();
  late.pause();
  const auto other = buy_the_last_unit(where);
  late.resume();
  late.start();
  auto messages = late.finish([] {});
  messages.push_back(other);
  return result_of(what, shop{where.shop_url}.count(), messages);
}

constexpr std::size_t most_units = 100;
constexpr int most_attempts = 5;

template <class Attempt>
run_result until_oversold(const Attempt& attempt) {
  auto result = attempt();
  for (int n = 1; n < most_attempts && result.oversold() == 0; ++n) result = attempt();
  return result;
}

run_result show_unlocking(sale what, const database& where, const interrupts& signals) {
  what.units = std::min(what.units, most_units);
  const auto run_as = [&](std::string_view name) { return run(what, where, std::string{name}, signals); };
  const auto wrong = until_oversold([&] { return run_as(unlocked_too_early); });
  auto right = run_as(unlocked_after_commit);
  print_unlocking(wrong, right);
  return right;
}

run_result show_pausing(const database& where, const interrupts& signals) {
  const auto run_as = [&](std::string_view name) { return run_paused(where, std::string{name}, signals); };
  const auto wrong = until_oversold([&] { return run_as(paused_without_confirm); });
  auto right = run_as(paused_with_confirm);
  print_pausing(wrong, right);
  return right;
}

}  // namespace

run_result run(const sale& what, const database& where, const std::string& strategy, const interrupts& signals,
               recording mode) {
  // No connection of this process is open while it starts others.
  auto common = task_for(what, where, strategy);
  if (mode == recording::on) common.recorded = purchases_remembered(what.processes * what.threads);
  prepare(common);
  crew workers{common, signals};
  workers.wait_until_ready();
  shop from{where.shop_url};
  progress_line progress{strategy, what.units};
  const auto began = std::chrono::steady_clock::now();
  workers.start();
  auto messages = workers.finish([&] { progress.show(from); });
  const auto took = std::chrono::steady_clock::now() - began;
  auto result = result_of(common, from.count(), messages);
  result.took = took;
  if (mode == recording::on)
    result.recorded = timeline_of(common, std::move(messages), from.first_order_beyond(what.units), began);
  return result;
}

std::vector<run_result> show_mistakes(const sale& what, const database& where, const interrupts& signals) {
  return {show_unlocking(what, where, signals), show_pausing(where, signals)};
}

}  // namespace flash_sale
