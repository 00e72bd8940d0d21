#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/database.hpp"
#include "testkit/url.hpp"

namespace rowlock::test {

/// A place on a server: a schema of its own, and a role that may do everything there and nothing elsewhere. The name of
/// both is the role's password too. The look from outside is an administrator's, by a connection that a forked child
/// does not use. Any thread may look.
class server_database : public database {
 public:
  /// Of the schema and of the role.
  const std::string& name() const noexcept { return name_; }
  /// Of a second role, that is there from url_of_guest() on.
  std::string guest() const { return name_ + "guest"; }
  /// Of a role for others to be members of, that goes with the place if somebody has made it.
  std::string group() const { return name_ + "app"; }

  std::string host() const { return address_.host; }
  std::uint16_t port() const { return address_.port.value_or(usual_port_); }
  /// As the role.
  const server_address& address() const noexcept { return address_; }
  std::string url() const override { return address_.url(); }
  /// The same by way of something that listens on that port of this host, as a proxy does.
  std::string url_through(std::uint16_t port) const;
  /// As a second role, that has these privileges on all tables which are in the schema now: "SELECT, INSERT".
  virtual std::string url_of_guest(std::string_view privileges) = 0;
  /// As a second role, that is a member of the group, and has nothing else.
  virtual std::string url_of_member() = 0;
  /// shell() as an administrator.
  virtual std::string administrators_shell() const = 0;
  /// An administrator of the server.
  const server_address& administrator() const noexcept { return server_; }
  /// That role may ask the server who keeps a row of others.
  virtual void let_see_locks(const std::string& role) = 0;
  /// And end sessions of others.
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

  /// A transaction that has the row locked FOR UPDATE.
  [[nodiscard]] std::unique_ptr<obstacle> row_locked(std::string_view name);
  /// One that only sees to it that the row stays as it is, by the weakest lock there is for that.
  [[nodiscard]] virtual std::unique_ptr<obstacle> row_pinned(std::string_view name) = 0;
  /// Whether a lease can be renewed beside it.
  virtual bool pins_let_renew() const = 0;
  /// While it is there, the lock table can be neither read nor written.
  [[nodiscard]] virtual std::unique_ptr<obstacle> sealed() = 0;
  /// While it is there, whoever makes, changes or deletes a row of the lock table stops in the middle of the statement:
  /// what it has seen it has seen, and the row is locked. There may be one at a time.
  [[nodiscard]] std::unique_ptr<obstacle> gate() { return gate_before("rowlock_lock", {}); }
  /// The same for whoever takes the mark off a row. From then on another client holds the name, for an hour.
  [[nodiscard]] std::unique_ptr<obstacle> gate_before_unmarking();
  /// How many of the role's sessions have stopped there.
  virtual std::int64_t at_gate() = 0;

  /// So many wait for the name, each in a client of its own, of whom nothing will be heard for an hour.
  void add_waiters(std::string_view name, int number);
  /// How many tickets there are for the name.
  std::int64_t tickets(std::string_view name);
  using database::tickets;

  /// Deletes the rows that have been vacant for a second and that nobody has locked. How many there were.
  virtual std::int64_t sweep() = 0;

  /// From now on sessions of the role begin with that: "time_zone" = "'+05:00'". On a server that has no such thing for
  /// each role, it is everybody's until the obstacle goes.
  [[nodiscard]] virtual std::unique_ptr<obstacle> set_default(const std::string& variable,
                                                              const std::string& value) = 0;

  /// The numbers of the server's sessions with the two roles.
  std::vector<std::int64_t> sessions() { return numbers(sessions_query()); }
  int connections() { return static_cast<int>(sessions().size()); }
  /// Ends them, and waits until they are gone. How many there were.
  int terminate_sessions();

  /// Whether an answer of the server is complete; what it did alone is then committed.
  virtual bool is_complete(std::string_view answer) const = 0;
  /// Whether it ends still, though the server does not list it any more: its socket is open until then.
  virtual bool has_process(std::int64_t /*session*/) const { return false; }

 protected:
  /// An update that is stopped, and what it does to the row besides: assignments to NEW, each with its semicolon.
  struct update {
    std::string condition{};
    std::string and_does{};
  };
  /// gate() of any table; nothing but such updates are stopped, if that is said.
  [[nodiscard]] virtual std::unique_ptr<obstacle> gate_before(const std::string& table, const update& only) = 0;
  /// A connection of its own that has done the one thing; when the obstacle goes, it does the other.
  [[nodiscard]] virtual std::unique_ptr<obstacle> meanwhile(const std::string& begin, const std::string& end) = 0;
  server_database(server_address server, std::uint16_t usual_port);

  server_address address_as(const std::string& role) const;
  /// Where a schema is a database.
  void name_database() { address_.database = name_; }
  /// A query for the numbers of the server's sessions with the two roles.
  virtual std::string sessions_query() const = 0;
  /// Of the sessions whose transaction has changed something, and goes on.
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
