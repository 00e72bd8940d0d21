#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/backend.hpp"
#include "driver/libpqxx.hpp"
#include "driver/postgresql_address.hpp"
#include "driver/server_line.hpp"

namespace rowlock::inline v1::driver {

/// A session as the server knows it: process ids come again, with another start.
struct postgresql_backend_id {
  std::int64_t pid = 0;
  std::int64_t started_at = 0;  // microseconds since 1970, by the server's clock
};

struct postgresql_options {
  duration call_timeout = std::chrono::seconds{5};  // the server's own limits are a little longer
  /// For transactions that are kept open: how long their holder may say nothing.
  std::optional<duration> transaction_limit{};
  bool transaction_pooling = false;
  bool durable_release = false;
  warn warning{};
  /// Told of a session whose call was cut or whose reply was lost: the server may be at it still.
  std::function<void(const postgresql_backend_id&)> lost{};
};

/// A connection to a PostgreSQL server.
///
///   usable --a call was cut, the connection broke--> dead: every call throws connection_failed and sends nothing
///   idle --exclusively(), a batch without a text of its own--> in a transaction --its end--> idle
///   idle --begin()--> in a transaction that is kept open --commit(), rollback()--> idle
///
/// With transaction_pooling every transaction may meet another of the server's sessions: nothing is prepared or set,
/// and where the server's default is another isolation level, each statement says which it needs.
class postgresql_session final : public session {
 public:
  postgresql_session(const postgresql_address& to, postgresql_options options, line_cutter& cutter,
                     const limits& until);

  void exclusively(const std::function<void()>& body, const limits& until) override;
  bool looks_alive() noexcept override { return line_.looks_alive(); }
  int descriptor() const noexcept override { return line_.descriptor(); }

  const postgresql_backend_id& id() const noexcept { return id_; }

 private:
  std::vector<row> do_run(const dialect::step& what, std::span<const request> batch, const limits& until) override;
  void do_begin(const limits& until) override;
  void do_commit(const limits& until) override;
  void do_commit_behind(const dialect::step& last, const request& of, const limits& until) override;
  void do_rollback(const limits& until) override;
  void do_script(const std::string& sql) override;
  std::int64_t do_change_count(const limits& until) override;

  struct statement {
    std::string sql;
    std::string name;
    std::size_t parameters = 0;
    bool is_prepared = false;
  };
  enum class shape : std::uint8_t { scalars, arrays };

  void set_up(const limits& until);
  void heed(const row& state);

  // One round trip each.
  template <class Send>
  pqxx::result call(const purpose& why, const limits& until, Send send);
  pqxx::result simple(const std::string& sql, const purpose& why, const limits& until);
  void execute(const std::string& sql, std::span<const request> batch, shape s, const purpose& why, const limits& until,
               std::vector<row>& to);
  statement& known(const std::string& sql);
  std::string with_literals(std::string_view sql, const request& of) const;
  void commit_with(const std::string& before, const limits& until);
  postgresql_values fill(std::size_t parameters, std::span<const request> batch, shape s);

  void carry_out(const dialect::step& what, std::span<const request> batch, const limits& until, std::vector<row>& to);
  template <class Body>
  void in_transaction(const limits& until, Body body);
  template <class Body>
  void in_savepoint(const limits& until, Body body);
  template <class Body>
  void or_else(const char* undo, const limits& until, Body body);
  bool undone(const char* sql, const limits& until) noexcept;

  bool in_doubt(const purpose& why) const noexcept { return why.writing && !is_in_transaction_; }
  [[noreturn]] void fail(const std::exception& e, const purpose& why);
  void tell_lost();

  postgresql_options options_;
  libpqxx_connection connection_;
  server_line line_;
  postgresql_backend_id id_;
  const std::string statement_names_;  // begin with this, so that no other client's are the same
  bool is_in_transaction_ = false;
  bool is_kept_open_ = false;  // the transaction
  bool must_say_isolation_ = false;
  bool standby_was_lost_ = false;  // in the call under way
  limits around_{};                // of exclusively()
  std::deque<statement> statements_;
  std::array<std::string, std::tuple_size_v<request>> texts_;  // of parameters
  std::array<const char*, std::tuple_size_v<request>> values_{};
};

}  // namespace rowlock::inline v1::driver
