#include "sqlite_cases.hpp"

#include <string>
#include <utility>

#include "rowlock_subjects.hpp"
#include "sqlite_census.hpp"
#include "sqlite_raw.hpp"

namespace bench {
namespace {

std::string locks_in(const std::filesystem::path& folder) { return "sqlite:" + (folder / "locks.db").string(); }

bench_case cycle(std::string name, std::size_t threads) {
  constexpr auto strategy = rowlock::strategy::unique_index;
  return {.name = std::move(name),
          .database = "sqlite",
          .threads = threads,
          .subjects = {{"raw upsert+update", make_sqlite_raw},
                       {"rowlock unique_index", [](auto& to) { return make_rowlock_handles(locks_in(to), strategy); }},
                       {"rowlock mutex", [](auto& to) { return make_rowlock_mutexes(locks_in(to), strategy); }}},
          .count = count_sqlite};
}

}  // namespace

std::vector<bench_case> sqlite_cases() {
  return {cycle("cycle, 1 thread, uncontended", 1), cycle("cycle, 2 threads, distinct names", 2),
          cycle("cycle, 8 threads, distinct names", 8)};
}

}  // namespace bench
