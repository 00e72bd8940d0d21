#include "dialect/sqlite/parts.hpp"
#include "dialect/steps.hpp"

namespace rowlock::inline v1::dialect {

table sqlite(std::string_view prefix) {
  const auto steps = joined(sqlite_parts::leases(), sqlite_parts::tickets(), sqlite_parts::sharing(),
                            sqlite_parts::inspection(), sqlite_parts::housekeeping(), sqlite_parts::schema());
  // The verbs for databases with row locks and for notifying waiters; what its settings tell already.
  static_assert(steps.size() == table::size - 17);
  return {steps, {.prefix = prefix, .place = "main."}};
}

}  // namespace rowlock::inline v1::dialect
