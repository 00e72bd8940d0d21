#include "postgresql_shop.hpp"

#include "postgresql_connection.hpp"
#include "server_shop.hpp"

namespace flash_sale {

std::unique_ptr<shop> open_postgresql_shop(const std::string& url) {
  // Without waiting for the disk: the locks are to be measured, not the disk. The rest is PostgreSQL's default, which
  // the server may have changed; that a table to be dropped is not there is no news.
  return std::make_unique<server_shop>(
      connect_postgresql(url),
      server_texts{
          .settings = {"SET synchronous_commit = off", "SET default_transaction_isolation = 'read committed'",
                       "SET client_min_messages = warning"},
          .make_tables = {"CREATE TABLE flash_sale_stock (item integer PRIMARY KEY, units_left bigint NOT NULL)",
                          "CREATE TABLE flash_sale_orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "
                          "user_id bigint NOT NULL)"}});
}

}  // namespace flash_sale
