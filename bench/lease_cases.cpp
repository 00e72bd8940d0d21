#include <rowlock/rowlock.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ground.hpp"
#include "subjects.hpp"
#include "testkit/eventually.hpp"

namespace bench {

namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

census uncounted(const std::function<std::unique_ptr<subject>()>& /*make*/, std::size_t /*threads*/,
                 std::size_t /*cycles*/) {
  return {};
}

// --- renewals

struct crowd_of_leases {
  explicit crowd_of_leases(bool is_quick) : size{is_quick ? 1'000U : 10'000U}, lease{is_quick ? 3s : 15s} {}

  std::size_t size;
  std::chrono::seconds lease;
};

/// By several threads, each of which keeps what it has got.
std::vector<rowlock::held_lock> acquire_all(rowlock::client& locks, const crowd_of_leases& what) {
  constexpr std::size_t threads = 16;
  std::vector<std::optional<rowlock::held_lock>> slots(what.size);
  {
    std::vector<std::jthread> all;
    for (std::size_t first = 0; first < threads; ++first)
      all.emplace_back([&, first] {
        for (auto at = first; at < what.size; at += threads)
          slots[at] = locks.try_acquire(fmt::format("lease/{}", at), {.lease = what.lease});
      });
  }
  std::vector<rowlock::held_lock> held;
  for (auto& each : slots) {
    if (!each) throw std::runtime_error{"a lease was not granted"};
    held.push_back(std::move(*each));
  }
  return held;
}

/// What a client has asked its database so far.
struct calls {
  std::uint64_t renewals = 0;
  double renewing_s = 0;
};

calls calls_of(const rowlock::client& locks) {
  const auto stats = locks.stats();
  calls sum{.renewals = stats.renewals};
  for (const auto& each : stats.statements)
    if (each.operation == "renewing") sum.renewing_s = std::chrono::duration<double>{each.took.sum}.count();
  return sum;
}

void await_renewals(const rowlock::client& locks, std::uint64_t count, const crowd_of_leases& what) {
  if (!test::eventually(4 * what.lease, [&] { return locks.stats().renewals >= count; }))
    throw std::runtime_error{"leases were not renewed in time"};
}

/// Holds the leases for so many rounds of renewals, after a first one which is not counted.
calls keep_for(const ground& here, const crowd_of_leases& what, std::size_t rounds) {
  auto locks = rowlock::client::connect(here.at.url, here.options());
  const auto held = acquire_all(locks, what);
  await_renewals(locks, what.size, what);
  const auto before = calls_of(locks);
  await_renewals(locks, before.renewals + rounds * what.size, what);
  const auto after = calls_of(locks);
  if (locks.stats().held != what.size) throw std::runtime_error{"leases were lost"};
  return {.renewals = after.renewals - before.renewals, .renewing_s = after.renewing_s - before.renewing_s};
}

template <class Work>
double statements_of(const server& at, const Work& work) {
  if (at.observe) {
    const auto watching = at.observe();
    const auto before = watching->statements();
    work();
    return static_cast<double>(watching->statements() - before);
  }
#ifdef ROWLOCK_WITH_SQLITE
  const sqlite_watch watching;
  work();
  return static_cast<double>(watching.statements());
#else
  return 0;
#endif
}

measurement by_hand(const ground& here, const crowd_of_leases& what) {
  add_old_rows(here, what.size);
  const auto connection = here.at.connect();
  const auto update = connection->prepare(here.text(here.at.raise_version));
  const auto began = clock::now();
  for (std::size_t number = 1; number <= what.size; ++number) {
    const auto name = fmt::format("old/{}", number);
    if (update->run(std::array{name.c_str()}) == 0) throw std::runtime_error{"an update found no row"};
  }
  const std::chrono::duration<double> took = clock::now() - began;
  return {.rates = {static_cast<double>(what.size) / took.count()},
          .figures = {{"statements a round", static_cast<double>(what.size)}, {"ms a round", took.count() * 1e3}}};
}

measurement by_client(const ground& here, const crowd_of_leases& what) {
  constexpr std::size_t more = 2;
  calls renewed;
  const auto few = statements_of(here.at, [&] { (void)keep_for(here, what, 1); });
  const auto many = statements_of(here.at, [&] { renewed = keep_for(here, what, 1 + more); });
  const auto rounds = static_cast<double>(renewed.renewals) / static_cast<double>(what.size);
  return {.rates = {static_cast<double>(renewed.renewals) / renewed.renewing_s},
          .figures = {{"statements a round", std::max(many - few, 0.0) / more},
                      {"ms a round", renewed.renewing_s * 1e3 / rounds}}};
}

std::vector<measurement> measure_renewals(const make_ground& make, bool is_quick) {
  const crowd_of_leases what{is_quick};
  const auto here = make();
  rowlock::client::connect(here.at.url, here.options()).migrate();
  return {by_hand(here, what), by_client(here, what)};
}

// --- a large table

named_subject own_name(const char* label, const ground& in) {
  return {.name = label,
          .make = [in](const auto& /*folder*/) { return make_rowlock_handles(in.at.url, {}, in.options()); }};
}

std::vector<measurement> measure_large_table(const make_ground& make, bool is_quick) {
  const std::size_t rows = is_quick ? 10'000 : 1'000'000;
  const auto empty = make();
  const auto large = make();
  rowlock::client::connect(large.at.url, large.options()).migrate();
  add_old_rows(large, rows);
  const named_subject any{.name = "any", .make = [large, rows](const auto& /*folder*/) {
                            return make_rowlock_random_handles(large.at.url, rows, large.options());
                          }};
  auto all =
      measure({.subjects = {own_name("empty", empty), own_name("large", large), any}, .count = uncounted}, is_quick);
  for (std::size_t at = 1; at < all.size(); ++at) all[at].figures["rows"] = static_cast<double>(rows);
  return all;
}

}  // namespace

std::vector<bench_case> lease_cases(const std::string& database, const make_ground& make) {
  return {whole_case("renewals of many leases of one client", database, 1,
                     {"raw UPDATE of each row", "rowlock unique_index"},
                     [make](bool is_quick) { return measure_renewals(make, is_quick); }),
          whole_case("cycle in a large table, 1 thread", database, 1,
                     {"rowlock unique_index, an empty table", "rowlock unique_index, a large table",
                      "rowlock unique_index, any name of a large table"},
                     [make](bool is_quick) { return measure_large_table(make, is_quick); })};
}

}  // namespace bench
