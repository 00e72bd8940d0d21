#include "store/guard.hpp"

#include <rowlock/error.hpp>

#include <string_view>

namespace rowlock::inline v1::store {

std::optional<guard_row> see_guard(const access& db) try {
  if (!db.sheet.can().guards_failovers) return std::nullopt;
  const auto rows = db.run(sheets::verb::see_guard);
  if (rows.empty()) return std::nullopt;
  const auto& r = rows[0];
  return guard_row{.term = r.integer(field::term),
                   .quarantine = r.maybe_duration(field::quarantine),
                   .incarnation = r.text(field::incarnation),
                   .left = duration{r.integer(field::left)},
                   .since = std::chrono::sys_time<duration>{duration{r.integer(field::since)}},
                   .is_relaxed = r.is_true(field::relaxed)};
} catch (const error& e) {
  if (e.code() != errc::schema_missing) throw;
  return std::nullopt;
}

std::string incarnation_of_server(const access& db) {
  const auto rows = db.run(sheets::verb::incarnation);
  return rows.empty() ? std::string{} : rows[0].text(field::incarnation);
}

// A witness that is newer than the row shows nothing about it: then the row is read again, or not replaced.
bool is_complete(const access& db, const guard_row& row, const std::string& own) {
  if (own != row.incarnation) return false;
  if (!row.is_relaxed) return true;
  const auto rows = db.run(sheets::verb::see_witness);
  return !rows.empty() && rows[0].integer(field::term) == row.term;
}

bool grants(const access& db) {
  const auto row = see_guard(db);
  return !row || !row->quarantine ||
         (row->left <= duration::zero() && is_complete(db, *row, incarnation_of_server(db)));
}

bool set_guard(const access& db, std::int64_t seen_term, const guard_row& to, bool left_as_leases_demand) {
  arguments what{{field::term, seen_term}, {field::number, to.term}, {field::relaxed, to.is_relaxed ? 1 : 0}};
  if (!to.incarnation.empty()) what.push_back({field::incarnation, std::string_view{to.incarnation}});
  if (to.quarantine) what.push_back({field::quarantine, to.quarantine->count()});
  if (!left_as_leases_demand) what.push_back({field::left, to.left.count()});
  return !db.run(sheets::verb::set_guard, what).empty();
}

bool tighten_guard(const access& db, std::int64_t seen_term, const guard_row& to, bool left_as_leases_demand) {
  bool out = false;
  db.session.exclusively(
      [&] {
        db.run(sheets::verb::await_relaxed);
        out = set_guard(db, seen_term, to, left_as_leases_demand);
      },
      db.until);
  return out;
}

void serve_from(const access& db, int version, int number) {
  db.run(sheets::verb::serve_from, {{field::version, std::int64_t{version}}, {field::number, std::int64_t{number}}});
}

}  // namespace rowlock::inline v1::store
