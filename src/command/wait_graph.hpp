#pragma once

#include <rowlock/client.hpp>

#include <compare>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "command/output.hpp"

namespace rowlock::command {

/// A holder of a lock, or a waiter.
struct party {
  std::string owner;
  std::string thread;

  auto operator<=>(const party&) const = default;
};

/// A waiter and the holders that it waits for.
struct wait_edge {
  party who;
  std::string name;              ///< of the lock that it waits for
  std::vector<party> holders{};  ///< several if they share it
  bool is_in_circle = false;     ///< it waits for itself, perhaps by way of others
};

/// All waiters, in the order of the names and the tickets.
std::vector<wait_edge> wait_graph(client& locks);
/// Marks the waiters that wait for themselves.
void mark_circles(std::vector<wait_edge>& all);

/// Writes a table with a line for each holder.
void write_graph(std::ostream& out, const std::vector<wait_edge>& all);
json json_of(const std::vector<wait_edge>& all);

}  // namespace rowlock::command
