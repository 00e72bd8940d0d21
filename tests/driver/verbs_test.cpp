#include "sql/sheet.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <set>

#include "driver/backend.hpp"

namespace rowlock::test {
namespace {

using sheets::verb;

sheets::sheet sheet_of(const char* scheme) { return driver::backend_for(scheme).sheet("rowlock_", {}); }

std::set<verb> lacking(const sheets::sheet& sql) {
  std::set<verb> out;
  for (std::size_t i = 0; i < sheets::sheet::size; ++i) {
    const auto& each = sql[static_cast<verb>(i)];
    if (!each.read && !each.write && !each.batch) out.insert(static_cast<verb>(i));
  }
  return out;
}

TEST(verbs_test, sqlite_lacks_what_needs_row_locks_or_notifications) {
  const auto sql = sheet_of("sqlite");
  EXPECT_EQ(lacking(sql),
            (std::set{verb::hold,           verb::find_held,       verb::vacate_expired,   verb::find_pinning,
                      verb::end_session,    verb::acquire_in_turn, verb::acquire_existing, verb::ring,
                      verb::notify_waiters, verb::touch,           verb::pinned_by,        verb::mark_waiting,
                      verb::clear_waiting,  verb::first_waiter,    verb::see_guard,        verb::incarnation,
                      verb::set_guard,      verb::serve_from,      verb::see_witness,      verb::await_relaxed}));
  EXPECT_TRUE(sql.can().grants_to_a_ticket);
  EXPECT_FALSE(sql.can().marks_waiting);
  EXPECT_FALSE(sql.can().acquires_in_turn);
  EXPECT_FALSE(sql.can().notifies_waiters);
  EXPECT_FALSE(sql.can().finds_blockers);
  EXPECT_FALSE(sql.can().lists_transactions);
  EXPECT_FALSE(sql.can().shows_locked_rows);
}

#ifdef ROWLOCK_WITH_POSTGRESQL
TEST(verbs_test, postgresql_lacks_only_what_is_for_databases_without_row_locks) {
  const auto sql = sheet_of("postgresql");
  EXPECT_EQ(lacking(sql), (std::set{verb::hold_while_alive, verb::names_liveness, verb::vacate_dead,
                                    verb::first_in_turn, verb::grant}));
  EXPECT_TRUE(sql.can().acquires_in_turn);
  EXPECT_TRUE(sql.can().notifies_waiters);
  EXPECT_TRUE(sql.can().marks_waiting);
  EXPECT_TRUE(sql.can().finds_blockers);
  EXPECT_TRUE(sql.can().lists_transactions);
  EXPECT_TRUE(sql.can().shows_locked_rows);
}
#endif

#ifdef ROWLOCK_WITH_MYSQL
TEST(verbs_test, mysql_lists_transactions_and_cannot_notify) {
  const auto sql = sheet_of("mysql");
  EXPECT_EQ(lacking(sql), (std::set{verb::hold_while_alive, verb::names_liveness, verb::vacate_dead, verb::find_pinning,
                                    verb::end_session, verb::acquire_in_turn, verb::acquire_existing, verb::ring,
                                    verb::notify_waiters, verb::touch, verb::see_witness, verb::await_relaxed}));
  EXPECT_TRUE(sql.can().grants_to_a_ticket);
  EXPECT_FALSE(sql.can().acquires_in_turn);
  EXPECT_FALSE(sql.can().notifies_waiters);
  EXPECT_FALSE(sql.can().finds_blockers);
  EXPECT_TRUE(sql.can().lists_transactions);
  EXPECT_FALSE(sql.can().shows_locked_rows);
}
#endif

}  // namespace
}  // namespace rowlock::test
