#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace rowlock::test {

/// A row of the lock table as a foreign client sees it. Times are microseconds since 1970 by the database's clock.
struct lock_row {
  std::int64_t version = 0;
  std::optional<std::string> owner{};
  std::optional<std::string> thread{};
  std::optional<std::string> acquisition{};
  std::optional<std::int64_t> acquired_at{};
  std::optional<std::int64_t> expires_at{};
  std::optional<std::string> note{};

  bool operator==(const lock_row&) const = default;
};

/// A column n with all numbers below a million, on every database.
inline constexpr std::string_view a_million_numbers =
    "WITH d (i) AS (SELECT 0 UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL "
    "SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) "
    "SELECT a.i + 10 * b.i + 100 * c.i + 1000 * e.i + 10000 * f.i + 100000 * g.i AS n "
    "FROM d a, d b, d c, d e, d f, d g";

/// Something in the way; gone with the object.
class obstacle {
 public:
  obstacle() = default;
  obstacle(const obstacle&) = delete;
  obstacle& operator=(const obstacle&) = delete;
  virtual ~obstacle() = default;
};

/// A place in a database that one test has to itself, and a way to it that does not lead through rowlock: what an
/// operator, or a client written by somebody else, sees and does there. The tables are those of the default prefix.
class database {
 public:
  database() = default;
  database(const database&) = delete;
  database& operator=(const database&) = delete;
  virtual ~database() = default;

  /// For client::connect. No tables are there at first.
  virtual std::string url() const = 0;

  /// A command that runs the SQL text on its standard input, and stops at the first error.
  virtual std::string shell() const = 0;
  /// Whether the child of a fork may connect while its parent has clients.
  virtual bool serves_forked_children() const = 0;

  /// Microseconds since 1970 by the clock that decides expiry.
  virtual std::int64_t now() = 0;
  virtual std::optional<lock_row> row(std::string_view name) = 0;
  virtual bool has_table(std::string_view table) = 0;

  /// An operator frees the name.
  virtual void vacate(std::string_view name) = 0;
  /// Somebody else has it, for an hour.
  virtual void steal(std::string_view name) = 0;
  virtual void erase(std::string_view name) = 0;
  /// Its lease has just ended.
  virtual void expire(std::string_view name) = 0;
  virtual void set_version(std::string_view name, std::int64_t version) = 0;
  /// So much more time has passed since somebody had it.
  virtual void age(std::string_view name, std::chrono::seconds by) = 0;
  /// So many names, up to a million, that nobody has had for two hours: "unused/0", "unused/1", …
  virtual void add_unused(int number) = 0;
  /// How many names have a row.
  virtual int rows() = 0;

  /// How many wait, dead ones included.
  virtual int tickets() = 0;
  /// Somebody else waits, and does nothing, for an hour: the ticket.
  virtual std::int64_t enqueue(std::string_view name) = 0;
  /// The same of a set, which has waited for so long.
  virtual std::int64_t enqueue_set(std::string_view name, std::chrono::milliseconds waited) = 0;
  virtual void erase_ticket(std::int64_t ticket) = 0;
  /// Those who wait have died so long ago.
  virtual void kill_waiters(std::chrono::seconds ago) = 0;

  /// The lease of one who shares the name has ended so long ago.
  virtual void kill_share(std::int64_t token, std::chrono::seconds ago) = 0;
  /// How many share names, dead ones included.
  virtual int shares() = 0;

  /// What has been swept had this version at most; 0: nothing has been.
  virtual std::int64_t floor() = 0;
  /// A row of this version was swept.
  virtual void raise_floor(std::int64_t version) = 0;

  virtual void drop_tables() = 0;
  virtual int newest_migration() = 0;
  virtual void record_migration(int version, int serves_from) = 0;
  virtual void forget_migration(int version) = 0;
  virtual void forget_checksums() = 0;
  /// As if it had been run from another text.
  virtual void edit_migration(int version) = 0;
  virtual int missing_checksums() = 0;

  /// While it is there, whoever notes that a migration was run stops in the middle of that statement.
  [[nodiscard]] virtual std::unique_ptr<obstacle> migration_gate() = 0;
  /// Whether somebody has stopped there, while nobody else writes.
  virtual bool is_at_migration_gate() = 0;
  /// What a server still does for clients that were killed ends, and every other session of this place too.
  virtual void end_sessions() = 0;

  /// While it is there, nothing can be written.
  [[nodiscard]] virtual std::unique_ptr<obstacle> stall() = 0;
  /// While it is there, another connection of this process has a transaction open that has read the lock table.
  [[nodiscard]] virtual std::unique_ptr<obstacle> reader() = 0;
};

}  // namespace rowlock::test
