#pragma once

#include <rowlock/client.hpp>

#include <compare>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "command/output.hpp"

namespace rowlock::command {

/// The holder of a lock, and its waiters.
struct situation {
  std::string name;
  std::optional<lock_info> holder{};
  std::vector<waiter_info> queue{};
  std::vector<lock_info> sharers{};  ///< the holders, if the lock is shared
  duration quarantine{};             ///< until its end; zero: none is on
};
situation look_at(client& locks, const std::string& name);

/// The holders and waiters of all names with a prefix, in the order of the names.
struct overview {
  std::vector<lock_info> held{};
  std::vector<waiter_info> queue{};
  duration quarantine{};  ///< until its end; zero: none is on
};
overview look_at_all(client& locks, std::string_view prefix);

/// All holders: several if the lock is shared.
std::vector<lock_info> holders_of(client& locks, const lock_name& name);

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

/// nullopt: a transaction holds the lock, and has not committed its token.
std::optional<fencing_token> known_token(const lock_info& lock);
/// The token as a number, or "-".
std::string token_or_dash(const lock_info& lock);

/// The lock's owner, or the session of its transaction if the server reports that.
std::string owner_of(const lock_info& lock);
/// The same, with the note.
std::string holder_in_words(const lock_info& lock);

/// The result of freeing a lock that was shown before.
enum class freeing : std::uint8_t { freed, not_held, not_confirmed, passed_on };
/// Frees the lock if its holder is still the one that was shown; a shared lock as a whole, with later holders.
freeing free_as_seen(client& locks, const lock_info& seen);
std::string why_not_freed(std::string_view name, freeing result);

/// "not held", and why it cannot be acquired in a quarantine.
std::string not_held_in_words(duration quarantine);

/// Writes the holder, a line for each property, the holders of a shared lock, and the queue.
void write(std::ostream& out, const situation& seen);
/// Writes the queue as a table with a heading; nothing if it is empty.
void write_queue(std::ostream& out, const std::vector<waiter_info>& queue, bool has_names = false);

/// Writes a table with a line for each holder.
void write_graph(std::ostream& out, const std::vector<wait_edge>& all);

json json_of(const lock_info& lock);
json json_of(const std::vector<lock_info>& all);
json json_of(const std::vector<waiter_info>& queue);
json json_of(const std::vector<wait_edge>& all);
/// The holder's object, with null for every value if there is no holder, with "waiters" and, for a shared lock,
/// "holders".
json json_of(const situation& seen);

}  // namespace rowlock::command
