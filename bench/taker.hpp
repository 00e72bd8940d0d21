#pragma once

#include <memory>

#include "orders.hpp"

namespace bench {

/// One who takes a lock, however long that takes, and lets it go.
class taker {
 public:
  taker() = default;
  taker(const taker&) = delete;
  taker& operator=(const taker&) = delete;
  virtual ~taker() = default;

  virtual void take() = 0;
  virtual void let_go() = 0;
};

std::unique_ptr<taker> make_taker(const orders& what);

}  // namespace bench
