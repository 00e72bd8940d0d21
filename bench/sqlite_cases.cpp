#include <rowlock/options.hpp>

#include <fmt/format.h>

#include <string>
#include <utility>

#include "cases.hpp"
#include "ground.hpp"
#include "subjects.hpp"
#include "testkit/temp_folder.hpp"

namespace bench {
namespace {

using rowlock::strategy;

constexpr std::size_t most_threads = 8;

std::string locks_in(const std::filesystem::path& folder) { return "sqlite:" + (folder / "locks.db").string(); }

named_subject handles(strategy by) {
  return {.name = fmt::format("rowlock {}", to_string(by)), .make = [by](const auto& folder) {
            return make_rowlock_handles(locks_in(folder), {.strategy = by}, {.held_transactions = most_threads});
          }};
}

named_subject mutexes() {
  return {.name = "rowlock mutex",
          .make = [](const auto& folder) { return make_rowlock_mutexes(locks_in(folder), {}); }};
}

bench_case case_of(std::string name, std::size_t threads, std::vector<named_subject> subjects) {
  return {.name = std::move(name),
          .database = "sqlite",
          .threads = threads,
          .subjects = std::move(subjects),
          .count = count_sqlite};
}

bench_case cycle(std::size_t threads) {
  std::vector<named_subject> subjects{{.name = "raw upsert+update", .make = make_sqlite_raw},
                                      handles(strategy::unique_index)};
  if (threads <= most_threads) subjects.push_back(mutexes());
  return case_of(fmt::format("cycle, {} thread{}, distinct names", threads, threads == 1 ? "" : "s"), threads,
                 std::move(subjects));
}

// SQLite locks no rows: a transaction kept open would lock the whole file. So for_update, too, is two transactions that
// write the row, and is compared with the same two statements as unique_index.
bench_case for_update_cycle(std::string name, std::size_t threads) {
  return case_of(std::move(name), threads,
                 {{.name = "raw upsert+update", .make = make_sqlite_raw}, handles(strategy::for_update)});
}

bench_case version_cas_cycle(std::string name, std::size_t threads) {
  return case_of(std::move(name), threads,
                 {{.name = "raw SELECT + UPDATE + UPDATE", .make = make_sqlite_raw_compare_and_set},
                  handles(strategy::version_cas)});
}

named_subject in_own_file(const char* name, make_transactions make) {
  return {.name = name, .make = [make](const auto& folder) { return make(sqlite_server(folder), "rowlock_"); }};
}

census count_transactions(const std::function<std::unique_ptr<subject>()>& make, std::size_t threads,
                          std::size_t cycles) {
  return {.connections = count_sqlite(make, threads, cycles).connections,
          .statements_per_cycle = count_on_own_connections(make, threads, cycles)};
}

bench_case transaction_case(std::string name, std::vector<named_subject> subjects) {
  auto made = case_of(std::move(name), 1, std::move(subjects));
  made.count = count_transactions;
  return made;
}

bench_case lock_in_cycle() {
  return transaction_case(
      "cycle lock_in, 1 thread",
      {in_own_file("raw BEGIN; UPDATE version; UPDATE own; COMMIT", make_raw_locking),
       in_own_file("raw BEGIN; UPDATE own; COMMIT", make_raw_writing), in_own_file("rowlock lock_in", make_lock_in)});
}

bench_case confirm_cycle() {
  return transaction_case("cycle confirm, 1 thread", {in_own_file("raw BEGIN; UPDATE own; COMMIT", make_raw_writing),
                                                      in_own_file("rowlock confirm", make_confirm)});
}

ground fresh_file() {
  auto place = std::make_shared<test::temp_folder>();
  auto at = sqlite_server(place->path());
  return {.place = std::move(place), .at = std::move(at), .prefix = "rowlock_"};
}

}  // namespace

std::vector<bench_case> sqlite_cases() {
  std::vector<bench_case> all{cycle(1),
                              cycle(8),
                              cycle(64),
                              for_update_cycle("cycle for_update, 1 thread, uncontended", 1),
                              for_update_cycle("cycle for_update, 8 threads, distinct names", most_threads),
                              version_cas_cycle("cycle version_cas, 1 thread, uncontended", 1),
                              version_cas_cycle("cycle version_cas, 8 threads, distinct names", most_threads),
                              lock_in_cycle(),
                              confirm_cycle()};
  for (const auto& some : {part_cases, async_cases, lease_cases, memory_cases, sweep_cases})
    for (auto& each : some("sqlite", fresh_file)) all.push_back(std::move(each));
  return all;
}

}  // namespace bench
