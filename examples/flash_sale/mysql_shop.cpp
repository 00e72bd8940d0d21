#include "mysql_shop.hpp"

#include "mysql_connection.hpp"
#include "server_shop.hpp"

namespace flash_sale {

std::unique_ptr<shop> open_mysql_shop(const std::string& url) {
  // A session cannot ask for commits that do not wait for the disk. The default engine and these settings may have been
  // changed.
  return std::make_unique<server_shop>(
      connect_mysql(url),
      server_texts{
          .settings = {"SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "SET autocommit = 1"},
          .make_tables = {
              "CREATE TABLE flash_sale_stock (item INT PRIMARY KEY, units_left BIGINT NOT NULL) ENGINE = InnoDB",
              "CREATE TABLE flash_sale_orders (id BIGINT AUTO_INCREMENT PRIMARY KEY, user_id BIGINT NOT NULL) "
              "ENGINE = InnoDB"}});
}

}  // namespace flash_sale
