#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "open_transaction.hpp"

namespace flash_sale {

/// One connection to a database server, for one thread at a time. Every statement is a transaction of its own,
/// unless a `body` runs it. Throws std::runtime_error with what the server said.
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

  // As a shop has them.
  virtual void in_transaction(const in_transaction_body& body) = 0;
  virtual void optimistically(rowlock::client& locks, const rowlock::lock_name& name,
                              const std::function<void()>& body) = 0;
};

}  // namespace flash_sale
