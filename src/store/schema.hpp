#pragma once

#include <rowlock/schema_status.hpp>

#include <chrono>
#include <span>
#include <string>
#include <string_view>

#include "store/access.hpp"

namespace rowlock::inline v1::store {

/// The files of a schema, and the prefix of its tables.
struct schema_files {
  std::span<const sheets::migration> files;
  std::string_view prefix;
};

/// Throws schema_missing, schema_older or schema_newer with a sentence that says what to do.
void require_fit_schema(const access& db, const schema_files& ours);

/// Throws if the database's clock is behind the time at which the schema was applied: leases would not end.
void require_sane_clock(const access& db);

/// Throws permission_denied if this role could not take locks.
void require_privileges(const access& db);

/// The database's clock.
std::chrono::sys_time<duration> read_clock(const access& db);

/// Which migrations are applied. A missing table is an answer, not an error.
schema_status read_status(const access& db, const schema_files& ours);

/// Applies what is missing. Of many processes one does it, and the others find it done.
void migrate(const access& db, const schema_files& ours);

/// The text that identifies the tables of this client, among all databases and all places in one; empty if there is
/// none yet.
std::string installation(const access& db);

}  // namespace rowlock::inline v1::store
