#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "contract/contract.hpp"

namespace rowlock::test {

// The parameter's strategy is that of who wants the name alone.
class sharing : public contract {
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
  /// Calls of the database that give shares.
  static std::uint64_t grants(const client& of) { return calls(of, "acquiring"); }
  static std::uint64_t calls(const client& of, std::string_view operation) {
    std::uint64_t out = 0;
    for (const auto& each : of.stats().statements)
      if (each.operation == operation)
        for (const auto count : each.took.counts) out += count;
    return out;
  }
};

}  // namespace rowlock::test
