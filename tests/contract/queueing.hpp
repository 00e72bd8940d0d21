#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "contract/contract.hpp"
#include "support/named_waiter.hpp"

namespace rowlock::test {

/// Who had the lock, in that order.
class grants {
 public:
  void add(const std::string& who) {
    const std::lock_guard lock{mutex_};
    names_.push_back(who);
  }
  std::vector<std::string> names() const {
    const std::lock_guard lock{mutex_};
    return names_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> names_;
};

/// Several wait for one name, in an order that the test knows.
struct queueing : two_clients {
  /// One who waits on a thread of its own, and lets go as soon as it is granted: whether it was.
  using waiter = std::unique_ptr<background<bool>>;
  using names = std::vector<std::string>;

  static lock_options fair(lock_options options = {}) {
    options.fairness = fairness::fifo;
    return with(std::move(options));
  }

  waiter start_to_wait(client& locks, const std::string& who, lock_options options = fair(), bool by_mutex = false) {
    options.as = holder::named(who);
    return std::make_unique<background<bool>>([this, &locks, who, options, by_mutex](std::stop_token stop) {
      mutex order{locks, name, options};
      const auto held = by_mutex ? std::nullopt : locks.try_acquire_for(name, patience * 2, options, stop);
      const bool is_granted = by_mutex ? order.lock(stop) : held.has_value();
      if (is_granted) granted.add(who);
      if (is_granted && by_mutex) order.unlock();
      return is_granted;
    });
  }
  /// The same, behind all who are there already.
  waiter wait_behind(client& locks, const std::string& who, const lock_options& options = fair(),
                     bool by_mutex = false) {
    auto out = start_to_wait(locks, who, options, by_mutex);
    EXPECT_TRUE(eventually([&] { return ticket_of(locks, who) != 0; })) << who << " has no ticket";
    return out;
  }

  bool are_waiting(int number) {
    return eventually([&] { return db().tickets() == number; });
  }
  /// Those who wait, as the database has them.
  names queue(client& seen_by) const { return queue_of(seen_by, name); }
  std::int64_t ticket_of(client& seen_by, const std::string& who) const { return test::ticket_of(seen_by, name, who); }

  const std::string name = "orders/42";
  grants granted;
};

}  // namespace rowlock::test
