#include <rowlock/error.hpp>

#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/alarm.hpp"
#include "base/boot_clock.hpp"
#include "driver/backend.hpp"
#include "driver/failure_meaning.hpp"
#include "driver/net/call_watchdog.hpp"
#include "driver/net/guarded_connection.hpp"
#include "driver/postgresql/address.hpp"
#include "driver/postgresql/connect.hpp"
#include "driver/postgresql/enlisted_transaction.hpp"
#include "driver/postgresql/errors.hpp"
#include "driver/postgresql/libpqxx.hpp"
#include "driver/postgresql/session.hpp"
#include "driver/server_session.hpp"
#include "sql/loader.hpp"

namespace rowlock::inline v1::driver {

namespace {

// --- listening
// --------------------------------------------------------------------------------------------------------

struct clear_result {
  void operator()(PGresult* r) const noexcept { PQclear(r); }
};
struct free_notification {
  void operator()(PGnotify* n) const noexcept { PQfreemem(n); }
};

constexpr int first_with_idle_sessions = 140000;

/// A connection that LISTENs on the channel of one client. It uses libpq alone: libpqxx waits in its own way.
class postgresql_listener final : public listener {
 public:
  /// `channel` is an identifier that needs no quotes.
  postgresql_listener(const postgresql_address& to, const std::string& channel, duration call_timeout,
                      call_watchdog& watchdog, const limits& until);

  std::vector<std::string> wait(base::instant until, const std::stop_token& stop) override;

 private:
  std::vector<std::string> heard();
  void execute(const std::string& sql, const char* doing, const limits& until);

  const duration call_timeout_;
  base::alarm alarm_;
  postgresql_handle connection_;
  guarded_connection guarded_;
};

postgresql_listener::postgresql_listener(const postgresql_address& to, const std::string& channel,
                                         duration call_timeout, call_watchdog& watchdog, const limits& until)
    : call_timeout_{call_timeout},
      connection_{connect(to, until)},
      guarded_{name_of_server(connection_.get()), watchdog, PQsocket(connection_.get()), {}} {
  const bool can_be_idle = PQserverVersion(connection_.get()) >= first_with_idle_sessions;
  execute(std::string{can_be_idle ? "SET idle_session_timeout = 0; " : ""} + "LISTEN " + channel, "beginning to listen",
          until);
}

void postgresql_listener::execute(const std::string& sql, const char* doing, const limits& until) {
  PGconn* const c = connection_.get();
  const auto explain = [&](const std::exception&) {
    const bool is_lost = PQstatus(c) != CONNECTION_OK;
    if (is_lost) guarded_.close_later();
    throw postgresql_error({.message = PQerrorMessage(c), .sqlstate = {}, .connection_lost = is_lost},
                           guarded_.server(), doing);
  };
  guarded_.call(
      {doing}, until,
      [&] {
        const std::unique_ptr<PGresult, clear_result> answer{PQexec(c, sql.c_str())};
        const auto status = PQresultStatus(answer.get());
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) throw error{errc::database_error, "refused"};
        return 0;
      },
      explain);
}

// A silent connection may have ended without notice.
std::vector<std::string> postgresql_listener::wait(base::instant until, const std::stop_token& stop) {
  const std::stop_callback wake{stop, [this] { alarm_.arm(base::instant::min()); }};
  for (;;) {
    alarm_.disarm();
    if (auto names = heard(); !names.empty() || stop.stop_requested()) return names;
    if (base::now() >= until) break;
    alarm_.arm(until);
    alarm_.wait_or_read(guarded_.descriptor());
  }
  execute("SELECT 1", "looking whether the server is there",
          {.deadline = base::later(base::now(), call_timeout_), .stop = stop});
  return heard();  // notifications that arrived with the answer
}

std::vector<std::string> postgresql_listener::heard() {
  PGconn* const c = connection_.get();
  std::vector<std::string> out;
  const bool is_alive = PQconsumeInput(c) == 1 && PQstatus(c) == CONNECTION_OK;
  while (const std::unique_ptr<PGnotify, free_notification> each{PQnotifies(c)}) out.emplace_back(each->extra);
  if (!is_alive && out.empty())
    throw error{errc::connection_failed, failure_of("listening", guarded_.server()) + "the connection was lost"};
  return out;
}

// --- the database
// -----------------------------------------------------------------------------------------------------

// By process id and start: the process id alone may belong to another session by now. No lock is written, so this is a
// step that only reads.
const sheets::step end_lost_session{
    .verb = sheets::verb::count_of_verbs,
    .read =
        "SELECT pg_terminate_backend(pid) FROM pg_stat_get_activity($1::integer) a "
        "WHERE (extract(epoch FROM a.backend_start) * 1000000)::bigint = $2::bigint "
        "AND a.usesysid = (SELECT oid FROM pg_catalog.pg_roles WHERE rolname = session_user)"};

class postgresql_database final : public database {
 public:
  postgresql_database(const core::url& url, const open_options& with)
      : address_{url, with.application_name},
        with_{with},
        warning_{with.warning},
        tables_{with.table_prefix},
        texts_{tables_, sheets::postgresql_enlisted, false},
        guarded_texts_{tables_, sheets::postgresql_enlisted, true} {}

