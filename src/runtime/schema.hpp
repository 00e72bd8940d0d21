#pragma once

#include <rowlock/schema_status.hpp>

#include <chrono>
#include <span>
#include <string_view>

#include "dialect/dialect.hpp"
#include "driver/session.hpp"

namespace rowlock::inline v1::runtime {

/// Throws schema_missing, schema_older or schema_newer with a sentence that says what to do.
void require_fit_schema(const dialect::table& sql, driver::session& on, const driver::limits& until);

/// Throws where the host's clock is behind the time at which the schema was applied: leases would not end.
void require_sane_clock(const dialect::table& sql, driver::session& on, const driver::limits& until);

/// The database's.
std::chrono::sys_time<duration> read_clock(const dialect::table& sql, driver::session& on, const driver::limits& until);

/// How the tables stand. No table yet is an answer, not an error.
schema_status read_status(const dialect::table& sql, std::span<const dialect::migration> files, std::string_view prefix,
                          driver::session& on, const driver::limits& until);

/// Applies what is missing. Of many processes one does it, and the others find it done.
void migrate(const dialect::table& sql, std::span<const dialect::migration> files, std::string_view prefix,
             driver::session& on, const driver::limits& until);

}  // namespace rowlock::inline v1::runtime
