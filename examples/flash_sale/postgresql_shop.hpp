#pragma once

#include <string>

#include "postgresql_connection.hpp"
#include "shop.hpp"

namespace flash_sale {

class postgresql_shop final : public shop {
 public:
  explicit postgresql_shop(const std::string& url);

  void reset(std::size_t units) override;
  std::int64_t stock() override;
  bool has_order(std::int64_t user) override;
  void write_stock(std::int64_t left) override;
  void add_order(std::int64_t user) override;
  totals count() override;

 private:
  postgresql_connection connection_;
};

}  // namespace flash_sale
