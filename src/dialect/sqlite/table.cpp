#include "dialect/sqlite/parts.hpp"
#include "dialect/steps.hpp"

namespace rowlock::inline v1::dialect {

table sqlite(std::string_view prefix) {
  auto steps = joined(sqlite_parts::leases(), sqlite_parts::tickets(), sqlite_parts::sharing(),
                      sqlite_parts::inspection(), sqlite_parts::housekeeping(), sqlite_parts::schema());
  // The verbs for databases with row locks and for notifying waiters; what its settings tell already.
  static_assert(steps.size() == table::size - 17);
  for (step& s : steps)
    change_texts(s, [](std::string& text) { text = replaced(text, "{first_token}", sqlite_parts::first_token); });
  return {steps, {.prefix = prefix, .place = "main."}};
}

}  // namespace rowlock::inline v1::dialect
