#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/backend.hpp"
#include "driver/mysql/address.hpp"
#include "driver/mysql/connector.hpp"
#include "driver/mysql/values.hpp"
#include "driver/net/guarded_connection.hpp"
#include "driver/server_session.hpp"

namespace rowlock::inline v1::driver {

class short_table_waits;

struct mysql_options {
  duration call_timeout = std::chrono::seconds{5};  // the server's own limits are a little longer
  /// For transactions that are kept open: how long the session may be idle in one.
  std::optional<duration> transaction_limit{};
  warn warning{};
  /// Called with the mark of a session whose call was cut or whose reply was lost: the server may still be executing
  /// it.
  std::function<void(const std::string& mark)> lost{};
  /// Makes another session with the same options. Without it, each wait for tables takes a second when migrating.
  std::function<std::unique_ptr<session>(const limits& until)> another{};
};

/// A connection to a MySQL or MariaDB server. Every statement is a transaction of its own, except between begin() and
/// commit() or rollback().
///
///   usable --a call was cut, the connection broke--> dead: every call throws connection_failed and sends nothing
///   idle --begin()--> in a transaction that is kept open --commit(), rollback()--> idle
///
/// It marks its server session by a user-level lock with a random name, held during the life of the session. Connection
/// ids are used again after a restart of the server, and mean other sessions behind a proxy, but only the marked
/// session holds that lock.
class mysql_session final : public session {
 public:
  mysql_session(const mysql_address& to, mysql_options options, call_watchdog& watchdog, const limits& until);

  void exclusively(const std::function<void()>& body, const limits& until) override;
  bool looks_alive() noexcept override { return guarded_.looks_alive(); }
  int descriptor() const noexcept override { return guarded_.descriptor(); }

  /// Ends the server session that has this mark, if there is one.
  void end_session(const std::string& mark, const limits& until);
  /// Ends the server session of this number, if there is one.
  void end_session(std::int64_t number, const limits& until);
  /// Ends the statement of the session that holds this user-level lock, if there is one and this account may do so.
  void interrupt_keeper_of(const std::string& lock, const limits& until);
  /// The rows of a statement, as text.
  std::vector<row> ask(const std::string& sql, const char* doing, const limits& until) {
    return simple(sql, {doing}, until);
  }
  mysql_kind kind() const noexcept { return kind_; }
  /// The name of the user-level lock that the server session holds during its life. Empty: this server has no such
  /// locks.
  std::string mark() const { return is_marked_ ? mark_ : std::string{}; }

 private:
  std::vector<row> do_run(const sheets::step& what, std::span<const request> batch, const limits& until) override;
  std::vector<row> do_run_dirty(const sheets::step& what, const request& one, const limits& until) override;
  void do_begin(const limits& until) override;
  void do_commit(const limits& until) override;
  void do_rollback(const limits& until) override;
  void do_script(const std::string& sql) override;

  struct statement {
    mysql_text of;
    std::unique_ptr<connector_connection::statement> prepared;
  };
  statement& known(const std::string& text);

  void set_up(const std::string& database, const limits& until);
  void check_server(const limits& until);
  void require_encryption(const limits& until);

  // One round trip each; but a statement is prepared when it is first executed.
  template <class Send>
  auto call(const call_description& why, const limits& until, Send send);
  std::vector<row> simple(const std::string& sql, const call_description& why, const limits& until);
  std::uint64_t execute(const std::string& text, const request& values, const call_description& why,
                        const limits& until, std::vector<row>& to);
  std::unique_ptr<connector_connection::statement> prepare_if_there_is_room(const std::string& sql);
  std::optional<std::uint64_t> execute_unless_in_conflict(const std::string& text, const request& values,
                                                          const call_description& why, const limits& until,
                                                          std::vector<row>& to);
  std::optional<std::uint64_t> execute_or_make(const std::string& text, const std::string& making,
                                               const request& values, const call_description& why, const limits& until,
                                               std::vector<row>& to);
  struct texts_of_transaction {
    const std::string& write;
    const std::string& then;
    const std::string& read_back;  ///< after the commit
  };
  void write_in_transaction(const texts_of_transaction& of, const request& values, const call_description& why,
                            const limits& until, std::vector<row>& to);
  bool in_doubt(const call_description& why) const noexcept { return why.writing && !is_in_transaction_; }
  [[noreturn]] void fail(const std::exception& e, const call_description& why);

  void lock_migrations(const limits& until);
  std::unique_ptr<short_table_waits> wait_for_tables_shortly(const limits& until);
  void unlock_migrations(const limits& until);

  void carry_out(const sheets::step& what, std::span<const request> batch, const limits& until, std::vector<row>& to);
  static void drop_answers_of_others(const sheets::step& what, std::span<const request> batch, std::vector<row>& from);
  void carry_out_each(const sheets::step& what, std::span<const request> batch, const limits& until,
                      std::vector<row>& to);
  void answer_counted(const sheets::step& what, std::span<const request> batch, std::uint64_t changed,
                      const std::optional<std::string>& read_back, const request& values, const call_description& why,
                      const limits& until, std::vector<row>& to);

  mysql_options options_;
  const bool must_be_encrypted_;
  const bool avoids_tls_;
  const std::string place_;  // of the tables
  std::unique_ptr<connector_connection> connection_;
  guarded_connection guarded_;
  const std::string mark_;
  bool is_marked_ = false;
  bool is_in_transaction_ = false;
  bool has_committed_ = false;   // by the step under way
  std::size_t making_next_ = 1;  // requests that will begin with `making`, as the first does
  std::size_t made_lately_ = 0;  // the same after the last row that was new
  mysql_kind kind_ = mysql_kind::mysql;
  std::optional<limits> around_{};  // of the exclusively() under way
  statement_cache<statement> statements_;
};

}  // namespace rowlock::inline v1::driver
