#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/database.hpp"
#include "testkit/url.hpp"

namespace rowlock::test {

/// A place on a server: a schema, and a role with all privileges there and none elsewhere. Schema, role and password
/// have the same name. Access without rowlock is as administrator, from any thread, by a connection that a forked child
/// does not use.
class server_database : public database {
 public:
  /// The name of the schema and of the role.
  const std::string& name() const noexcept { return name_; }
  /// The name of a second role, which url_of_guest() creates.
  std::string guest() const { return name_ + "guest"; }
  /// The name of a group role. If a test creates it, the destructor drops it.
  std::string group() const { return name_ + "app"; }

  std::string host() const { return address_.host; }
  std::uint16_t port() const { return address_.port.value_or(usual_port_); }
  /// The address for the role.
  const server_address& address() const noexcept { return address_; }
  std::string url() const override { return address_.url(); }
  /// The same through a proxy on this port of this host.
  std::string url_through(std::uint16_t port) const;
  /// The URL for a second role with these privileges on all present tables of the schema: "SELECT, INSERT".
  virtual std::string url_of_guest(std::string_view privileges) = 0;
  /// The URL for a second role that has only the privileges of the group.
  virtual std::string url_of_member() = 0;
  /// shell() as an administrator.
  virtual std::string administrators_shell() const = 0;
  /// An administrator of the server.
  const server_address& administrator() const noexcept { return server_; }
  /// Lets the role see which sessions lock rows.
  virtual void let_see_locks(const std::string& role) = 0;
  /// Lets the role end other roles' sessions.
  virtual void let_end_sessions(const std::string& role) = 0;
  virtual void set_password(const std::string& word) = 0;
  virtual void forbid_making_tables() = 0;

  bool serves_forked_children() const override { return true; }
  std::int64_t enqueue_set(std::string_view name, std::chrono::milliseconds waited) override;
  [[nodiscard]] std::unique_ptr<obstacle> migration_gate() override { return gate_before("rowlock_migration", {}); }
  bool is_at_migration_gate() override { return at_gate() > 0; }
  void end_sessions() override { terminate_sessions(); }
  int end_open_transactions() override { return end(open_transactions()); }
  [[nodiscard]] std::unique_ptr<obstacle> transaction(const std::string& sql) override {
    return meanwhile("BEGIN; " + sql, "ROLLBACK");
  }

  /// A transaction that holds the row FOR UPDATE.
  [[nodiscard]] std::unique_ptr<obstacle> row_locked(std::string_view name);
  /// A transaction that prevents changes to the row by the weakest possible lock.
  [[nodiscard]] virtual std::unique_ptr<obstacle> row_pinned(std::string_view name) = 0;
  /// Whether a lease can be renewed despite row_pinned().
  virtual bool pins_let_renew() const = 0;
  /// Blocks reads and writes of the lock table.
  [[nodiscard]] virtual std::unique_ptr<obstacle> sealed() = 0;
  /// Blocks each statement that inserts, updates or deletes a row of the lock table, in the middle: it has read its
  /// data, and holds the row's lock. Only one gate at a time.
  [[nodiscard]] std::unique_ptr<obstacle> gate() { return gate_before("rowlock_lock", {}); }
  /// The same for an update that resets a row's mark "waiting"; it also makes another client hold the name, for an
  /// hour.
  [[nodiscard]] std::unique_ptr<obstacle> gate_before_unmarking();
  /// The number of the role's sessions that are blocked there.
  virtual std::int64_t at_gate() = 0;

  /// Adds waiters for the name, each of another client, that do nothing for an hour.
  void add_waiters(std::string_view name, int number);
  /// The number of tickets for the name.
  std::int64_t tickets(std::string_view name);
  using database::tickets;

  /// Deletes the unlocked rows that have been vacant for a second. Returns their number.
  virtual std::int64_t sweep() = 0;

  /// Sets a variable's default for new sessions of the role: "time_zone" = "'+05:00'". On a server without defaults for
  /// roles, all sessions get it until the obstacle is removed.
  [[nodiscard]] virtual std::unique_ptr<obstacle> set_default(const std::string& variable,
                                                              const std::string& value) = 0;

  /// The numbers of the server's sessions with the two roles.
  std::vector<std::int64_t> sessions() { return numbers(sessions_query()); }
  int connections() { return static_cast<int>(sessions().size()); }
  /// Ends these sessions, and waits for that. Returns their number.
  int terminate_sessions() { return terminate_sessions(sessions()); }
  int terminate_sessions(const std::vector<std::int64_t>& some);

  /// Whether an answer of the server is complete; a single statement is then committed.
  virtual bool is_complete(std::string_view answer) const = 0;
  /// Whether the session's process still exists, although the server no longer lists it: its socket is open until then.
  virtual bool has_process(std::int64_t /*session*/) const { return false; }

 protected:
  /// An update to block, and additional assignments to NEW, each with its semicolon.
  struct update {
    std::string condition{};
    std::string and_does{};
  };
  /// gate() for any table. If `only` has a condition, blocks only those updates.
  [[nodiscard]] virtual std::unique_ptr<obstacle> gate_before(const std::string& table, const update& only) = 0;
  /// A new connection that has run `begin`, and runs `end` when the obstacle is removed.
  [[nodiscard]] virtual std::unique_ptr<obstacle> meanwhile(const std::string& begin, const std::string& end) = 0;
  server_database(server_address server, std::uint16_t usual_port);

  server_address address_as(const std::string& role) const;
  /// For servers on which a schema is a database.
  void name_database() { address_.database = name_; }
  /// A query for the numbers of the server's sessions with the two roles.
  virtual std::string sessions_query() const = 0;
  /// The sessions whose open transaction has changed something.
  virtual std::vector<std::int64_t> open_transactions() = 0;
  virtual void terminate(std::int64_t session) = 0;
  std::vector<std::int64_t> numbers(const std::string& query);

 private:
  int end(const std::vector<std::int64_t>& some);
  std::string interval(std::chrono::microseconds time) const override;

  std::string name_;
  server_address server_;
  server_address address_;
  std::uint16_t usual_port_;
};

}  // namespace rowlock::test
