#include "sqlite_shop.hpp"

#include <rowlock/interop/sqlite3.hpp>

#include <stdexcept>

namespace flash_sale {

sqlite_shop::sqlite_shop(const std::string& path) : connection_{path} {
  // In WAL mode NORMAL survives the death of a process, which is all that this demonstration risks, and writes
  // without waiting for the disk: the locks are to be measured, not the disk.
  connection_.execute("PRAGMA synchronous = NORMAL");
}

void sqlite_shop::reset(std::size_t units) {
  connection_.execute("PRAGMA journal_mode = WAL");
  // user_id is not unique on purpose: nothing but the lock shall stop a second order.
  connection_.execute(
      "BEGIN IMMEDIATE;"
      "DROP TABLE IF EXISTS flash_sale_stock;"
      "DROP TABLE IF EXISTS flash_sale_orders;"
      "CREATE TABLE flash_sale_stock (item INTEGER PRIMARY KEY, units_left INTEGER NOT NULL);"
      "CREATE TABLE flash_sale_orders (id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL);"
      "CREATE INDEX flash_sale_orders_of_user ON flash_sale_orders (user_id);"
      "INSERT INTO flash_sale_stock (item, units_left) VALUES (1, 0);"
      "COMMIT");
  write_stock(static_cast<std::int64_t>(units));
}

std::int64_t sqlite_shop::stock() { return stock_.number(); }

bool sqlite_shop::has_order(std::int64_t user) { return has_order_.number(user) != 0; }

void sqlite_shop::write_stock(std::int64_t left) {
  if (write_stock_.change(left) != 1) throw std::runtime_error{"the item is not in the shop"};
}

void sqlite_shop::add_order(std::int64_t user) {
  if (add_order_.change(user) != 1) throw std::runtime_error{"the order was not stored"};
}

totals sqlite_shop::count() {
  sqlite_statement orders{connection_, "SELECT count(*) FROM flash_sale_orders"};
  sqlite_statement buyers{connection_, "SELECT count(DISTINCT user_id) FROM flash_sale_orders"};
  return {.left = stock(), .orders = orders.number(), .buyers = buyers.number()};
}

void sqlite_shop::in_transaction(const in_transaction_body& body) {
  sqlite_transaction tx{connection_};
  transaction_on<sqlite3*> open{connection_.handle()};
  body(open);
  tx.commit();
}

void sqlite_shop::optimistically(rowlock::client& locks, const rowlock::lock_name& name,
                                 const std::function<void()>& body) {
  rowlock::optimistically(
      connection_.handle(), locks, name, [&](sqlite3* /*handle*/) { body(); }, patient);
}

}  // namespace flash_sale
