#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/kept_connection.hpp"
#include "support/pq_connection.hpp"
#include "support/server_database.hpp"

namespace rowlock::test {

/// A place on the server of ROWLOCK_TEST_POSTGRESQL_URL, or on another one. The role's search_path begins with its
/// schema. The administrator is a superuser. The destructor ends all sessions of the role.
class postgresql_database : public server_database {
 public:
  postgresql_database();
  explicit postgresql_database(server_address server);
  ~postgresql_database() override;

  /// The same through PgBouncer.
  std::string url_through_pgbouncer() const;

  std::string shell() const override;
  std::string administrators_shell() const override;
  std::string url_of_guest(std::string_view privileges) override;
  std::string url_of_member() override;
  void let_see_locks(const std::string& /*role*/) override {}  // every role may
  void let_end_sessions(const std::string& role) override { execute("GRANT pg_signal_backend TO " + role); }
  void set_password(const std::string& word) override;
  void forbid_making_tables() override;
  void execute(const std::string& sql) override;
  sql_rows ask(const std::string& sql) override;
  std::string quoted(std::string_view text) override;
  bool has_table(std::string_view table) override;
  [[nodiscard]] std::unique_ptr<obstacle> stall() override;
  [[nodiscard]] std::unique_ptr<obstacle> row_pinned(std::string_view name) override;
  bool pins_let_renew() const override { return true; }
  [[nodiscard]] std::unique_ptr<obstacle> sealed() override;
  std::int64_t at_gate() override;
  std::int64_t sweep() override;
  [[nodiscard]] std::unique_ptr<obstacle> set_default(const std::string& variable, const std::string& value) override;
  bool is_complete(std::string_view answer) const override;
  bool is_kept_waiting() override;
  bool has_process(std::int64_t session) const override;

 private:
  [[nodiscard]] std::unique_ptr<obstacle> gate_before(const std::string& table, const update& only) override;
  [[nodiscard]] std::unique_ptr<obstacle> meanwhile(const std::string& begin, const std::string& end) override;
  std::string sessions_query() const override;
  void make_guest();
  std::string clock() const override;
  std::string microseconds(const std::string& time) const override;
  std::string random_id() const override;
  std::vector<std::int64_t> open_transactions() override;
  void terminate(std::int64_t session) override;
  std::shared_ptr<pq_connection> connect() const;

  kept_connection<pq_connection> connection_;
};

}  // namespace rowlock::test
