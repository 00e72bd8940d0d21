#include "driver/mysql/short_table_waits.hpp"

#include <rowlock/error.hpp>

#include <condition_variable>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/boot_clock.hpp"
#include "base/waits.hpp"
#include "driver/mysql/session.hpp"
#include "driver/server_session.hpp"

namespace rowlock::inline v1::driver {

namespace {

constexpr duration between_looks = change_wait / 2;

// MySQL's old process list fails as soon as the statement of any session has characters of four bytes.
bool waits_for_table(mysql_session& asking, const std::string& mark, const limits& until) {
  const std::string sql =
      "SELECT 1 FROM information_schema.processlist /*!80022 p WHERE FALSE UNION ALL "
      "SELECT 1 FROM performance_schema.processlist */ "
      "WHERE id = IS_USED_LOCK('" +
      mark + "') AND state LIKE 'Waiting for table %'";
  return !asking.ask(sql, "looking for a wait for a table", until).empty();
}

void rest(const std::stop_token& stop) {
  std::mutex alone;
  std::condition_variable_any never;
  std::unique_lock lock{alone};
  base::wait_until(never, lock, base::later(base::now(), between_looks), stop, [] { return false; });
}

// What was seen waiting by two looks has waited for the time between them.
void interrupt_long_waits(mysql_session& by, const std::string& mark, const limits& until) {
  for (int seen = 0; !until.stop.stop_requested(); rest(until.stop)) {
    seen = waits_for_table(by, mark, until) ? seen + 1 : 0;
    if (seen > change_wait / between_looks) by.interrupt_keeper_of(mark, until);
  }
}

}  // namespace

short_table_waits::short_table_waits(std::unique_ptr<session> by, std::string mark, const limits& until) try
    : thread_{[by = std::move(by), mark = std::move(mark), deadline = until.deadline](std::stop_token stop) {
        try {
          interrupt_long_waits(static_cast<mysql_session&>(*by), mark, {.deadline = deadline, .stop = std::move(stop)});
}
catch (const error&) {
}
}
}
{}
catch (const std::system_error&) {
}

}  // namespace rowlock::inline v1::driver
