#include "runtime/schema.hpp"

#include <rowlock/error.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "core/schema.hpp"

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

// No table yet is an answer here, not an error.
std::vector<core::schema_record> read_records(const dialect::table& sql, driver::session& on,
                                              const driver::limits& until) try {
  std::vector<core::schema_record> out;
  const driver::request nothing{};
  for (const auto& r : on.run(sql[dialect::verb::applied], {&nothing, 1}, until))
    out.push_back({.version = static_cast<int>(driver::integer(r.at(0))),
                   .checksum = driver::text(r.at(1)),
                   .serves_from = static_cast<int>(driver::integer(r.at(2))),
                   .applied_at = std::chrono::sys_time<duration>{duration{driver::integer(r.at(3))}}});
  return out;
} catch (const error& e) {
  if (e.code() != errc::schema_missing) throw;
  return {};
}

schema_status compare(std::span<const dialect::migration> files, const dialect::table& sql, driver::session& on,
                      const driver::limits& until) {
  std::vector<core::schema_file> ours;
  ours.reserve(files.size());
  for (const auto& file : files) ours.push_back({.version = file.version, .name = file.name, .checksum = file.sha256});
  return core::compare(ours, read_records(sql, on, until));
}

/// Those of the files that are in that state.
std::vector<dialect::migration> in_state(migration_state state, const schema_status& found,
                                         std::span<const dialect::migration> files) {
  std::vector<dialect::migration> out;
  for (const auto& file : files)
    if (found.migrations.at(static_cast<std::size_t>(file.version) - 1).state == state) out.push_back(file);
  return out;
}

void note_checksum(const dialect::migration& file, const dialect::table& sql, driver::session& on,
                   const driver::limits& until) {
  const driver::request mark{std::int64_t{file.version}, file.sha256};
  on.run(sql[dialect::verb::applying], {&mark, 1}, until);
}

// Locks are as good without a checksum: a role that may only read what is recorded leaves that to another.
void adopt(std::span<const dialect::migration> by_hand, const dialect::table& sql, driver::session& on,
           const driver::limits& until) try {
  if (by_hand.empty()) return;
  const auto body = [&] {
    for (const auto& file : by_hand) note_checksum(file, sql, on, until);
  };
  on.exclusively(body, until);
} catch (const error& e) {
  if (e.code() != errc::permission_denied) throw;
}

}  // namespace

void require_fit_schema(const dialect::table& sql, driver::session& on, const driver::limits& until) {
  const schema_state state = read(sql, on, until);
  const auto misfit =
      core::misfit(static_cast<int>(state.version), static_cast<int>(state.serves_from), dialect::expected_schema);
  if (misfit) throw error{*misfit};
}

void require_sane_clock(const dialect::table& sql, driver::session& on, const driver::limits& until) {
  const schema_state state = read(sql, on, until);
  if (state.clock >= state.applied_at) return;
  const auto behind = std::chrono::ceil<std::chrono::seconds>(state.applied_at - state.clock);
  throw error{errc::database_error, "the database's clock is " + std::to_string(behind.count()) +
                                        " s behind the time at which the schema was applied; set it right"};
}

std::chrono::sys_time<duration> read_clock(const dialect::table& sql, driver::session& on,
                                           const driver::limits& until) {
  return std::chrono::sys_time<duration>{read(sql, on, until).clock};
}

schema_status read_status(const dialect::table& sql, std::span<const dialect::migration> files, std::string_view prefix,
                          driver::session& on, const driver::limits& until) {
  auto out = compare(files, sql, on, until);
  for (const auto& file : files)
    out.migrations.at(static_cast<std::size_t>(file.version) - 1).sql = dialect::with_prefix(file.text, prefix);
  return out;
}

void migrate(const dialect::table& sql, std::span<const dialect::migration> files, std::string_view prefix,
             driver::session& on, const driver::limits& until) {
  std::vector<dialect::migration> by_hand;
  const auto body = [&] {
    const auto found = compare(files, sql, on, until);
    if (const auto refusal = core::refusal_to_migrate(found)) throw error{*refusal};
    for (const auto& file : in_state(migration_state::pending, found, files)) {
      on.script(dialect::with_prefix(file.text, prefix));
      note_checksum(file, sql, on, until);
    }
    by_hand = in_state(migration_state::by_hand, found, files);
  };
  on.exclusively(body, until);
  adopt(by_hand, sql, on, until);
  require_fit_schema(sql, on, until);
}

}  // namespace rowlock::inline v1::runtime
