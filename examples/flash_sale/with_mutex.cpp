#include "with_mutex.hpp"

#include <mutex>
#include <stdexcept>
#include <thread>

namespace flash_sale {
namespace {

using guard = std::unique_lock<rowlock::mutex>;

guard lock_and_note(rowlock::mutex& what, message& mine) {
  const stopwatch waited;
  guard held{what};
  waited.note_in(mine);
  return held;
}

void stop_if_lost(const rowlock::mutex& held) {
  if (held.held().lost().stop_requested()) throw std::runtime_error{"the lock was lost during a purchase"};
}

class mutex_around_all final : public way {
 public:
  mutex_around_all(const std::string& locks_url, rowlock::strategy strategy)
      : locks_{connect(locks_url)}, item_{locks_, item, {.strategy = strategy}} {}

  outcome buy(shop& from, const request& what, message& mine) override {
    const auto held = lock_and_note(item_, mine);
    const auto decided = decide(from, what);
    stop_if_lost(item_);
    if (decided.verdict == outcome::bought) carry_out(decided, from, what);
    return decided.verdict;
  }

 private:
  rowlock::client locks_;
  rowlock::mutex item_;
};

class mutex_and_transaction final : public way {
 public:
  mutex_and_transaction(const std::string& locks_url, letting_go when)
      : locks_{connect(locks_url)}, item_{locks_, item}, when_{when} {}

  outcome buy(shop& from, const request& what, message& mine) override {
    auto held = lock_and_note(item_, mine);
    const auto decided = decide(from, what);
    stop_if_lost(item_);
    if (decided.verdict == outcome::bought) from.in_transaction([&](auto&) { write(decided, from, what, held); });
    return decided.verdict;
  }

 private:
  void write(const decision& decided, shop& in, const request& what, guard& held) const {
    carry_out(decided, in, what);
    if (when_ == letting_go::before_commit) held.unlock();
    std::this_thread::sleep_for(what.thinking);  // there is more to a purchase than the stock
  }

  rowlock::client locks_;
  rowlock::mutex item_;
  letting_go when_;
};

}  // namespace

std::unique_ptr<way> buying_with_mutex(const std::string& locks_url, rowlock::strategy strategy) {
  return std::make_unique<mutex_around_all>(locks_url, strategy);
}

std::unique_ptr<way> writing_with_mutex(const std::string& locks_url, letting_go when) {
  return std::make_unique<mutex_and_transaction>(locks_url, when);
}

}  // namespace flash_sale
