#include <rowlock/rowlock.hpp>

#include <fmt/format.h>

#include <chrono>
#include <future>
#include <stdexcept>
#include <utility>

#include "ground.hpp"
#include "subjects.hpp"

namespace bench {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr std::size_t threads = 16;
constexpr const char* longest_statement = "longest statement, ms";

struct amount {
  explicit amount(bool is_quick) : rows{is_quick ? 10'000U : 1'000'000U}, calm{is_quick ? 200ms : 10s} {}

  std::size_t rows;
  std::chrono::milliseconds calm;
};

double in_ms(std::chrono::duration<double, std::milli> time) { return time.count(); }

struct swept {
  std::chrono::duration<double> took{};
  rowlock::duration longest_call{};
};

/// With a client of its own, as another process has it.
swept sweep(const ground& of, std::size_t rows) {
  auto locks = rowlock::client::connect(of.at.url, of.options());
  rowlock::sweeper sweeper{locks, {.every = 24h}};
  const auto began = clock::now();
  if (sweeper.sweep_once() != rows) throw std::runtime_error{"a sweep did not find all old rows"};
  return {.took = clock::now() - began, .longest_call = sweeper.statistics().longest_call};
}

std::vector<measurement> measure_beside(const make_ground& make, bool is_quick) {
  const amount much{is_quick};
  const auto here = make();
  const auto handles = make_rowlock_handles(here.at.url, {}, here.options());
  add_old_rows(here, much.rows);
  const auto all = open_lanes(*handles, threads);
  run_cycles(all, 10);  // connects
  const auto began = clock::now();
  auto calm = run_while(all, [&] { return clock::now() - began < much.calm; });
  auto sweeping = std::async(std::launch::async, [&] { return sweep(here, much.rows); });
  auto beside = run_while(all, [&] { return sweeping.wait_for(0s) != std::future_status::ready; });
  beside.figures[longest_statement] = in_ms(sweeping.get().longest_call);
  beside.figures["p99 beside that without a sweep"] =
      percentile(beside.latencies_ns, 0.99) / percentile(calm.latencies_ns, 0.99);
  return {std::move(calm), std::move(beside)};
}

measurement of_rows(std::size_t rows, std::chrono::duration<double> took, std::chrono::duration<double> longest_call) {
  return {.rates = {static_cast<double>(rows) / took.count()}, .figures = {{longest_statement, in_ms(longest_call)}}};
}

std::vector<measurement> measure_removal(const make_ground& make, bool is_quick) {
  const amount much{is_quick};
  const auto by_hand = make();
  rowlock::client::connect(by_hand.at.url, by_hand.options()).migrate();
  add_old_rows(by_hand, much.rows);
  const auto connection = by_hand.at.connect();
  const auto began = clock::now();
  connection->execute(fmt::format("DELETE FROM {}lock WHERE version = 1", by_hand.prefix));
  const std::chrono::duration<double> took = clock::now() - began;

  const auto here = make();
  rowlock::client::connect(here.at.url, here.options()).migrate();
  add_old_rows(here, much.rows);
  const auto done = sweep(here, much.rows);
  return {of_rows(much.rows, took, took), of_rows(much.rows, done.took, done.longest_call)};
}

}  // namespace

std::vector<bench_case> sweep_cases(const std::string& database, const make_ground& make) {
  return {whole_case(fmt::format("sweep, {} threads beside it, distinct names", threads), database, threads,
                     {"rowlock unique_index", "rowlock unique_index, swept"},
                     [make](bool is_quick) { return measure_beside(make, is_quick); }),
          whole_case("sweep, all rows old", database, 1, {"raw DELETE", "rowlock sweeper"},
                     [make](bool is_quick) { return measure_removal(make, is_quick); })};
}

}  // namespace bench
