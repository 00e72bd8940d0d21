#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/kept_connection.hpp"
#include "support/my_connection.hpp"
#include "support/server_database.hpp"

namespace rowlock::test {

/// A place on the server of ROWLOCK_TEST_MYSQL_URL, or on another one: MySQL or MariaDB. A schema is a database there.
/// The destructor ends all sessions of the role.
class mysql_database : public server_database {
 public:
  mysql_database();
  explicit mysql_database(server_address server);
  ~mysql_database() override;

  bool is_mariadb() const noexcept { return is_mariadb_; }

  std::string shell() const override;
  std::string administrators_shell() const override;
  std::string url_of_guest(std::string_view privileges) override;
  std::string url_of_member() override;
  void let_see_locks(const std::string& role) override;
  void forbid_seeing_locks();
  void let_end_sessions(const std::string& role) override;
  void set_password(const std::string& word) override;
  void forbid_making_tables() override;
  void execute(const std::string& sql) override;
  sql_rows ask(const std::string& sql) override;
  std::string quoted(std::string_view text) override;
  bool has_table(std::string_view table) override;
  [[nodiscard]] std::unique_ptr<obstacle> stall() override;
  [[nodiscard]] std::unique_ptr<obstacle> row_pinned(std::string_view name) override;
  bool pins_let_renew() const override { return false; }
  [[nodiscard]] std::unique_ptr<obstacle> sealed() override;
  std::int64_t at_gate() override;
  std::int64_t sweep() override;
  [[nodiscard]] std::unique_ptr<obstacle> set_default(const std::string& variable, const std::string& value) override;
  bool is_complete(std::string_view answer) const override;
  bool is_kept_waiting() override;

 private:
  [[nodiscard]] std::unique_ptr<obstacle> gate_before(const std::string& table, const update& only) override;
  [[nodiscard]] std::unique_ptr<obstacle> meanwhile(const std::string& begin, const std::string& end) override;
  std::string sessions_query() const override;
  std::string process_list() const;
  std::string right_to_see_locks(const std::string& role) const;
  /// The condition for its rows.
  std::string stopped_at_gate() const;
  void make_guest();
  std::string shell_as(const server_address& role) const;
  std::string clock() const override;
  std::string microseconds(const std::string& time) const override;
  std::string random_id() const override;
  std::vector<std::int64_t> open_transactions() override;
  void terminate(std::int64_t session) override;
  /// The role's sessions that hold locks, or wait for one.
  std::vector<std::int64_t> in_transaction(bool that_wait);
  std::shared_ptr<my_connection> connect() const;

  kept_connection<my_connection> connection_;
  bool is_mariadb_ = false;
};

}  // namespace rowlock::test
