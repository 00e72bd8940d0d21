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

/// A row of the table of jobs' runs. Times are microseconds since 1970 by the database's clock.
struct run_row {
  std::string job{};
  std::int64_t period_begin = 0;
  std::int64_t attempt = 0;
  std::int64_t token = 0;
  std::int64_t started_at = 0;
  std::optional<std::int64_t> finished_at{};
  std::optional<std::string> result{};
};

/// The rows of an answer, as text; nullopt for NULL.
using sql_rows = std::vector<std::vector<std::optional<std::string>>>;

/// A query for a column n with all numbers below a million, for every database.
inline constexpr std::string_view a_million_numbers =
    "WITH d (i) AS (SELECT 0 UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL "
    "SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) "
    "SELECT a.i + 10 * b.i + 100 * c.i + 1000 * e.i + 10000 * f.i + 100000 * g.i AS n "
    "FROM d a, d b, d c, d e, d f, d g";

/// A disturbance that the destructor removes.
class obstacle {
 public:
  obstacle() = default;
  obstacle(const obstacle&) = delete;
  obstacle& operator=(const obstacle&) = delete;
  virtual ~obstacle() = default;
};

/// An obstacle that this call removes.
[[nodiscard]] std::unique_ptr<obstacle> obstacle_until(std::function<void()> end);

/// A part of a database for one test, accessed without rowlock: as an operator or a foreign client sees and changes it.
/// The tables have the default prefix.
class database {
 public:
  database() = default;
  database(const database&) = delete;
  database& operator=(const database&) = delete;
  virtual ~database() = default;

  /// For client::connect. There are no tables at first.
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
  /// The text as an SQL literal.
  virtual std::string quoted(std::string_view text) = 0;

  /// Microseconds since 1970 by the clock that decides expiry.
  std::int64_t now() { return number("SELECT " + microseconds(clock())); }
  std::optional<lock_row> row(std::string_view name);
  virtual bool has_table(std::string_view table) = 0;

  /// Frees the name, as an operator does.
  void vacate(std::string_view name);
  /// Makes another client hold the name, for an hour.
  void steal(std::string_view name);
  void erase(std::string_view name);
  /// Ends the lease just now.
  void expire(std::string_view name);
  void set_version(std::string_view name, std::int64_t version);
  /// Moves the last hold of the name into the past.
  void age(std::string_view name, std::chrono::seconds by);
  /// Adds names, up to a million, whose last hold was two hours ago: "unused/0", "unused/1", …
  void add_unused(int number);
  /// The number of names with a row.
  int rows() { return count("rowlock_lock"); }

  /// The number of tickets, including those of dead waiters.
  int tickets() { return count("rowlock_waiter"); }
  /// Adds the ticket of another client, which waits for an hour and does nothing. Returns the ticket.
  std::int64_t enqueue(std::string_view name);
  /// The same for a set that has waited for some time.
  virtual std::int64_t enqueue_set(std::string_view name, std::chrono::milliseconds waited);
  void erase_ticket(std::int64_t ticket);
  /// Makes all waiters dead since that time.
  void kill_waiters(std::chrono::seconds ago);

  /// Ends the lease of one holder of a shared name, in the past.
  void kill_share(std::int64_t token, std::chrono::seconds ago);
  /// The number of holders of shared names, including dead ones.
  int shares() { return count("rowlock_share WHERE name <> ''"); }

  /// The greatest version of a swept row; 0: no row was swept.
  std::int64_t floor() { return number("SELECT coalesce(max(token), 0) FROM rowlock_share WHERE name = ''"); }
  /// Makes it look as if a row of this version was swept.
  void raise_floor(std::int64_t version);

  /// The recorded runs of all jobs.
  std::vector<run_row> runs();
  /// Moves the recorded runs of jobs into the past.
  void age_runs(std::chrono::hours by);
  /// The same of the time at which they began.
  void let_runs_begin_earlier(std::chrono::hours by);

  void drop_tables();
  int newest_migration() { return static_cast<int>(number("SELECT max(version) FROM rowlock_migration")); }
  void record_migration(int version, int serves_from);
  void forget_migration(int version);
  void forget_checksums() { execute("UPDATE rowlock_migration SET checksum = NULL"); }
  /// Makes it look as if the migration was run from another text.
  void edit_migration(int version);
  int missing_checksums() { return count("rowlock_migration WHERE checksum IS NULL"); }

  /// Blocks each statement that records a migration, in the middle.
  [[nodiscard]] virtual std::unique_ptr<obstacle> migration_gate() = 0;
  /// Whether a client is blocked there; no other client may write meanwhile.
  virtual bool is_at_migration_gate() = 0;
  /// Ends all sessions of this place, including those of killed clients.
  virtual void end_sessions() = 0;
  /// Ends the role's sessions whose open transaction has changed something, as that of a for_update holder has. Returns
  /// their number; an SQLite file has no sessions.
  virtual int end_open_transactions() { return 0; }
  /// Whether a transaction of the role waits for a lock on a server. Never in an SQLite file.
  virtual bool is_kept_waiting() { return false; }

  /// Blocks all writes.
  [[nodiscard]] virtual std::unique_ptr<obstacle> stall() = 0;
  /// A transaction that has run this, and is rolled back with the obstacle.
  [[nodiscard]] virtual std::unique_ptr<obstacle> transaction(const std::string& sql) = 0;
  /// Another connection of this process with an open transaction that has read the lock table.
  [[nodiscard]] std::unique_ptr<obstacle> reader() { return transaction("SELECT count(*) FROM rowlock_lock"); }

 protected:
  /// The SQL for the current time, and for a length of time.
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
