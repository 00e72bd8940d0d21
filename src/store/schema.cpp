#include "store/schema.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/schema.hpp"

namespace rowlock::inline v1::store {

namespace {

struct schema_state {
  std::int64_t version = 0;
  std::int64_t serves_from = 0;
  duration applied_at{};
  duration clock{};
};

schema_state read(const access& db) {
  const auto rows = db.run(sheets::verb::schema);
  if (rows.empty())
    throw error{errc::schema_missing,
                "rowlock's tables exist, but no migration is recorded in them; run client::migrate()"};
  const auto& r = rows[0];
  return {.version = r.integer(field::version),
          .serves_from = r.integer(field::serves_from),
          .applied_at = duration{r.integer(field::applied_at)},
          .clock = duration{r.integer(field::clock)}};
}

// A missing table is an answer here, not an error.
std::vector<core::schema_record> read_records(const access& db) try {
  std::vector<core::schema_record> out;
  for (const auto& r : db.run(sheets::verb::schema))
    out.push_back({.version = static_cast<int>(r.integer(field::version)),
                   .checksum = r.text(field::checksum),
                   .serves_from = static_cast<int>(r.integer(field::serves_from)),
                   .applied_at = std::chrono::sys_time<duration>{duration{r.integer(field::applied_at)}}});
  std::reverse(out.begin(), out.end());
  return out;
} catch (const error& e) {
  if (e.code() != errc::schema_missing) throw;
  return {};
}

// Another program's table may have the name. Then nothing is made beside it, because it would not work.
std::optional<error> foreign_table(const access& db, std::string_view prefix) try {
  // Reads that table alone, and no row of it.
  db.run(sheets::verb::find_unused, {{field::name, std::string_view{}}, {field::number, 0}, {field::retention, 0}});
  return std::nullopt;
} catch (const error& e) {
  if (e.code() == errc::schema_missing) return std::nullopt;
  if (e.code() != errc::schema_older) throw;
  return error{errc::database_error, "the table " + std::string{prefix} +
                                         "lock is not rowlock's, as it has other columns; rename it, or choose "
                                         "another table prefix"};
}

// If another program's table has the name, migration would not help.
schema_state read_ours(const access& db, std::string_view prefix) try { return read(db); } catch (const error& e) {
  if (e.code() != errc::schema_missing) throw;
  if (const auto foreign = foreign_table(db, prefix)) throw error{errc::schema_missing, foreign->what()};
  throw;
}

struct comparison {
  schema_status status;
  std::optional<error> refusal;
};

comparison compare(const access& db, const schema_files& ours) {
  std::vector<core::schema_file> files;
  files.reserve(ours.files.size());
  for (const auto& file : ours.files)
    files.push_back({.version = file.version, .name = file.name, .checksum = file.sha256});
  const auto records = read_records(db);
  auto status = core::compare(files, records);
  auto refusal = records.empty() ? foreign_table(db, ours.prefix) : core::refusal_to_migrate(status);
  if (refusal) status.refusal = refusal->what();
  return {.status = std::move(status), .refusal = std::move(refusal)};
}

/// The files in that state.
std::vector<sheets::migration> in_state(migration_state state, const schema_status& found,
                                        std::span<const sheets::migration> files) {
  std::vector<sheets::migration> out;
  for (const auto& file : files)
    if (found.migrations.at(static_cast<std::size_t>(file.version) - 1).state == state) out.push_back(file);
  return out;
}

schema_status what_may_be_migrated(const access& db, const schema_files& ours) {
  auto [found, refusal] = compare(db, ours);
  if (refusal) throw error{*refusal};
  return found;
}

void note_checksums(const access& db, std::span<const sheets::migration> files) {
  std::vector<arguments> batch;
  batch.reserve(files.size());
  for (const auto& file : files)
    batch.push_back({{field::version, std::int64_t{file.version}}, {field::checksum, file.sha256}});
  db.run_batch(sheets::verb::applying, batch);
}

// Locks are as safe without a checksum: a role that may only read the records leaves that to another.
void adopt(const access& db, std::span<const sheets::migration> by_hand) try {
  note_checksums(db, by_hand);
} catch (const error& e) {
  if (e.code() != errc::permission_denied) throw;
}

}  // namespace

void require_fit_schema(const access& db, const schema_files& ours) {
  const schema_state state = read_ours(db, ours.prefix);
  const auto misfit =
      core::misfit(static_cast<int>(state.version), static_cast<int>(state.serves_from), sheets::newest(ours.files));
  if (misfit) throw error{*misfit};
}

void require_sane_clock(const access& db) {
  const schema_state state = read(db);
  if (state.clock >= state.applied_at) return;
  const auto behind = std::chrono::ceil<std::chrono::seconds>(state.applied_at - state.clock);
  throw error{errc::database_error, "the database's clock is " + std::to_string(behind.count()) +
                                        " s behind the time when the schema was applied; correct the clock"};
}

void require_privileges(const access& db) {
  const auto hidden = db.run(sheets::verb::probe);
  if (hidden.empty()) return;
  throw error{errc::permission_denied, "row level security of the table " + hidden[0].text(field::name) +
                                           " may hide rows from this role, so that locks that are held cannot be seen "
                                           "or released; make a policy FOR ALL TO this role USING (true), or give the "
                                           "role BYPASSRLS"};
}

std::chrono::sys_time<duration> read_clock(const access& db) { return std::chrono::sys_time<duration>{read(db).clock}; }

schema_status read_status(const access& db, const schema_files& ours) {
  auto out = compare(db, ours).status;
  for (const auto& file : ours.files)
    out.migrations.at(static_cast<std::size_t>(file.version) - 1).sql = sheets::with_prefix(file.text, ours.prefix);
  return out;
}

// If nothing is missing, it waits for nothing, and takes no lock that the server may refuse.
void migrate(const access& db, const schema_files& ours) {
  const auto pending = [&] { return in_state(migration_state::pending, what_may_be_migrated(db, ours), ours.files); };
  const auto body = [&] {
    for (const auto& file : pending()) {
      db.session.script(sheets::with_prefix(file.text, ours.prefix));
      note_checksums(db, {&file, 1});
    }
  };
  if (!pending().empty()) db.session.exclusively(body, db.until);
  adopt(db, in_state(migration_state::by_hand, what_may_be_migrated(db, ours), ours.files));
  require_fit_schema(db, ours);
}

std::string installation(const access& db) {
  const auto rows = db.run(sheets::verb::schema);
  return rows.empty() ? std::string{} : rows[rows.size() - 1].text(field::installation);
}

}  // namespace rowlock::inline v1::store
