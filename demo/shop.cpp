#include "shop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "testkit/url.hpp"

namespace flash_sale {

/// One kind of database, and where its SQL differs.
struct backend {
  std::string_view scheme;
  std::string_view other_scheme;
  std::string_view form;
  std::string_view product;
  database (*parse)(const std::string& url);
  std::unique_ptr<test::connection> (*connect)(const std::string& url);
  const char* settings;  ///< of the session; may be empty
  const char* order_id;  ///< the column's type: the database numbers the orders
  const char* engine;    ///< of the tables
  const char* last_id;   ///< reads the number of the session's last order

  bool is_for(std::string_view url) const {
    const auto given = url.substr(0, url.find(':') + 1);
    return given == scheme || given == other_scheme;
  }
};

namespace {

#ifdef ROWLOCK_WITH_SQLITE
constexpr std::string_view sqlite_scheme = "sqlite:";

std::string sqlite_path(const std::string& url) {
  auto path = std::string_view{url}.substr(sqlite_scheme.size());
  if (path.starts_with("///")) path.remove_prefix(2);
  if (path.starts_with("//")) throw std::invalid_argument{"an sqlite: URL names no host: write --database sqlite:PATH"};
  if (path.empty()) throw std::invalid_argument{"the path is missing: write --database sqlite:PATH"};
  if (path.starts_with(':'))
    throw std::invalid_argument{"several processes cannot share a database in memory: write --database sqlite:PATH"};
  if (path.find_first_of("?#") != std::string_view::npos)
    throw std::invalid_argument{fmt::format("\"{}\": percent-encode '?' and '#' in a path", path)};
  const auto decoded = test::percent_decoded(path);
  if (!decoded)
    throw std::invalid_argument{fmt::format("\"{}\": '%' must be followed by two hex digits, not 00", path)};
  return *decoded;
}
#endif

constexpr std::array backends{
#ifdef ROWLOCK_WITH_SQLITE
    backend{sqlite_scheme, sqlite_scheme, "sqlite:PATH", "SQLite",
            [](const std::string& url) -> database {
              (void)sqlite_path(url);
              // A write transaction of the application would hold up every renewal in the same file.
              return {.shop_url = url, .locks_url = url + "-locks"};
            },
            [](const std::string& url) { return test::connect_sqlite(sqlite_path(url)); }, "", "INTEGER PRIMARY KEY",
            "", "SELECT last_insert_rowid()"},
#endif
#ifdef ROWLOCK_WITH_POSTGRESQL
    // Without waiting for the disk: the locks are to be measured, not the disk. The rest is PostgreSQL's default, which
    // the server may have changed; that a table to be dropped is not there is no news.
    backend{"postgresql:", "postgres:", "postgresql://USER:PASSWORD@HOST:PORT/DATABASE", "PostgreSQL",
            [](const std::string& url) -> database {
              test::check_postgresql_url(url);
              return {.shop_url = url, .locks_url = url};
            },
            [](const std::string& url) { return test::connect_postgresql(url); },
            "SET synchronous_commit = off; SET default_transaction_isolation = 'read committed'; "
            "SET client_min_messages = warning",
            "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "", "SELECT lastval()"},
#endif
#ifdef ROWLOCK_WITH_MYSQL
    // A session cannot ask for commits that do not wait for the disk. The default engine may have been changed. A
    // buyer who writes the stock that is there already has written it.
    backend{"mysql:", "mariadb:", "mysql://USER:PASSWORD@HOST:PORT/DATABASE", "MySQL or MariaDB",
            [](const std::string& url) -> database {
              test::check_mysql_url(url);
              return {.shop_url = url, .locks_url = url};
            },
            [](const std::string& url) { return test::connect_mysql(url, {.counts_matches = true}); }, "",
            "BIGINT AUTO_INCREMENT PRIMARY KEY", " ENGINE = InnoDB", "SELECT last_insert_id()"},
#endif
};

/// Only the scheme is repeated: the rest may hold a password.
[[noreturn]] void refuse_scheme(const std::string& url) {
  const auto colon = url.find(':');
  throw std::invalid_argument{fmt::format("{} is no database that this build sells from; write --database {}",
                                          colon == std::string::npos ? "that" : url.substr(0, colon + 1),
                                          database_forms())};
}

const backend& backend_for(const std::string& url) {
  const auto* const found =
      std::find_if(backends.begin(), backends.end(), [&](const auto& each) { return each.is_for(url); });
  if (found == backends.end()) refuse_scheme(url);
  return *found;
}

}  // namespace

std::string database_forms() {
  std::string all;
  for (const auto& each : backends) all.append(all.empty() ? "" : "|").append(each.form);
  return all;
}

std::string_view product_of(const database& where) { return backend_for(where.shop_url).product; }

database parse_database(const std::string& url) { return backend_for(url).parse(url); }

shop::shop(const std::string& url) : backend_{backend_for(url)}, connection_{backend_.connect(url)} {
  if (*backend_.settings != '\0') connection_->execute(backend_.settings);
}

void shop::reset(std::size_t units) {
  for (const auto& each : {
           std::string{"DROP TABLE IF EXISTS flash_sale_stock"},
           std::string{"DROP TABLE IF EXISTS flash_sale_orders"},
           fmt::format("CREATE TABLE flash_sale_stock (item integer PRIMARY KEY, units_left bigint NOT NULL){}",
                       backend_.engine),
           // user_id is not unique on purpose: nothing but the lock shall stop a second order.
           fmt::format("CREATE TABLE flash_sale_orders (id {}, user_id bigint NOT NULL){}", backend_.order_id,
                       backend_.engine),
           std::string{"CREATE INDEX flash_sale_orders_of_user ON flash_sale_orders (user_id)"},
           std::string{"INSERT INTO flash_sale_stock (item, units_left) VALUES (1, 0)"},
       })
    connection_->execute(each);
  write_stock(static_cast<std::int64_t>(units));
}

std::int64_t shop::stock() { return connection_->execute("SELECT units_left FROM flash_sale_stock WHERE item = 1"); }

bool shop::has_order(std::int64_t user) {
  return connection_->execute(fmt::format("SELECT count(*) FROM flash_sale_orders WHERE user_id = {}", user)) != 0;
}

void shop::write_stock(std::int64_t left) {
  if (connection_->change(fmt::format("UPDATE flash_sale_stock SET units_left = {} WHERE item = 1", left)) != 1)
    throw std::runtime_error{"the item is not in the shop"};
}

void shop::add_order(std::int64_t user) {
  if (connection_->change(fmt::format("INSERT INTO flash_sale_orders (user_id) VALUES ({})", user)) != 1)
    throw std::runtime_error{"the order was not stored"};
}

totals shop::count() {
  return {.left = stock(),
          .orders = connection_->execute("SELECT count(*) FROM flash_sale_orders"),
          .buyers = connection_->execute("SELECT count(DISTINCT user_id) FROM flash_sale_orders")};
}

std::int64_t shop::last_order() { return connection_->execute(backend_.last_id); }

std::int64_t shop::first_order_beyond(std::size_t units) {
  return connection_->execute(fmt::format("SELECT id FROM flash_sale_orders ORDER BY id LIMIT 1 OFFSET {}", units));
}

void shop::optimistically(rowlock::client& locks, const rowlock::lock_name& name, const std::function<void()>& body) {
  // Many buy at once, and each purchase is begun anew whenever another one was faster.
  connection_->optimistically(locks, name, body, {.attempts = 1'000'000});
}

decision decide(shop& from, const request& what) {
  const auto left = from.stock();
  if (left <= 0) return {.verdict = outcome::sold_out};
  if (from.has_order(what.user)) return {.verdict = outcome::has_one_already};
  std::this_thread::sleep_for(what.thinking);
  return {.verdict = outcome::bought, .left = left - 1};
}

void carry_out(const decision& decided, shop& in, const request& what) {
  in.write_stock(decided.left);
  in.add_order(what.user);
}

outcome buy(shop& from, const request& what) {
  const auto decided = decide(from, what);
  if (decided.verdict == outcome::bought) carry_out(decided, from, what);
  return decided.verdict;
}

}  // namespace flash_sale
