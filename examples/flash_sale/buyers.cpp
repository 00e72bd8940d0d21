#include "buyers.hpp"

#include <exception>
#include <stdexcept>
#include <thread>

namespace flash_sale {
namespace {

std::atomic<bool> told_to_stop{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

}  // namespace

void stop_buying() noexcept { told_to_stop = true; }

buyers::buyers(const task& what)
    : requests_{requests_for(what.sale, what.process)}, way_{make_way(what.strategy, what.locks_url)} {
  for (std::size_t thread = 0; thread < what.sale.threads; ++thread) shops_.push_back(open_shop(what.shop_url));
}

message buyers::buy_everything() {
  std::vector<message> each_thread(shops_.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t at = 0; at < shops_.size(); ++at)
      threads.emplace_back([&from = *shops_[at], &mine = each_thread[at], this] { buy_in_turn(from, mine); });
  }
  if (failed_) throw std::runtime_error{error_};
  if (told_to_stop) throw std::runtime_error{"ended by a signal"};
  message all;
  for (const auto& mine : each_thread) {
    all.bought += mine.bought;
    all.waits_us.insert(all.waits_us.end(), mine.waits_us.begin(), mine.waits_us.end());
  }
  return all;
}

void buyers::buy_in_turn(shop& from, message& mine) noexcept {
  try {
    while (!is_over()) {
      const auto place = next_.fetch_add(1);
      if (place >= requests_.size()) return;
      const auto result = way_->buy(from, requests_[place], mine);
      if (result == outcome::bought) ++mine.bought;
      if (result == outcome::sold_out) sold_out_ = true;
    }
  } catch (const std::exception& e) {
    fail(e.what());
  }
}

bool buyers::is_over() const noexcept { return sold_out_ || failed_ || told_to_stop; }

void buyers::fail(const std::string& why) {
  const std::scoped_lock guard{error_mutex_};
  if (error_.empty()) error_ = why;
  failed_ = true;
}

}  // namespace flash_sale
