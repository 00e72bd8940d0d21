#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/dialect.hpp"
#include "driver/session.hpp"

namespace rowlock::inline v1::strategies {

/// What nobody needs any more. It is looked for in pages of a table, which locks nothing, and then deleted by its key
/// if it is still so under its lock; what somebody else has locked is left for another time.

struct unused_names {
  std::vector<std::string> names;
  std::vector<std::string> odd;  ///< written by hand, and no names: they cannot be asked for
  std::string last;              ///< of the page; empty: it has none
};
/// Among the next `number` names.
unused_names find_unused(const dialect::table& sql, driver::session& on, std::string_view after, std::size_t number,
                         duration retention, const driver::limits& until);
/// How many rows are gone.
std::size_t sweep(const dialect::table& sql, driver::session& on, std::span<const std::string> names,
                  duration retention, const driver::limits& until);

struct dead_ticket {
  std::int64_t number = 0;
  std::string name;
  std::string attempt;
};
struct dead_tickets {
  std::vector<dead_ticket> tickets;
  std::int64_t last = 0;  ///< of the page; 0: it has none
};
/// Among the next `number` tickets.
dead_tickets find_dead(const dialect::table& sql, driver::session& on, std::int64_t after, std::size_t number,
                       const driver::limits& until);
/// How many tickets are gone.
std::size_t bury(const dialect::table& sql, driver::session& on, std::span<const dead_ticket> tickets,
                 const driver::limits& until);

struct announced_names {
  std::size_t told = 0;
  std::string last;  ///< of the page; empty: it has none
};
/// Tells whoever is the first to wait for a name that looks free, where others can be told: among the next `number`
/// tickets by name.
announced_names announce(const dialect::table& sql, driver::session& on, std::string_view after, std::size_t number,
                         const driver::limits& until);

}  // namespace rowlock::inline v1::strategies
