#include "runtime/schema.hpp"

#include <rowlock/error.hpp>

#include <map>

namespace rowlock::inline v1::runtime {

namespace {

struct schema_state {
  std::int64_t version = 0;
  std::int64_t serves_from = 0;
  duration applied_at{};
  duration clock{};
};

schema_state read(const dialect::table& sql, driver::session& on, const driver::limits& until) {
  const driver::request nothing{};
  const auto rows = on.run(sql[dialect::verb::schema], {&nothing, 1}, until);
  if (rows.empty())
    throw error{errc::schema_missing, "rowlock's tables are there but no migration is recorded; run client::migrate()"};
  const auto& r = rows[0];
  return {.version = driver::integer(r.at(0)),
          .serves_from = driver::integer(r.at(1)),
          .applied_at = duration{driver::integer(r.at(3))},
          .clock = duration{driver::integer(r.at(4))}};
}

using checksums = std::map<std::int64_t, std::string>;  // by version; empty: run by hand

// No table yet is an answer here, not an error.
checksums read_applied(const dialect::table& sql, driver::session& on, const driver::limits& until) try {
  checksums out;
  const driver::request nothing{};
  for (const auto& r : on.run(sql[dialect::verb::applied], {&nothing, 1}, until))
    out.emplace(driver::integer(r.at(0)), driver::text(r.at(1)));
  return out;
} catch (const error& e) {
  if (e.code() != errc::schema_missing) throw;
  return {};
}

void require_unedited(const dialect::migration& file, const std::string& applied) {
  if (applied.empty() || applied == file.sha256) return;
  throw error{errc::database_error, "schema " + std::to_string(file.version) +
                                        " was applied from another text than this "
                                        "library's " +
                                        std::string{file.name} + " (checksum " + applied + "): one was edited"};
}

void apply(const dialect::migration& file, const checksums& applied, const dialect::table& sql, std::string_view prefix,
           driver::session& on, const driver::limits& until) {
  const auto found = applied.find(file.version);
  if (found == applied.end()) {
    on.script(dialect::with_prefix(file.text, prefix));
  } else {
    require_unedited(file, found->second);
    if (!found->second.empty()) return;
  }
  const driver::request mark{std::int64_t{file.version}, file.sha256};
  on.run(sql[dialect::verb::applying], {&mark, 1}, until);
}

}  // namespace

void require_fit_schema(const dialect::table& sql, driver::session& on, const driver::limits& until) {
  const schema_state state = read(sql, on, until);
  const std::string numbers = "the database has rowlock's schema " + std::to_string(state.version) +
                              ", this library expects " + std::to_string(dialect::expected_schema);
  if (state.version < dialect::expected_schema) throw error{errc::schema_older, numbers + "; run client::migrate()"};
  if (state.version > dialect::expected_schema && state.serves_from > dialect::expected_schema)
    throw error{errc::schema_newer, numbers + " and is no longer served by it; use a newer rowlock"};
}

void require_sane_clock(const dialect::table& sql, driver::session& on, const driver::limits& until) {
  const schema_state state = read(sql, on, until);
  if (state.clock >= state.applied_at) return;
  const auto behind = std::chrono::ceil<std::chrono::seconds>(state.applied_at - state.clock);
  throw error{errc::database_error, "the database's clock is " + std::to_string(behind.count()) +
                                        " s behind the time at which the schema was applied; set it right"};
}

void migrate(const dialect::table& sql, std::span<const dialect::migration> files, std::string_view prefix,
             driver::session& on, const driver::limits& until) {
  const auto body = [&] {
    const checksums applied = read_applied(sql, on, until);
    for (const auto& file : files) apply(file, applied, sql, prefix, on, until);
  };
  on.exclusively(body, until);
  require_fit_schema(sql, on, until);
}

}  // namespace rowlock::inline v1::runtime
