#pragma once

#include <rowlock/error.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/guarded.hpp"
#include "driver/backend.hpp"
#include "driver/net/guarded_connection.hpp"
#include "driver/postgresql/address.hpp"
#include "driver/postgresql/libpqxx.hpp"
#include "driver/server_session.hpp"
#include "sql/sheet.hpp"

namespace rowlock::inline v1::driver {

/// Where a client's tables are. The first session that finds them decides, and every session uses that place, whatever
/// its own settings say; otherwise one name could be held in two places. Thread-safe.
class table_place {
 public:
  explicit table_place(std::string prefix) : prefix_{std::move(prefix)} {}

  const std::string& prefix() const noexcept { return prefix_; }
  /// In quotes, as it is written before the name of a table.
  std::optional<std::string> found() { return *where_.lock(); }
  /// Decides for this place, if none was decided; answers the decided one.
  std::string decide(std::string where) {
    const auto decided = where_.lock();
    if (!*decided) *decided = std::move(where);
    return **decided;
  }

 private:
  const std::string prefix_;
  base::guarded<std::optional<std::string>> where_;
};

/// The statements for callers' transactions, made once the tables are found. Thread-safe.
class placed_texts {
 public:
  using maker = sheets::enlisted_texts (*)(std::string_view prefix, std::string_view place, bool is_guarded);

  /// `tables` must outlive it.
  placed_texts(table_place& tables, maker make, bool is_guarded)
      : tables_{tables}, make_{make}, is_guarded_{is_guarded} {}

  const sheets::enlisted_texts* operator->() {
    std::call_once(is_made_, [&] {
      const auto found = tables_.found();
      if (!found) throw error{errc::schema_missing, "the client has not found rowlock's tables; run client::migrate()"};
      texts_ = make_(tables_.prefix(), *found + ".", is_guarded_);
    });
    return &texts_;
  }

 private:
  table_place& tables_;
  const maker make_;
  const bool is_guarded_;
  std::once_flag is_made_;
  sheets::enlisted_texts texts_;
};

/// The server's own identification of a session: it uses process ids again, with another start.
struct postgresql_backend_id {
  std::int64_t pid = 0;
  std::int64_t started_at = 0;  // microseconds since 1970, by the server's clock
};

struct postgresql_options {
  duration call_timeout = std::chrono::seconds{5};  // the server's own limits are a little longer
  /// For transactions that are kept open: how long the session may be idle in one.
  std::optional<duration> transaction_limit{};
  bool transaction_pooling = false;
  bool durable_release = false;
  table_place* tables = nullptr;  ///< nullptr: no step names a table
  warn warning{};
  /// Called with a session whose call was cut or whose reply was lost: the server may still be executing it.
  std::function<void(const postgresql_backend_id&)> lost{};
};

/// A connection to a PostgreSQL server.
///
///   usable --a call was cut, the connection broke--> dead: every call throws connection_failed and sends nothing
///   idle --exclusively(), a batch that takes several statements--> in a transaction --its end--> idle
///   idle --begin()--> in a transaction that is kept open --commit(), rollback()--> idle
///
/// With transaction_pooling each transaction may run in another of the server's sessions. Then nothing is prepared or
/// set, and if the server's default is another isolation level, each statement says which level it needs.
///
/// Each statement names the schema of its tables. While no session has found the tables, it looks for them before each
/// statement.
class postgresql_session final : public session {
 public:
  postgresql_session(const postgresql_address& to, postgresql_options options, call_watchdog& watchdog,
                     const limits& until);

  void exclusively(const std::function<void()>& body, const limits& until) override;
  bool looks_alive() noexcept override { return guarded_.looks_alive(); }
  int descriptor() const noexcept override { return guarded_.descriptor(); }

  const postgresql_backend_id& id() const noexcept { return id_; }

 private:
  std::vector<row> do_run(const sheets::step& what, std::span<const request> batch, const limits& until) override;
  void do_begin(const limits& until) override;
  void do_commit(const limits& until) override;
  void do_commit_and_tell(const sheets::step& next, const request& of, const limits& until) override;
  void do_rollback(const limits& until) override;
  void do_script(const std::string& sql) override;

  struct statement {
    std::string name;
    std::string sql;  // as sent
    std::size_t parameters = 0;
    bool is_prepared = false;
  };
  enum class shape : std::uint8_t { scalars, arrays };

  void set_up(const limits& until);
  void require_utf8(const char* encoding) const;
  void check_server(const row& state);
  std::string looking_for_tables(const std::string& columns) const;
  void look_for_tables(const limits& until);
  void note_place(const cell& schema, const cell& has_tables);

  // One round trip each.
  template <class Send>
  pqxx::result call(const call_description& why, const limits& until, Send send);
  pqxx::result simple(const std::string& sql, const call_description& why, const limits& until);
  void execute(const std::string& sql, std::span<const request> batch, shape s, const call_description& why,
               const limits& until, std::vector<row>& to);
  statement& known(const std::string& sql);
  statement make_statement(const std::string& sql);
  postgresql_values fill(std::size_t parameters, std::span<const request> batch, shape s);
  bool in_doubt(const call_description& why) const noexcept { return why.writing && !is_in_transaction_; }
  [[noreturn]] void fail(const std::exception& e, const call_description& why);
  bool is_behind_unnamed_pooler() const noexcept;
  void report_lost();

  template <class Body>
  void in_transaction(const limits& until, Body body);
  template <class Body>
  void in_savepoint(const limits& until, Body body);
  template <class Body>
  void or_else(const char* undo, const limits& until, Body body);
  bool undone(const char* sql, const limits& until) noexcept;

  std::vector<row> run_once(const sheets::step& what, std::span<const request> batch, const limits& until);
  void carry_out(const sheets::step& what, std::span<const request> batch, const limits& until, std::vector<row>& to);
  std::string settings_of_transaction() const;
  std::string making_tables() const;
  std::string locking_migrations(const std::optional<duration>& left) const;
  void commit_with(const std::string& after, const limits& until);
  bool is_about_notices(const error& e) const;
  std::string with_literals(std::string_view sql, const request& of) const;

  postgresql_options options_;
  libpqxx_connection connection_;
  guarded_connection guarded_;
  postgresql_backend_id id_;
  const std::string statement_names_;  // all names of statements begin with this, so that no other client has the same
  bool is_in_transaction_ = false;
  bool is_kept_open_ = false;  // the transaction remains open, by begin()
  bool must_say_isolation_ = false;
  bool standby_was_lost_ = false;   // in the call under way
  std::optional<limits> around_{};  // of the exclusively() under way
  std::string place_{};             // the schema of the tables, or where they would be made; empty: there is none
  bool is_placed_ = false;          // finally
  statement_cache<statement> statements_;
  std::size_t statements_made_ = 0;
  std::array<std::string, std::tuple_size_v<request>> texts_;  // of parameters
  std::array<const char*, std::tuple_size_v<request>> values_{};
};

}  // namespace rowlock::inline v1::driver
