#include "support/next_release.hpp"

#include <map>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "api/inside.hpp"
#include "core/url.hpp"
#include "driver/backend.hpp"
#include "sql/sheet.hpp"

namespace rowlock::test {

namespace {

constexpr std::string_view for_postgresql = R"(
ALTER TABLE rowlock_lock ADD COLUMN IF NOT EXISTS artificial boolean NOT NULL DEFAULT false;
ALTER TABLE rowlock_waiter ADD COLUMN IF NOT EXISTS artificial bigint;
CREATE TABLE IF NOT EXISTS rowlock_artificial (n bigint NOT NULL PRIMARY KEY);
INSERT INTO rowlock_migration (version, checksum, serves_from, applied_at)
VALUES ({version}, NULL, {serves_from}, clock_timestamp())
ON CONFLICT (version) DO NOTHING;
)";

// MySQL has no ADD COLUMN IF NOT EXISTS.
constexpr std::string_view for_mysql = R"(
SET @rowlock_change = IF(
  EXISTS (SELECT 1 FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'rowlock_lock' AND COLUMN_NAME = 'artificial'),
  'DO 0',
  'ALTER TABLE rowlock_lock ADD COLUMN artificial BOOLEAN NOT NULL DEFAULT FALSE');
PREPARE rowlock_change FROM @rowlock_change;
EXECUTE rowlock_change;
DEALLOCATE PREPARE rowlock_change;
SET @rowlock_change = IF(
  EXISTS (SELECT 1 FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'rowlock_waiter' AND COLUMN_NAME = 'artificial'),
  'DO 0',
  'ALTER TABLE rowlock_waiter ADD COLUMN artificial BIGINT');
PREPARE rowlock_change FROM @rowlock_change;
EXECUTE rowlock_change;
DEALLOCATE PREPARE rowlock_change;
CREATE TABLE IF NOT EXISTS rowlock_artificial (n BIGINT NOT NULL PRIMARY KEY) ENGINE = InnoDB;
INSERT INTO rowlock_migration (version, checksum, serves_from, applied_at)
VALUES ({version}, NULL, {serves_from}, UTC_TIMESTAMP(6))
ON DUPLICATE KEY UPDATE version = VALUES(version);
)";

// SQLite cannot add a column only if it is missing, so the table is created again. Its sequence is kept under another
// name meanwhile.
constexpr std::string_view for_sqlite = R"(
SAVEPOINT rowlock_file;
CREATE TABLE rowlock_waiter_before AS
SELECT ticket, name, owner, thread, attempt, enqueued_at, expires_at, note, lease, room FROM rowlock_waiter;
UPDATE sqlite_sequence SET name = 'rowlock_waiter_before' WHERE name = 'rowlock_waiter';
DROP TABLE rowlock_waiter;
UPDATE sqlite_sequence SET name = 'rowlock_waiter' WHERE name = 'rowlock_waiter_before';
CREATE TABLE rowlock_waiter (
  ticket      INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  name        TEXT    NOT NULL COLLATE BINARY,
  owner       TEXT    NOT NULL,
  thread      TEXT    NOT NULL,
  attempt     TEXT    NOT NULL,
  enqueued_at INTEGER NOT NULL,
  expires_at  INTEGER NOT NULL,
  note        TEXT,
  lease       INTEGER,
  room        INTEGER,
  artificial  INTEGER
);
INSERT INTO rowlock_waiter (ticket, name, owner, thread, attempt, enqueued_at, expires_at, note, lease, room)
SELECT ticket, name, owner, thread, attempt, enqueued_at, expires_at, note, lease, room FROM rowlock_waiter_before;
DROP TABLE rowlock_waiter_before;
CREATE INDEX rowlock_waiter_queue ON rowlock_waiter (name, ticket);
CREATE TABLE IF NOT EXISTS rowlock_artificial (n INTEGER NOT NULL PRIMARY KEY);
INSERT OR IGNORE INTO rowlock_migration (version, checksum, serves_from, applied_at)
VALUES ({version}, NULL, {serves_from}, CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER));
RELEASE rowlock_file;
)";

std::string_view next_file(std::string_view scheme) {
  return scheme == "postgresql" ? for_postgresql : scheme == "mysql" ? for_mysql : for_sqlite;
}

struct release {
  release(const driver::backend& ours, std::string_view scheme, int serves_from)
      : version{sheets::newest(ours.migrations) + 1},
        name{"000" + std::to_string(version) + "_artificial.sql"},
        text{sheets::replaced(sheets::replaced(next_file(scheme), "{version}", std::to_string(version)),
                              "{serves_from}", std::to_string(serves_from))},
        files{ours.migrations.begin(), ours.migrations.end()},
        kind{ours} {
    files.push_back({.version = version, .name = name, .sha256 = "artificial", .text = text});
    kind.migrations = files;
  }
  release(const release&) = delete;
  release& operator=(const release&) = delete;

  const int version;
  const std::string name;
  const std::string text;
  std::vector<sheets::migration> files;
  driver::backend kind;
};

// Clients refer to it until the program ends.
const driver::backend& next_release(const std::string& scheme, int serves_from) {
  static std::mutex alone;
  static auto& all = *new std::map<std::pair<std::string, int>, release>;
  const std::lock_guard lock{alone};
  return all.try_emplace({scheme, serves_from}, driver::backend_for(scheme), scheme, serves_from).first->second.kind;
}

std::string scheme_of(const std::string& url) { return std::string{core::cut_url(url).scheme}; }

}  // namespace

int next_schema(const std::string& url) { return sheets::newest(driver::backend_for(scheme_of(url)).migrations) + 1; }

client connect_next_release(const std::string& url, client_options options, int serves_from) {
  return detail::inside::connect(next_release(scheme_of(url), serves_from), url, patient(std::move(options)));
}

}  // namespace rowlock::test
