#pragma once

#include <memory>
#include <string>

#include "support/server_database.hpp"

namespace rowlock::test {

/// On PostgreSQL: statements of the role stop where they read a row of the lock table. What they have seen by then is
/// what there was when they began. See server_database::at_gate().
[[nodiscard]] inline std::unique_ptr<obstacle> gate_before_reading(server_database& db) {
  const auto key = "hashtext('" + db.name() + "')";
  db.execute(
      "CREATE OR REPLACE FUNCTION may_read() RETURNS boolean LANGUAGE plpgsql SET lock_timeout = 0 AS $$ BEGIN "
      "PERFORM pg_advisory_xact_lock_shared(" +
      key +
      "); RETURN true; END $$; DROP POLICY IF EXISTS at_a_gate ON rowlock_lock; "
      "CREATE POLICY at_a_gate ON rowlock_lock USING (may_read()); "
      "ALTER TABLE rowlock_lock ENABLE ROW LEVEL SECURITY; ALTER TABLE rowlock_lock FORCE ROW LEVEL SECURITY");
  return db.transaction("SELECT pg_advisory_xact_lock(" + key + ")");
}

}  // namespace rowlock::test
