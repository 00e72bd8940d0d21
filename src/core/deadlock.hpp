#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/identity.hpp"

namespace rowlock::inline v1::core {

/// Somebody who waits, and cannot let go of what it has before that wait has ended.
struct waiting_holder {
  ticket_number ticket{};
  std::string waits_for{};
  std::string owner{};
  std::string thread{};
  std::vector<std::string> has{};
};

/// Those who wait for each other in a circle, of which this one is the youngest, beginning with it: each has what the
/// one before waits for, and the last waits for what the first has. Empty: there is no such circle.
std::vector<const waiting_holder*> find_cycle(std::span<const waiting_holder> all, ticket_number youngest);

/// For people: who has what, and waits for what.
std::string text_of(std::span<const waiting_holder* const> cycle);

}  // namespace rowlock::inline v1::core
