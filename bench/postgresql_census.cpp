#include "postgresql_census.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>

#include "measure.hpp"
#include "postgresql_connection.hpp"

namespace bench {
namespace {

struct sums {
  std::size_t connections = 0;
  long long transactions = 0;
};

/// The sessions of this process but the one that asks.
std::string others() {
  return fmt::format(
      "FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE '{}%:{}' "
      "AND pid <> pg_backend_pid()",
      postgresql_connection::application, ::getpid());
}

/// A session that ends tells the statistics what it did before it vanishes from the list of sessions.
long long transactions_so_far(const std::string& url) {
  postgresql_connection server{url};
  server.execute(fmt::format(
      "DO $$BEGIN WHILE EXISTS (SELECT {}) LOOP PERFORM pg_sleep(0.002), pg_stat_clear_snapshot(); END LOOP; END$$",
      others()));
  return server.execute("SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()");
}

sums run_and_count(const std::string& url, const std::function<std::unique_ptr<subject>()>& make, std::size_t threads,
                   std::size_t cycles) {
  const auto before = transactions_so_far(url);
  sums found;
  {
    const auto of = make();
    const lanes all = open_lanes(*of, threads);
    run_cycles(all, cycles);
    found.connections = static_cast<std::size_t>(postgresql_connection{url}.execute("SELECT count(*) " + others()));
  }
  found.transactions = transactions_so_far(url) - before;
  return found;
}

}  // namespace

census count_postgresql(const std::string& url, const std::function<std::unique_ptr<subject>()>& make,
                        std::size_t threads) {
  constexpr std::size_t warm_up = 10;
  const std::size_t cycles = std::max<std::size_t>(400 / threads, 1);
  const auto less = run_and_count(url, make, threads, warm_up);
  const auto more = run_and_count(url, make, threads, warm_up + cycles);
  const auto statements = static_cast<double>(more.transactions - less.transactions);
  return {.connections = more.connections,
          .statements_per_cycle = std::max(statements, 0.0) / static_cast<double>(cycles * threads)};
}

}  // namespace bench
