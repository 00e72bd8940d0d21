#pragma once

#include <memory>
#include <string>
#include <vector>

#include "contract/contract.hpp"

namespace rowlock::test {

// The parameter's strategy is that of who wants the name alone.
class sharing : public two_clients {
 protected:
  static constexpr const char* name = "orders/42";

  using waiter = background<held_lock>;
  using waiters = std::vector<std::unique_ptr<waiter>>;

  std::unique_ptr<waiter> start_to_share(client& locks, fairness how, const std::string& note = {}) {
    const auto before = db().tickets();
    auto out = std::make_unique<waiter>([&locks, how, note](std::stop_token stop) {
      return locks.acquire_shared(name, {.fairness = how, .note = note}, std::move(stop));
    });
    EXPECT_TRUE(eventually([&] { return db().tickets() == before + 1; }));
    return out;
  }
  /// The shares that they were granted.
  static std::vector<held_lock> shares_of(waiters& all) {
    std::vector<held_lock> out;
    for (const auto& each : all) out.push_back(each->get());
    return out;
  }
  /// Some may be deleted in the background, or by a release that is repeated.
  bool are_no_rows_left() {
    return eventually([&] { return !locks_.find(name) && db().tickets() == 0 && db().shares() == 0; });
  }
};

}  // namespace rowlock::test
