#pragma once

#include <rowlock/rowlock.hpp>

#include <memory>

#include "buy.hpp"
#include "messages.hpp"
#include "shop.hpp"

namespace flash_sale {

/// How long its lock outlives it while it is paused.
inline constexpr std::chrono::milliseconds short_lease{500};

/// Takes the lock, decides, and carries that out only later, without another look: a process may be paused anywhere.
class late_buyer {
 public:
  explicit late_buyer(const task& what);

  /// In one transaction. What is bought is 0 where `confirm` did not let it commit.
  message carry_out();

 private:
  request request_{.user = 1, .thinking = {}};
  bool confirms_;
  rowlock::client locks_;
  rowlock::held_lock item_;
  std::unique_ptr<shop> shop_;
  decision decided_;
};

}  // namespace flash_sale
