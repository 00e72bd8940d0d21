#include "core/schema.hpp"

#include <algorithm>

namespace rowlock::inline v1::core {

namespace {

migration_state state_of(const schema_file& file, const schema_record& record) {
  if (record.checksum.empty()) return migration_state::by_hand;
  return record.checksum == file.checksum ? migration_state::applied : migration_state::edited;
}

const schema_record* find(std::span<const schema_record> records, int version) {
  const auto found =
      std::find_if(records.begin(), records.end(), [&](const schema_record& each) { return each.version == version; });
  return found == records.end() ? nullptr : &*found;
}

bool is_pending(const migration_status& each) { return each.state == migration_state::pending; }

std::string named(const migration_status& each) { return "schema " + std::to_string(each.version); }

error edited(const migration_status& each) {
  return {errc::database_error, named(each) + " was applied from another text than this library's " + each.file +
                                    ", so one of the two was edited; make them agree before you migrate"};
}

error left_out(const migration_status& each, int newest) {
  return {errc::database_error, named(each) + " is not recorded in the database, but schema " + std::to_string(newest) +
                                    " is; run " + each.file + ", which was left out"};
}

}  // namespace

std::optional<error> misfit(int recorded, int serves_from, int expected) {
  const auto numbers = "the database has rowlock's schema " + std::to_string(recorded) + ", but this library expects " +
                       std::to_string(expected);
  if (recorded < expected) return error{errc::schema_older, numbers + "; run client::migrate()"};
  if (recorded > expected && serves_from > expected)
    return error{errc::schema_newer, numbers + " and is no longer served by that schema; use a newer rowlock"};
  return std::nullopt;
}

schema_status compare(std::span<const schema_file> files, std::span<const schema_record> records) {
  schema_status out;
  for (const auto& file : files) {
    const auto* const record = find(records, file.version);
    out.migrations.push_back({.version = file.version, .file = std::string{file.name}});
    if (record == nullptr) continue;
    out.migrations.back().state = state_of(file, *record);
    out.migrations.back().applied_at = record->applied_at;
  }
  out.expected = files.empty() ? 0 : files.back().version;
  for (const auto& record : records)
    if (record.version > out.expected)
      out.migrations.push_back(
          {.version = record.version, .state = migration_state::unknown, .applied_at = record.applied_at});
  if (!records.empty()) {
    out.applied = records.back().version;
    out.serves_from = records.back().serves_from;
  }
  out.fits = !misfit(out.applied, out.serves_from, out.expected) &&
             std::none_of(out.migrations.begin(), out.migrations.end(), is_pending);
  if (const auto refusal = refusal_to_migrate(out)) out.refusal = refusal->what();
  return out;
}

std::optional<error> refusal_to_migrate(const schema_status& found) {
  for (const auto& each : found.migrations)
    if (each.state == migration_state::edited) return edited(each);
  if (found.applied > found.expected)
    if (auto newer = misfit(found.applied, found.serves_from, found.expected)) return newer;
  for (const auto& each : found.migrations)
    if (is_pending(each) && each.version < found.applied) return left_out(each, found.applied);
  return std::nullopt;
}

}  // namespace rowlock::inline v1::core
