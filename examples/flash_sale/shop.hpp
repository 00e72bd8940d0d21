#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "open_transaction.hpp"

namespace flash_sale {

struct totals {
  std::int64_t left = 0;    ///< what the stock says
  std::int64_t orders = 0;  ///< what was sold
  std::int64_t buyers = 0;  ///< how many users have an order
};

/// The application's own data: one item in stock, and the orders. Every call is a statement of its own, committed at
/// once, as a web shop without transactions would do it, unless it is made by a `body`. One thread uses it at a time.
class shop {
 public:
  shop() = default;
  shop(const shop&) = delete;
  shop& operator=(const shop&) = delete;
  virtual ~shop() = default;

  /// Begins anew with that many units and no orders.
  virtual void reset(std::size_t units) = 0;
  virtual std::int64_t stock() = 0;
  virtual bool has_order(std::int64_t user) = 0;
  virtual void write_stock(std::int64_t left) = 0;
  virtual void add_order(std::int64_t user) = 0;
  virtual totals count() = 0;

  /// Makes one transaction of what the body does with this shop: committed when it returns, undone when it throws.
  virtual void in_transaction(const in_transaction_body& body) = 0;
  /// The same by rowlock::optimistically, which may run the body several times.
  virtual void optimistically(rowlock::client& locks, const rowlock::lock_name& name,
                              const std::function<void()>& body) = 0;
};

/// Where the shop's data and its locks are.
struct database {
  std::string shop_url;
  std::string locks_url;
};

/// What a URL may look like in this build, for people: "sqlite:PATH|...".
std::string database_forms();

/// Throws std::invalid_argument with a sentence where this build cannot open such a URL.
database parse_database(const std::string& url);

/// A connection of its own.
std::unique_ptr<shop> open_shop(const std::string& url);

/// The URL of an SQLite file.
std::string sqlite_url(std::string_view path);

}  // namespace flash_sale