  std::string server() const override { return name_of_server(address_.hosts().front()); }
  std::unique_ptr<session> connect(const limits& until) override { return connect(until, std::nullopt); }
  std::unique_ptr<session> connect_to_hold(const limits& until) override {
    return connect(until, with_.transaction_limit);
  }
  std::unique_ptr<enlisted_transaction> join(caller_transaction& tx, bool is_guarded) override {
    require_kind(tx, detail::backend::postgresql);
    return std::make_unique<postgresql_enlisted>(tx, is_guarded ? guarded_texts_ : texts_, caller_sessions_,
                                                 !with_.transaction_pooling);
  }
  bool has_row_locks() const noexcept override { return true; }
  std::size_t most_sessions() const noexcept override { return std::numeric_limits<std::size_t>::max(); }
  bool needs_static_objects() const noexcept override { return detail::libpqxx_needs_static_objects; }
  duration least_call() const noexcept override { return std::chrono::milliseconds{500}; }
  foreign_news news() const noexcept override {
    return with_.transaction_pooling ? foreign_news::asked : foreign_news::notified;
  }
  // The statements send notifications to this channel.
  std::unique_ptr<listener> listen(const std::string& owner, const limits& until) override {
    constexpr std::size_t digits = 16;
    return std::make_unique<postgresql_listener>(address_, with_.table_prefix + owner.substr(owner.size() - digits),
                                                 with_.call_timeout, watchdog_, until);
  }
  void end_lost_sessions(session& on, const limits& until) override;
  void end_session(const sheets::sheet& sql, session& on, std::string_view name, std::int64_t number,
                   const limits& until) override {
    const request one{name, number};
    on.run(sql[sheets::verb::end_session], {&one, 1}, until);
  }

 private:
  std::unique_ptr<session> connect(const limits& until, std::optional<duration> transaction_limit) {
    return std::make_unique<postgresql_session>(
        address_,
        postgresql_options{.call_timeout = with_.call_timeout,
                           .transaction_limit = transaction_limit,
                           .transaction_pooling = with_.transaction_pooling,
                           .durable_release = with_.durable_release,
                           .tables = &tables_,
                           .warning = [this](const std::string& s) { warning_(s); },
                           .lost = [this](const postgresql_backend_id& id) { lost_.add(id); }},
        watchdog_, until);
  }

  const postgresql_address address_;
  const open_options with_;
  warn_once warning_;
  call_watchdog watchdog_;
  lost_sessions<postgresql_backend_id> lost_;
  table_place tables_;
  placed_texts texts_;
  placed_texts guarded_texts_;
  caller_sessions caller_sessions_;
};

void postgresql_database::end_lost_sessions(session& on, const limits& until) {
  lost_.end_all([&](const postgresql_backend_id& id) {
    const request one{id.pid, id.started_at};
    on.run(end_lost_session, {&one, 1}, until);
  });
}

std::unique_ptr<database> open(const core::url& address, const open_options& with) {
  return std::make_unique<postgresql_database>(address, with);
}

sheets::choices choices_in(const open_options& with) {
  return {.transaction_pooling = with.transaction_pooling,
          .durable_release = with.durable_release,
          .is_guarded = with.is_guarded,
          .may_relax = with.may_relax};
}

sheets::sheet sheet_of(std::string_view prefix, const open_options& with) {
  return sheets::postgresql(prefix, choices_in(with));
}

std::vector<sheets::passage> passages(std::string_view /*scheme*/, const open_options& with) {
  return sheets::postgresql_passages(with.table_prefix, choices_in(with));
}

constexpr std::string_view schemes[] = {"postgresql", "postgres"};

}  // namespace
}  // namespace rowlock::inline v1::driver

extern "C" [[gnu::visibility("default")]] const rowlock::driver::backend* rowlock_backend_postgresql();

extern "C" const rowlock::driver::backend* rowlock_backend_postgresql() {
  static const rowlock::driver::backend the{.schemes = rowlock::driver::schemes,
                                            .sheet = rowlock::driver::sheet_of,
                                            .migrations = rowlock::sheets::postgresql_migrations(),
                                            .passages = rowlock::driver::passages,
                                            .open = rowlock::driver::open};
  return &the;
}
