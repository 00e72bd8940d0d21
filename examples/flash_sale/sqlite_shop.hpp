#pragma once

#include <string>

#include "shop.hpp"
#include "sqlite_connection.hpp"

namespace flash_sale {

class sqlite_shop final : public shop {
 public:
  explicit sqlite_shop(const std::string& path);

  void reset(std::size_t units) override;
  std::int64_t stock() override;
  bool has_order(std::int64_t user) override;
  void write_stock(std::int64_t left) override;
  void add_order(std::int64_t user) override;
  totals count() override;
  void in_transaction(const in_transaction_body& body) override;
  void optimistically(rowlock::client& locks, const rowlock::lock_name& name,
                      const std::function<void()>& body) override;

 private:
  sqlite_connection connection_;
  sqlite_statement stock_{connection_, "SELECT units_left FROM flash_sale_stock WHERE item = 1"};
  sqlite_statement has_order_{connection_, "SELECT EXISTS (SELECT 1 FROM flash_sale_orders WHERE user_id = ?1)"};
  sqlite_statement write_stock_{connection_, "UPDATE flash_sale_stock SET units_left = ?1 WHERE item = 1"};
  sqlite_statement add_order_{connection_, "INSERT INTO flash_sale_orders (user_id) VALUES (?1)"};
};

}  // namespace flash_sale
