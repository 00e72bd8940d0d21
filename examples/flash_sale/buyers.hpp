#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "messages.hpp"
#include "sale.hpp"
#include "shop.hpp"
#include "way.hpp"

namespace flash_sale {

/// Makes every `buyers` of this process end after the purchases it is at. May be called by a signal handler.
void stop_buying() noexcept;

/// The threads of one process, and what they share.
class buyers {
 public:
  /// Opens all connections.
  explicit buyers(const task& what);

  /// Once. Throws what went wrong in the first thread that failed.
  message buy_everything();

 private:
  void buy_in_turn(shop& from, message& mine) noexcept;
  bool is_over() const noexcept;
  void fail(const std::string& why);

  std::vector<request> requests_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> sold_out_{false};
  std::unique_ptr<way> way_;

  std::mutex error_mutex_;
  std::string error_;  ///< of the first thread that failed
  std::atomic<bool> failed_{false};

  std::vector<std::unique_ptr<shop>> shops_;  ///< one for each thread
};

}  // namespace flash_sale
