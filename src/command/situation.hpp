#pragma once

#include <rowlock/client.hpp>

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
  std::vector<lock_info> sharers{};  ///< where several share it
};
situation look_at(client& locks, const std::string& name);

/// The same of all names that begin alike, in the order of the names.
struct overview {
  std::vector<lock_info> held{};
  std::vector<waiter_info> queue{};
};
overview look_at_all(client& locks, std::string_view prefix);

/// Each one, where several share the lock.
std::vector<lock_info> holders_of(client& locks, const lock_name& name);

/// The holder: its name, or which session's transaction it is if the server reports that.
std::string owner_of(const lock_info& lock);
/// The same, with its note.
std::string holder_in_words(const lock_info& lock);

/// What became of a wish to free a lock that a person has seen.
enum class freeing : std::uint8_t { freed, not_held, not_confirmed, passed_on };
/// Frees it if it is held as it was seen; a shared lock as a whole, with those who have begun to share it since.
freeing free_as_seen(client& locks, const lock_info& seen);
std::string why_not_freed(std::string_view name, freeing result);

/// The holder, a line for each property, those that share the name, and the queue.
void write(std::ostream& out, const situation& seen);
/// The queue as a table, with a heading; nothing where it is empty.
void write_queue(std::ostream& out, const std::vector<waiter_info>& queue, bool has_names = false);

json json_of(const lock_info& lock);
json json_of(const std::vector<waiter_info>& queue);
/// The holder's object, with null for everything where there is no holder, "waiters" and, if it is shared, "holders".
json json_of(const situation& seen);

}  // namespace rowlock::command
