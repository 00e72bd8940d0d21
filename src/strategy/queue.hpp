#pragma once

#include <rowlock/fencing_token.hpp>
#include <rowlock/waiter_info.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/dialect.hpp"
#include "driver/session.hpp"

namespace rowlock::inline v1::strategies {

/// Who waits for a name, in the database. The order is that of the tickets that are committed and not expired.

/// Behind everybody.
inline constexpr std::int64_t no_ticket = std::numeric_limits<std::int64_t>::max();

/// Views live as long as the call.
struct ticket {
  std::string_view name;
  std::string_view attempt;
  std::int64_t number = no_ticket;
};

/// Who is to have one.
struct newcomer {
  std::string_view name;
  std::string_view owner;
  std::string_view thread;
  std::string_view attempt;
};

/// What a look at the queue and at the row tells. `number` has its turn where nobody stands before it.
struct turn {
  bool is_behind = true;
  bool has_place = false;
  bool looks_free = false;         ///< nobody's lease runs; a transaction may have it all the same
  std::optional<duration> left{};  ///< of the holder's lease
  fencing_token version{};         ///< another one: somebody has had the name meanwhile
};

struct stay {
  bool has_place = false;
  bool may_go = false;  ///< its turn has come, and the name looks free. Told by databases that can while they write
};

/// The ticket's number.
std::int64_t enqueue(const dialect::table& sql, driver::session& on, const newcomer& who, const driver::limits& until);
/// Keeps tickets alive: one answer each.
std::vector<stay> keep_alive(const dialect::table& sql, driver::session& on, std::span<const ticket> some,
                             const driver::limits& until);
/// Takes tickets away, and tells the next where others can be told. One answer each; false: somebody keeps it locked.
std::vector<bool> leave(const dialect::table& sql, driver::session& on, std::span<const ticket> some,
                        const driver::limits& until);
/// The same where its number is not known, nor whether it is there.
void withdraw(const dialect::table& sql, driver::session& on, const ticket& t, const driver::limits& until);
/// One answer each; a name may stand there once.
std::vector<turn> look_at_queues(const dialect::table& sql, driver::session& on, std::span<const ticket> some,
                                 const driver::limits& until);
std::vector<waiter_info> waiters(const dialect::table& sql, driver::session& on, std::string_view name,
                                 const driver::limits& until);

}  // namespace rowlock::inline v1::strategies
