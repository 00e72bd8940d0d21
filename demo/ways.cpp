#include "ways.hpp"

#include <chrono>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

namespace flash_sale {
namespace {

/// Measures from its construction.
class stopwatch {
 public:
  void note_in(buyer_notes& mine) const {
    const auto took = std::chrono::steady_clock::now() - began_;
    mine.trace.grant();
    mine.waits_us.push_back(std::chrono::duration_cast<std::chrono::microseconds>(took).count());
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

class without_protection final : public way {
 public:
  outcome buy(shop& from, const request& what, buyer_notes& mine) override {
    mine.trace.grant();
    return flash_sale::buy(from, what);
  }
};

using guard = std::unique_lock<rowlock::mutex>;

guard lock_and_note(rowlock::mutex& what, buyer_notes& mine) {
  const stopwatch waited;
  guard held{what};
  waited.note_in(mine);
  return held;
}

void stop_if_lost(const rowlock::mutex& held) {
  if (held.held().lost().stop_requested()) throw std::runtime_error{"the lock was lost during a purchase"};
}

/// Each purchase, whose statements are committed one by one, under a mutex.
class mutex_around_all final : public way {
 public:
  mutex_around_all(const std::string& locks_url, rowlock::strategy strategy)
      : locks_{connect(locks_url)}, item_{locks_, item, {.strategy = strategy}} {}

  outcome buy(shop& from, const request& what, buyer_notes& mine) override {
    const auto held = lock_and_note(item_, mine);
    const auto decided = decide(from, what);
    stop_if_lost(item_);
    if (decided.verdict == outcome::bought) carry_out(decided, from, what);
    mine.trace.order();
    return decided.verdict;
  }

 private:
  rowlock::client locks_;
  rowlock::mutex item_;
};

/// When the lock is let go of. Before the commit is the classic mistake: the next holder then reads what was there
/// before.
enum class letting_go { before_commit, after_commit };

/// The same with a transaction around what is written.
class mutex_and_transaction final : public way {
 public:
  mutex_and_transaction(const std::string& locks_url, letting_go when)
      : locks_{connect(locks_url)}, item_{locks_, item}, when_{when} {}

  outcome buy(shop& from, const request& what, buyer_notes& mine) override {
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

/// Each purchase is a transaction of the shop's own connection, in the database that has the locks, too.
class with_lock_in final : public way {
 public:
  explicit with_lock_in(const std::string& locks_url) : locks_{connect(locks_url)} {}

  outcome buy(shop& from, const request& what, buyer_notes& mine) override {
    auto result = outcome::sold_out;
    from.in_transaction([&](test::open_transaction& tx) {
      const stopwatch waited;
      tx.lock(locks_, item);
      waited.note_in(mine);
      result = flash_sale::buy(from, what);
    });
    return result;
  }

 private:
  rowlock::client locks_;
};

/// The same, again and again if need be.
class with_optimism final : public way {
 public:
  explicit with_optimism(const std::string& locks_url) : locks_{connect(locks_url)} {}

  outcome buy(shop& from, const request& what, buyer_notes& mine) override {
    auto result = outcome::sold_out;
    bool is_repeated = false;
    from.optimistically(locks_, item, [&] {
      if (std::exchange(is_repeated, true)) mine.trace.retry();
      mine.trace.grant();
      result = flash_sale::buy(from, what);
      mine.trace.order();
    });
    return result;
  }

 private:
  rowlock::client locks_;
};

}  // namespace

std::unique_ptr<way> make_way(const std::string& run, const std::string& locks_url) {
  if (run == without_lock) return std::make_unique<without_protection>();
  if (run == by_lock_in) return std::make_unique<with_lock_in>(locks_url);
  if (run == by_optimism) return std::make_unique<with_optimism>(locks_url);
  if (run == unlocked_too_early) return std::make_unique<mutex_and_transaction>(locks_url, letting_go::before_commit);
  if (run == unlocked_after_commit) return std::make_unique<mutex_and_transaction>(locks_url, letting_go::after_commit);
  if (const auto strategy = find_strategy(run)) return std::make_unique<mutex_around_all>(locks_url, *strategy);
  throw std::invalid_argument{"there is no way to buy that is called " + run};
}

}  // namespace flash_sale
