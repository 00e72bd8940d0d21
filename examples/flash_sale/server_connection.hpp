#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace flash_sale {

/// One connection to a database server, for one thread at a time. Every statement is a transaction of its own. Throws
/// std::runtime_error with what the server said.
class server_connection {
 public:
  server_connection() = default;
  server_connection(const server_connection&) = delete;
  server_connection& operator=(const server_connection&) = delete;
  virtual ~server_connection() = default;

  /// Runs a statement whose rows nobody wants.
  virtual void execute(const std::string& sql) = 0;
  /// The number in the only row. Throws where there is none.
  virtual std::int64_t number(const std::string& sql) = 0;
  /// How many rows it wrote, be it what was there before.
  virtual std::size_t change(const std::string& sql) = 0;
};

}  // namespace flash_sale
