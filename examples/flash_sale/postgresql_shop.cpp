#include "postgresql_shop.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace flash_sale {

postgresql_shop::postgresql_shop(const std::string& url) : connection_{url} {
  // Without waiting for the disk: the locks are to be measured, not the disk. The rest is PostgreSQL's default, which
  // the server may have changed; that a table to be dropped is not there is no news.
  connection_.execute(
      "SET synchronous_commit = off;"
      "SET default_transaction_isolation = 'read committed';"
      "SET client_min_messages = warning");
}

void postgresql_shop::reset(std::size_t units) {
  // user_id is not unique on purpose: nothing but the lock shall stop a second order.
  connection_.execute(
      "DROP TABLE IF EXISTS flash_sale_stock;"
      "DROP TABLE IF EXISTS flash_sale_orders;"
      "CREATE TABLE flash_sale_stock (item integer PRIMARY KEY, units_left bigint NOT NULL);"
      "CREATE TABLE flash_sale_orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, user_id bigint NOT NULL);"
      "CREATE INDEX flash_sale_orders_of_user ON flash_sale_orders (user_id);"
      "INSERT INTO flash_sale_stock (item, units_left) VALUES (1, 0)");
  write_stock(static_cast<std::int64_t>(units));
}

std::int64_t postgresql_shop::stock() {
  return connection_.number("SELECT units_left FROM flash_sale_stock WHERE item = 1");
}

bool postgresql_shop::has_order(std::int64_t user) {
  return connection_.number(fmt::format("SELECT count(*) FROM flash_sale_orders WHERE user_id = {}", user)) != 0;
}

void postgresql_shop::write_stock(std::int64_t left) {
  if (connection_.change(fmt::format("UPDATE flash_sale_stock SET units_left = {} WHERE item = 1", left)) != 1)
    throw std::runtime_error{"the item is not in the shop"};
}

void postgresql_shop::add_order(std::int64_t user) {
  if (connection_.change(fmt::format("INSERT INTO flash_sale_orders (user_id) VALUES ({})", user)) != 1)
    throw std::runtime_error{"the order was not stored"};
}

totals postgresql_shop::count() {
  return {.left = stock(),
          .orders = connection_.number("SELECT count(*) FROM flash_sale_orders"),
          .buyers = connection_.number("SELECT count(DISTINCT user_id) FROM flash_sale_orders")};
}

}  // namespace flash_sale
