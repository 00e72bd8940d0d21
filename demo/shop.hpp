#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "sale.hpp"
#include "testkit/connection.hpp"

namespace flash_sale {

namespace test = rowlock::test;

struct backend;

struct totals {
  std::int64_t left = 0;    ///< what the stock says
  std::int64_t orders = 0;  ///< what was sold
  std::int64_t buyers = 0;  ///< how many users have an order
};

/// The application's own data: one item in stock, and the orders. Every call is a statement of its own, committed at
/// once, as a web shop without transactions would do it, unless it is made by a `body`. A connection of its own, for
/// one thread at a time.
class shop {
 public:
  explicit shop(const std::string& url);

  /// Begins anew with that many units and no orders.
  void reset(std::size_t units);
  std::int64_t stock();
  bool has_order(std::int64_t user);
  void write_stock(std::int64_t left);
  void add_order(std::int64_t user);
  totals count();
  /// The number of the row that this object's last order is.
  std::int64_t last_order();
  /// That of the first order beyond so many, in the order in which they were stored; 0 where there are no more.
  std::int64_t first_order_beyond(std::size_t units);

  /// Makes one transaction of what the body does with this shop: committed when it returns, undone when it throws.
  void in_transaction(const test::connection::body& body) { connection_->in_transaction(body); }
  /// The same by rowlock::optimistically, which may run the body several times.
  void optimistically(rowlock::client& locks, const rowlock::lock_name& name, const std::function<void()>& body);

 private:
  const backend& backend_;
  std::unique_ptr<test::connection> connection_;
};

/// Where the shop's data and its locks are.
struct database {
  std::string shop_url;
  std::string locks_url;
};

/// What a URL may look like in this build, for people: "sqlite:PATH|...".
std::string database_forms();

/// The kind of database, by its product's name.
std::string_view product_of(const database& where);

/// Throws std::invalid_argument with a sentence where this build cannot open such a URL.
database parse_database(const std::string& url);

enum class outcome { bought, has_one_already, sold_out };

/// What a purchase is going to write, if its verdict is `bought`.
struct decision {
  outcome verdict = outcome::bought;
  std::int64_t left = 0;  ///< in stock, afterwards
};

// One purchase, "one order per user". It reads, thinks and writes, and is right only if nobody else does so meanwhile.

/// Reads and thinks.
decision decide(shop& from, const request& what);
/// Writes.
void carry_out(const decision& decided, shop& in, const request& what);
/// Both.
outcome buy(shop& from, const request& what);

}  // namespace flash_sale
