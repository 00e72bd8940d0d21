#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "contract/contract.hpp"

namespace rowlock::test {

// The parameter's strategy is that of who wants the name alone.
class sharing : public two_clients {
 protected:
  static constexpr const char* name = "orders/42";

  using waiter = background<held_lock>;
  std::unique_ptr<waiter> start_to_share(client& locks, fairness how, const std::string& note = {}) {
    const auto before = db().tickets();
    auto out = std::make_unique<waiter>([&locks, how, note](std::stop_token stop) {
      return locks.acquire_shared(name, {.fairness = how, .note = note}, std::move(stop));
    });
    EXPECT_TRUE(eventually([&] { return db().tickets() == before + 1; }));
    return out;
  }
};

}  // namespace rowlock::test
