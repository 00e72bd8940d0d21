#pragma once

#include <rowlock/client.hpp>

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "command/output.hpp"

namespace rowlock::command {

/// Who has a lock, and who waits for it.
struct situation {
  std::string name;
  std::optional<lock_info> holder{};
  std::vector<waiter_info> queue{};
  std::vector<lock_info> sharers{};  ///< where several have it
};

situation look_at(client& locks, const std::string& name);

/// The holder for people: its name, or which session's transaction it is, as far as the server tells.
std::string owner_of(const lock_info& lock);

/// A table's line, as name, token, age, expiry, owner and note.
table_line line_of(const lock_info& lock);
/// The queue as a table, with a heading; nothing where nobody waits.
void write_queue(std::ostream& out, const std::vector<waiter_info>& queue);
/// The same of several names, with the name of each.
void write_queues(std::ostream& out, const std::vector<waiter_info>& queues);
/// The holder, a line for each matter, whoever shares the name, and the queue below.
void write(std::ostream& out, const situation& seen);

json json_of(const lock_info& lock);
json json_of(const std::vector<waiter_info>& queue);
/// The holder's object, with null for whatever there is none of, "waiters" and, if it is shared, "holders".
json json_of(const situation& seen);

}  // namespace rowlock::command
