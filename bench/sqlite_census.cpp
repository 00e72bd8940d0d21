#include "sqlite_census.hpp"

#include <sqlite3.h>

#include <atomic>

#include "measure.hpp"

namespace bench {
namespace {

std::atomic<std::size_t> opened{0};
std::atomic<std::size_t> closed{0};
std::atomic<std::size_t> started{0};

int on_trace(unsigned event, void*, void*, void*) {
  ++(event == SQLITE_TRACE_CLOSE ? closed : started);
  return 0;
}

int on_open(sqlite3* database, char**, const void*) {
  ++opened;
  return sqlite3_trace_v2(database, SQLITE_TRACE_STMT | SQLITE_TRACE_CLOSE, on_trace, nullptr);
}

/// While it lives, every connection that this process opens is counted and watched.
class watch {
 public:
  watch() {
    opened = closed = started = 0;
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(on_open));
  }
  watch(const watch&) = delete;
  watch& operator=(const watch&) = delete;
  ~watch() { sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(on_open)); }
};

}  // namespace

census count_sqlite(const std::function<std::unique_ptr<subject>()>& make, std::size_t threads) {
  constexpr std::size_t warm_up = 10;
  constexpr std::size_t cycles = 200;
  const watch watching;
  const auto of = make();
  const lanes all = open_lanes(*of, threads);
  run_cycles(all, warm_up);
  const std::size_t before = started;
  run_cycles(all, cycles);
  const auto statements = static_cast<double>(started - before);
  return {.connections = opened - closed, .statements_per_cycle = statements / static_cast<double>(cycles * threads)};
}

}  // namespace bench
