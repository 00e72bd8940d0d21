#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// What a query answers, as text; nullopt for NULL.
using sql_rows = std::vector<std::vector<std::optional<std::string>>>;

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

/// An obstacle that ends by this call.
[[nodiscard]] std::unique_ptr<obstacle> obstacle_until(std::function<void()> end);

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

  /// Any number of statements, as an administrator.
  virtual void execute(const std::string& sql) = 0;
  /// One statement, as an administrator; its rows, or the one value in them.
  virtual sql_rows ask(const std::string& sql) = 0;
  std::int64_t number(const std::string& sql) { return std::stoll(text(sql)); }
  std::string text(const std::string& sql) { return ask(sql).at(0).at(0).value(); }
  /// The text as a literal of SQL.
  virtual std::string quoted(std::string_view text) = 0;

  /// Microseconds since 1970 by the clock that decides expiry.
  std::int64_t now() { return number("SELECT " + microseconds(clock())); }
  std::optional<lock_row> row(std::string_view name);
  virtual bool has_table(std::string_view table) = 0;

  /// An operator frees the name.
  void vacate(std::string_view name);
  /// Somebody else has it, for an hour.
  void steal(std::string_view name);
  void erase(std::string_view name);
  /// Its lease has just ended.
  void expire(std::string_view name);
  void set_version(std::string_view name, std::int64_t version);
  /// So much more time has passed since somebody had it.
  void age(std::string_view name, std::chrono::seconds by);
  /// So many names, up to a million, that nobody has had for two hours: "unused/0", "unused/1", …
  void add_unused(int number);
  /// How many names have a row.
  int rows() { return count("rowlock_lock"); }

  /// How many wait, dead ones included.
  int tickets() { return count("rowlock_waiter"); }
  /// Somebody else waits, and does nothing, for an hour: the ticket.
  std::int64_t enqueue(std::string_view name);
  /// The same of a set, which has waited for so long.
  virtual std::int64_t enqueue_set(std::string_view name, std::chrono::milliseconds waited);
  void erase_ticket(std::int64_t ticket);
  /// Those who wait have died so long ago.
  void kill_waiters(std::chrono::seconds ago);

  /// The lease of one who shares the name has ended so long ago.
  void kill_share(std::int64_t token, std::chrono::seconds ago);
  /// How many share names, dead ones included.
  int shares() { return count("rowlock_share WHERE name <> ''"); }

  /// What has been swept had this version at most; 0: nothing has been.
  std::int64_t floor() { return number("SELECT coalesce(max(token), 0) FROM rowlock_share WHERE name = ''"); }
  /// A row of this version was swept.
  void raise_floor(std::int64_t version);

  void drop_tables();
  int newest_migration() { return static_cast<int>(number("SELECT max(version) FROM rowlock_migration")); }
  void record_migration(int version, int serves_from);
  void forget_migration(int version);
  void forget_checksums() { execute("UPDATE rowlock_migration SET checksum = NULL"); }
  /// As if it had been run from another text.
  void edit_migration(int version);
  int missing_checksums() { return count("rowlock_migration WHERE checksum IS NULL"); }

  /// While it is there, whoever notes that a migration was run stops in the middle of that statement.
  [[nodiscard]] virtual std::unique_ptr<obstacle> migration_gate() = 0;
  /// Whether somebody has stopped there, while nobody else writes.
  virtual bool is_at_migration_gate() = 0;
  /// What a server still does for clients that were killed ends, and every other session of this place too.
  virtual void end_sessions() = 0;
  /// The same of the role's sessions that have a transaction open which has changed something, as the holder of a lock
  /// by for_update has. How many there were; a file of SQLite has none.
  virtual int end_open_transactions() { return 0; }
  /// Whether a transaction of the role waits for a lock on a server. In a file nobody waits.
  virtual bool is_kept_waiting() { return false; }

  /// While it is there, nothing can be written.
  [[nodiscard]] virtual std::unique_ptr<obstacle> stall() = 0;
  /// A transaction that has done this, and is rolled back when the obstacle goes.
  [[nodiscard]] virtual std::unique_ptr<obstacle> transaction(const std::string& sql) = 0;
  /// While it is there, another connection of this process has a transaction open that has read the lock table.
  [[nodiscard]] std::unique_ptr<obstacle> reader() { return transaction("SELECT count(*) FROM rowlock_lock"); }

 protected:
  /// What SQL calls the clock, at this very moment, and a length of time.
  virtual std::string clock() const = 0;
  virtual std::string interval(std::chrono::microseconds time) const = 0;
  /// A time as microseconds since 1970.
  virtual std::string microseconds(const std::string& time) const = 0;
  virtual std::string random_id() const = 0;

  std::string in_an_hour() const { return clock() + " + " + interval(std::chrono::hours{1}); }
  std::string ago(std::chrono::microseconds time) const { return clock() + " - " + interval(time); }
  void change(std::string_view name, const std::string& assignments);

 private:
  int count(const std::string& of) { return static_cast<int>(number("SELECT count(*) FROM " + of)); }
};

}  // namespace rowlock::test
