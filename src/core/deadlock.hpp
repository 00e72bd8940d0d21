#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/identity.hpp"

namespace rowlock::inline v1::core {

/// A waiter that cannot release what it holds before its wait has ended.
struct waiting_holder {
  ticket_number ticket{};
  std::string waits_for{};
  std::string owner{};
  std::string thread{};
  std::vector<std::string> has{};
};

/// The waiters that wait for each other in a circle, whose youngest is `youngest`, beginning with it: each holds
/// what the one before waits for, and the last waits for what the first holds. Empty: there is no circle.
std::vector<const waiting_holder*> find_cycle(std::span<const waiting_holder> all, ticket_number youngest);

/// For people: which holder holds what, and waits for what.
std::string text_of(std::span<const waiting_holder* const> cycle);

}  // namespace rowlock::inline v1::core
