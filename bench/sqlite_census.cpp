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

}  // namespace

sqlite_watch::sqlite_watch() {
  opened = closed = started = 0;
  sqlite3_auto_extension(reinterpret_cast<void (*)()>(on_open));
}

sqlite_watch::~sqlite_watch() { sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(on_open)); }

std::size_t sqlite_watch::connections() const { return opened - closed; }
std::size_t sqlite_watch::statements() const { return started; }

census count_sqlite(const std::function<std::unique_ptr<subject>()>& make, std::size_t threads, std::size_t cycles) {
  constexpr std::size_t warm_up = 10;
  const sqlite_watch watching;
  const auto of = make();
  const lanes all = open_lanes(*of, threads);
  run_cycles(all, warm_up);
  const auto before = watching.statements();
  run_cycles(all, cycles);
  const auto statements = static_cast<double>(watching.statements() - before);
  return {.connections = watching.connections(),
          .statements_per_cycle = statements / static_cast<double>(cycles * threads)};
}

}  // namespace bench
