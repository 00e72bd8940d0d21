#include "server.hpp"

#include <rowlock/rowlock.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <random>
#include <stdexcept>

namespace bench {

namespace {

const std::vector<server_kind> kinds{
#ifdef ROWLOCK_WITH_POSTGRESQL
    {"PostgreSQL", "postgresql:", "postgres:", "ROWLOCK_TEST_POSTGRESQL_URL", postgresql_server},
#endif
#ifdef ROWLOCK_WITH_MYSQL
    {"MySQL or MariaDB", "mysql:", "mariadb:", "ROWLOCK_TEST_MYSQL_URL", mysql_server},
#endif
};

std::vector<std::string> urls_of_environment() {
  std::vector<std::string> urls;
  for (const auto& each : kinds)
    if (const char* url = std::getenv(each.variable); url != nullptr && *url != '\0') urls.emplace_back(url);
  return urls;
}

const server_kind& kind_of(const std::string& url) {
  const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const auto& each) { return each.is_for(url); });
  // The rest of it may hold a password.
  if (found == kinds.end())
    throw std::invalid_argument{fmt::format("{}: is no server that this build measures", url.substr(0, url.find(':')))};
  return *found;
}

class subject_in_tables final : public subject {
 public:
  subject_in_tables(const server& at, const std::function<std::unique_ptr<subject>(const std::string& prefix)>& make)
      : tables_{at}, subject_{make(tables_.prefix())} {}

  std::unique_ptr<lane> open_lane(std::size_t number) override { return subject_->open_lane(number); }

 private:
  tables tables_;
  std::unique_ptr<subject> subject_;
};

struct sums {
  std::size_t connections = 0;
  long long statements = 0;
};

sums run_and_count(const server& at, const std::function<std::unique_ptr<subject>()>& make, std::size_t threads,
                   std::size_t cycles) {
  const auto watching = at.observe();
  const auto before = watching->statements();
  sums found;
  {
    const auto of = make();
    const lanes all = open_lanes(*of, threads);
    run_cycles(all, cycles);
    found.connections = watching->connections();
  }
  found.statements = watching->statements() - before;
  return found;
}

}  // namespace

bool server_kind::is_for(std::string_view url) const {
  return url.starts_with(scheme) || url.starts_with(other_scheme);
}

std::span<const server_kind> server_kinds() { return kinds; }

server open_server(const std::string& url) { return kind_of(url).open(url); }

std::vector<std::shared_ptr<const server>> open_servers(std::vector<std::string> urls) {
  if (urls.empty()) urls = urls_of_environment();
  std::vector<std::shared_ptr<const server>> servers;
  for (const auto& url : urls) servers.push_back(std::make_shared<const server>(open_server(url)));
  for (const auto& kind : kinds)
    if (std::none_of(urls.begin(), urls.end(), [&](const auto& url) { return kind.is_for(url); }))
      fmt::print(stderr, "{} is left out: no --database tells where a server is\n", kind.name);
  return servers;
}

tables::tables(const server& at) : server_{at}, prefix_{fmt::format("rowlock_bench_{:08x}_", std::random_device{}())} {
  rowlock::client::connect(at.url, {.application = application, .table_prefix = prefix_}).migrate();
}

tables::~tables() {
  try {
    server_.connect()->execute(fmt::format("DROP TABLE {0}lock, {0}waiter, {0}migration", prefix_));
  } catch (const std::exception& e) {
    fmt::print(stderr, "rowlock_bench: the tables {}* stay behind: {}\n", prefix_, e.what());
  }
}

std::unique_ptr<subject> in_own_tables(const server& at,
                                       const std::function<std::unique_ptr<subject>(const std::string& prefix)>& make) {
  return std::make_unique<subject_in_tables>(at, make);
}

census count_on(const server& at, const std::function<std::unique_ptr<subject>()>& make, std::size_t threads,
                std::size_t cycles) {
  const std::size_t warm_up = threads > 16 ? 1 : 10;
  const auto less = run_and_count(at, make, threads, warm_up);
  const auto more = run_and_count(at, make, threads, warm_up + cycles);
  const auto statements = static_cast<double>(more.statements - less.statements);
  return {.connections = more.connections,
          .statements_per_cycle = std::max(statements, 0.0) / static_cast<double>(cycles * threads)};
}

}  // namespace bench
