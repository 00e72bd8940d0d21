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

  waiter start_to_wait(client& locks, const std::string& who, lock_options options = fair()) {
    options.as = holder::named(who);
    return std::make_unique<background<bool>>([this, &locks, who, options](std::stop_token stop) {
      const auto held = locks.try_acquire_for(name, patience * 2, options, std::move(stop));
      if (held) granted.add(who);
      return held.has_value();
    });
  }
  /// The same, behind all who are there already.
  waiter wait_behind(client& locks, const std::string& who, const lock_options& options = fair()) {
    auto out = start_to_wait(locks, who, options);
    EXPECT_TRUE(eventually([&] { return ticket_of(locks, who) != 0; })) << who << " has no ticket";
    return out;
  }

  bool are_waiting(int number) {
    return eventually([&] { return db().tickets() == number; });
  }
  /// Those who wait, as the database has them.
  names queue(client& seen_by) const {
    names out;
    for (const auto& each : seen_by.waiters(name)) out.push_back(name_in(each));
    return out;
  }
  std::int64_t ticket_of(client& seen_by, const std::string& who) const {
    for (const auto& each : seen_by.waiters(name))
      if (name_in(each) == who) return each.ticket;
    return 0;
  }

  const std::string name = "orders/42";
  grants granted;
};

}  // namespace rowlock::test
