#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server_connection.hpp"
#include "shop.hpp"

namespace flash_sale {

/// What the servers' SQL does not have in common.
struct server_texts {
  std::vector<std::string> settings;     ///< of the session
  std::vector<std::string> make_tables;  ///< empty ones
};

class server_shop final : public shop {
 public:
  server_shop(std::unique_ptr<server_connection> connection, server_texts texts);

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
  void execute(const std::vector<std::string>& statements);

  std::unique_ptr<server_connection> connection_;
  server_texts texts_;
};

}  // namespace flash_sale
