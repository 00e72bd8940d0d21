#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/backend.hpp"
#include "driver/connector_cpp.hpp"
#include "driver/mysql_connecting.hpp"
#include "driver/mysql_values.hpp"
#include "driver/server_line.hpp"

namespace rowlock::inline v1::driver {

struct mysql_options {
  duration call_timeout = std::chrono::seconds{5};  // the server's own limits are a little longer
  /// For transactions that are kept open: how long their holder may say nothing.
  std::optional<duration> transaction_limit{};
  warn warning{};
  /// Told the mark of a session whose call was cut or whose reply was lost: the server may be at it still.
  std::function<void(const std::string& mark)> lost{};
};

/// A connection to a MySQL or MariaDB server. Every statement is a transaction of its own, but between begin() and
/// commit() or rollback().
///
/// It marks its server session by a user-level lock with a random name, held for as long as it lives: connection ids
/// come again with another start of the server, and mean others behind a proxy, but whoever holds that lock is the one.
class mysql_session final : public session {
 public:
  mysql_session(mysql_connecting& to, mysql_options options, line_cutter& cutter, const limits& until);

  void exclusively(const std::function<void()>& body, const limits& until) override;
  bool looks_alive() noexcept override { return line_.looks_alive(); }
  int descriptor() const noexcept override { return line_.descriptor(); }

  /// Ends the server session that has this mark, if there is one.
  void end_session(const std::string& mark, const limits& until);
  /// That of this number, if there is one.
  void end_session(std::int64_t number, const limits& until);
  /// What a statement answers, as text.
  std::vector<row> ask(const std::string& sql, const char* doing, const limits& until) {
    return simple(sql, {doing}, until);
  }
  mysql_kind kind() const noexcept { return kind_; }

 private:
  std::vector<row> do_run(const dialect::step& what, std::span<const request> batch, const limits& until) override;
  void do_begin(const limits& until) override;
  void do_commit(const limits& until) override;
  void do_rollback(const limits& until) override;
  void do_script(const std::string& sql) override;
  std::int64_t do_change_count(const limits& until) override;

  struct known_statement {
    std::string text;
    mysql_text of;
    std::unique_ptr<connector_connection::statement> prepared;
  };

  void set_up(const limits& until);
  void learn_server(const limits& until);
  void require_encryption(const limits& until);

  // One round trip each; but a statement is prepared when it is executed first.
  template <class Send>
  auto call(const purpose& why, const limits& until, Send send);
  std::vector<row> simple(const std::string& sql, const purpose& why, const limits& until);
  std::uint64_t execute(const std::string& text, const request& values, const purpose& why, const limits& until,
                        std::vector<row>& to);
  known_statement& known(const std::string& text);

  void carry_out(const dialect::step& what, std::span<const request> batch, const limits& until, std::vector<row>& to);
  void append_uncommitted(const dialect::step& what, const request& values, const limits& until, std::vector<row>& to);
  std::uint64_t execute_or_skip(const std::string& text, const request& values, const purpose& why, const limits& until,
                                std::vector<row>& to);

  void tell_counted(const dialect::step& what, std::span<const request> batch, std::uint64_t changed,
                    const std::string& told, const request& values, const purpose& why, const limits& until,
                    std::vector<row>& to);

  [[noreturn]] void fail(const std::exception& e, const purpose& why);

  mysql_options options_;
  const bool must_be_encrypted_;
  std::unique_ptr<connector_connection> connection_;
  server_line line_;
  const std::string mark_;
  bool is_marked_ = false;
  bool is_in_transaction_ = false;
  bool has_committed_ = false;  // the step that is run
  mysql_kind kind_ = mysql_kind::mysql;
  limits around_{};  // of exclusively()
  std::deque<known_statement> statements_;
};

}  // namespace rowlock::inline v1::driver
