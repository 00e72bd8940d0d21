#pragma once

#include <rowlock/duration.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "store/access.hpp"

/// The guard over failovers: while the row of its table names another server's history of commits, or grants have not
/// begun, nothing is granted.
namespace rowlock::inline v1::store {

struct guard_row {
  std::int64_t term = 0;                 ///< grows at every change
  std::optional<duration> quarantine{};  ///< no lease is longer; absent: the guard is off
  std::string incarnation{};             ///< whose history the tables belong to; empty: the guard is off
  duration left{};                       ///< until grants begin; not positive: they have begun
  std::chrono::sys_time<duration> since{};
  bool is_relaxed = false;  ///< grants do not wait for the disk, so that a crash is as a failover
};

/// nullopt: the database has no such table, or no row in it. Then the guard is off.
std::optional<guard_row> see_guard(const access& db);

/// The history of commits that the server continues; empty: the server is in recovery.
std::string incarnation_of_server(const access& db);

/// Whether the tables have all that was committed under that row: `own`, of this server, is the incarnation that it
/// names, and if it is relaxed, the server has not crashed since.
bool is_complete(const access& db, const guard_row& row, const std::string& own);

/// Whether the server grants now: the tables are complete, and no quarantine is on.
bool grants(const access& db);

/// Replaces the row, if its term is still `seen_term`. `to` has the new term; its `since` is not used, and `left` is
/// not if leases demand it: then grants begin after a quarantine if a longer lease is out, otherwise at once.
bool set_guard(const access& db, std::int64_t seen_term, const guard_row& to, bool left_as_leases_demand);
/// The same for a row that was relaxed, and is not any more: what was committed by it is on disk when this returns.
bool tighten_guard(const access& db, std::int64_t seen_term, const guard_row& to, bool left_as_leases_demand);

/// Refuses programs that expect an older schema than `number`, from now on. `version`: of the newest schema file.
void serve_from(const access& db, int version, int number);

}  // namespace rowlock::inline v1::store
