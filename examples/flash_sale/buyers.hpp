#pragma once

#include <rowlock/rowlock.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "buy.hpp"
#include "messages.hpp"
#include "sale.hpp"
#include "shop.hpp"

namespace flash_sale {

/// Makes every `buyers` of this process end after the purchases it is at. May be called by a signal handler.
void stop_buying() noexcept;

/// The threads of one process, and the one client and the one mutex that they share.
class buyers {
 public:
  /// Opens all connections.
  explicit buyers(const task& what);

  /// Once. Throws what went wrong in the first thread that failed.
  message buy_everything();

 private:
  void buy_in_turn(shop& from, message& mine) noexcept;
  outcome buy_one(shop& from, const request& what, message& mine);
  bool is_over() const noexcept;
  void fail(const std::string& why);

  std::vector<request> requests_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> sold_out_{false};
  std::optional<rowlock::client> locks_;
  std::optional<rowlock::mutex> item_;

  std::mutex error_mutex_;
  std::string error_;  ///< of the first thread that failed
  std::atomic<bool> failed_{false};

  std::vector<std::unique_ptr<shop>> shops_;  ///< one for each thread
};

}  // namespace flash_sale
