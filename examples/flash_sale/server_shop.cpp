#include "server_shop.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace flash_sale {

server_shop::server_shop(std::unique_ptr<server_connection> connection, server_texts texts)
    : connection_{std::move(connection)}, texts_{std::move(texts)} {
  execute(texts_.settings);
}

void server_shop::reset(std::size_t units) {
  execute({"DROP TABLE IF EXISTS flash_sale_stock", "DROP TABLE IF EXISTS flash_sale_orders"});
  execute(texts_.make_tables);
  // user_id is not unique on purpose: nothing but the lock shall stop a second order.
  execute({"CREATE INDEX flash_sale_orders_of_user ON flash_sale_orders (user_id)",
           "INSERT INTO flash_sale_stock (item, units_left) VALUES (1, 0)"});
  write_stock(static_cast<std::int64_t>(units));
}

std::int64_t server_shop::stock() {
  return connection_->number("SELECT units_left FROM flash_sale_stock WHERE item = 1");
}

bool server_shop::has_order(std::int64_t user) {
  return connection_->number(fmt::format("SELECT count(*) FROM flash_sale_orders WHERE user_id = {}", user)) != 0;
}

void server_shop::write_stock(std::int64_t left) {
  if (connection_->change(fmt::format("UPDATE flash_sale_stock SET units_left = {} WHERE item = 1", left)) != 1)
    throw std::runtime_error{"the item is not in the shop"};
}

void server_shop::add_order(std::int64_t user) {
  if (connection_->change(fmt::format("INSERT INTO flash_sale_orders (user_id) VALUES ({})", user)) != 1)
    throw std::runtime_error{"the order was not stored"};
}

totals server_shop::count() {
  return {.left = stock(),
          .orders = connection_->number("SELECT count(*) FROM flash_sale_orders"),
          .buyers = connection_->number("SELECT count(DISTINCT user_id) FROM flash_sale_orders")};
}

void server_shop::in_transaction(const in_transaction_body& body) { connection_->in_transaction(body); }

void server_shop::optimistically(rowlock::client& locks, const rowlock::lock_name& name,
                                 const std::function<void()>& body) {
  connection_->optimistically(locks, name, body);
}

void server_shop::execute(const std::vector<std::string>& statements) {
  for (const auto& each : statements) connection_->execute(each);
}

}  // namespace flash_sale
