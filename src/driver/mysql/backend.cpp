#include <rowlock/error.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/boot_clock.hpp"
#include "base/text.hpp"
#include "driver/backend.hpp"
#include "driver/enlisted_transaction.hpp"
#include "driver/mysql/enlisted_transaction.hpp"
#include "driver/mysql/listener.hpp"
#include "driver/mysql/session.hpp"
#include "driver/net/call_watchdog.hpp"
#include "driver/server_session.hpp"
#include "sql/loader.hpp"

namespace rowlock::inline v1::driver {

namespace {

using namespace std::chrono_literals;

constexpr const char* asking_who_keeps = "asking who keeps a row";
// MariaDB updates its list of locks only if no session has asked for it for a tenth of a second. So each pause is
// longer than the one before, and several clients that ask at once do not keep each other from an answer.
constexpr duration between_questions = 150ms;

// The value for innodb_lock_wait_timeout.
std::string whole_seconds_until(base::instant end) {
  const auto left = std::chrono::floor<std::chrono::seconds>(end - base::now());
  return std::to_string(std::clamp<std::chrono::seconds>(left, 1s, 30s).count());
}

std::string waited_for_by(const std::string& session) {
  return "SELECT DISTINCT CAST(b.trx_mysql_thread_id AS CHAR) FROM information_schema.innodb_lock_waits w "
         "JOIN information_schema.innodb_trx r ON r.trx_id = w.requesting_trx_id "
         "JOIN information_schema.innodb_trx b ON b.trx_id = w.blocking_trx_id WHERE r.trx_mysql_thread_id = " +
         session;
}

// MySQL shows which session has locked which key. (Its innodb_trx cannot be read while the statement of any session has
// characters of four bytes.)
std::string blockers_in_list(const std::string& table, std::string_view name) {
  return "SELECT DISTINCT CAST(t.processlist_id AS CHAR) FROM performance_schema.data_locks l "
         "JOIN performance_schema.threads t ON t.thread_id = l.thread_id "
         "WHERE l.object_schema = DATABASE() AND l.object_name = '" +
         table +
         "' AND l.index_name = 'PRIMARY' AND l.lock_type = 'RECORD' AND l.lock_status = 'GRANTED' "
         "AND l.lock_mode NOT LIKE '%,GAP%' AND l.lock_data = '0x" +
         hex(name) + "'";
}

std::vector<std::int64_t> sessions_in(const std::vector<row>& answer) {
  std::vector<std::int64_t> out;
  for (const row& r : answer) out.push_back(std::stoll(text(r.at(0))));
  return out;
}

using connect_another = std::function<std::unique_ptr<mysql_session>()>;

// The sessions that keep the row of that name locked, according to the server itself: any client may have written the
// contents of the row. None: the row is free. On MariaDB a second session waits for the row, and the first one asks
// which session it waits for, which requires PROCESS. On MySQL this requires SELECT on performance_schema's data_locks
// and threads. Throws permission_denied.
std::vector<std::int64_t> blockers_of(const std::string& table, std::string_view name, mysql_session& asking,
                                      const connect_another& connect, const limits& until) {
  if (asking.kind() == mysql_kind::mysql)
    return sessions_in(asking.ask(blockers_in_list(table, name), asking_who_keeps, until));
  const auto second = connect();
  mysql_session& waiting = *second;
  const auto question = waited_for_by(text(waiting.ask("SELECT CONNECTION_ID()", asking_who_keeps, until).at(0).at(0)));
  asking.ask(question, asking_who_keeps, until);  // throws if this role may not ask
  waiting.ask("SET SESSION innodb_lock_wait_timeout = " + whole_seconds_until(until.deadline), asking_who_keeps, until);
  enum class outcome : std::uint8_t { unknown, free, failed };
  std::atomic<outcome> of_wait{outcome::unknown};
  const std::jthread waiter{[&](const std::stop_token& stop) {
    try {
      waiting.ask("SELECT 1 FROM " + table + " WHERE name = X'" + hex(name) + "' FOR UPDATE", asking_who_keeps,
                  {.deadline = until.deadline, .stop = stop});
      of_wait = outcome::free;
    } catch (const std::exception&) {  // it has waited long enough, or was cut
      of_wait = outcome::failed;
    }
  }};
  for (int questions = 1; of_wait == outcome::unknown; ++questions) {
    std::this_thread::sleep_for(between_questions * std::min(questions, 4));
    if (auto out = sessions_in(asking.ask(question, asking_who_keeps, until)); !out.empty()) return out;
  }
  if (of_wait == outcome::free) return {};
  throw error{errc::database_error, "the server does not say which session has locked the row of " +
                                        base::quoted(name) +
                                        "; look for it in information_schema.innodb_trx and SHOW PROCESSLIST"};
}

class mysql_database final : public database {
 public:
  mysql_database(const core::url& url, const open_options& with)
      : address_{read_mysql_url(url)},
        with_{with},
        warning_{with.warning},
        texts_{sheets::mysql_enlisted(with.table_prefix, address_.place() + ".", false)},
        guarded_texts_{sheets::mysql_enlisted(with.table_prefix, address_.place() + ".", true)} {}

  std::string server() const override { return address_.server_name("MySQL"); }
  std::unique_ptr<session> connect(const limits& until) override {
    return connect(until, std::nullopt, with_.call_timeout);
  }
  std::unique_ptr<session> connect_to_hold(const limits& until) override {
    return connect(until, with_.transaction_limit, with_.call_timeout);
  }
  std::unique_ptr<enlisted_transaction> join(caller_transaction& tx, bool is_guarded) override {
    require_kind(tx, detail::backend::mysql);
    return std::make_unique<mysql_enlisted>(tx, is_guarded ? guarded_texts_ : texts_);
  }
  bool has_row_locks() const noexcept override { return true; }
  std::size_t most_sessions() const noexcept override { return std::numeric_limits<std::size_t>::max(); }
  bool needs_static_objects() const noexcept override { return connector_needs_static_objects; }
  duration least_call() const noexcept override { return std::chrono::milliseconds{500}; }
  foreign_news news() const noexcept override { return foreign_news::woken; }
  std::unique_ptr<listener> listen(const std::string& owner, const limits& until) override {
    const auto another = [&] { return connect(until, std::nullopt, with_.call_timeout + listener::longest_wait); };
    return std::make_unique<mysql_listener>(another, owner, with_.call_timeout, until);
  }
  void wake(session& on, std::string_view owner, const limits& until) override {
    if (const auto lock = wake_up_lock(owner)) static_cast<mysql_session&>(on).interrupt_keeper_of(*lock, until);
  }
  void end_lost_sessions(session& on, const limits& until) override {
    lost_.end_all([&](const std::string& mark) { static_cast<mysql_session&>(on).end_session(mark, until); });
  }
  void end_session(const sheets::sheet& sql, session& on, std::string_view name, std::int64_t number,
                   const limits& until) override;

 private:
  std::unique_ptr<mysql_session> connect(const limits& until, std::optional<duration> transaction_limit,
                                         duration longest_call) {
    return std::make_unique<mysql_session>(address_,
                                           mysql_options{.call_timeout = longest_call,
                                                         .transaction_limit = transaction_limit,
                                                         .warning = [this](const std::string& s) { warning_(s); },
                                                         .lost = [this](const std::string& mark) { lost_.add(mark); },
                                                         .another = [this](const limits& u) { return connect(u); }},
                                           watchdog_, until);
  }

  const mysql_address address_;
  const open_options with_;
  warn_once warning_;
  call_watchdog watchdog_;
  lost_sessions<std::string> lost_;
  const sheets::enlisted_texts texts_;
  const sheets::enlisted_texts guarded_texts_;
};

std::string list_of(const std::vector<std::int64_t>& sessions) {
  std::string out;
  for (const auto each : sessions) out.append(out.empty() ? "session " : ", session ").append(std::to_string(each));
  return out;
}

// The contents of the row may be false, and KILL cannot be taken back. So the server is asked, about its own locks.
void mysql_database::end_session(const sheets::sheet& /*sql*/, session& on, std::string_view name, std::int64_t number,
                                 const limits& until) {
  auto& asking = static_cast<mysql_session&>(on);
  const auto blockers = blockers_of(
      with_.table_prefix + "lock", name, asking, [&] { return connect(until, std::nullopt, with_.call_timeout); },
      until);
  if (blockers.empty()) return;  // it has ended
  if (std::find(blockers.begin(), blockers.end(), number) == blockers.end())
    throw error{errc::database_error, "the row of " + base::quoted(name) + " says that session " +
                                          std::to_string(number) + " has locked it, but the server says it is " +
                                          list_of(blockers) +
                                          "; look for both in information_schema.innodb_trx and SHOW PROCESSLIST, and "
                                          "end the right one with KILL"};
  asking.end_session(number, until);
}

void refuse_pooling(const open_options& with) {
  if (with.transaction_pooling)
    throw error{errc::invalid_option,
                "transaction_pooling is for PostgreSQL behind PgBouncer; leave it off for MySQL and MariaDB, whose "
                "proxies keep a session on one connection"};
}

std::unique_ptr<database> open(const core::url& address, const open_options& with) {
  refuse_pooling(with);
  return std::make_unique<mysql_database>(address, with);
}

// A release is always as durable as the server's setting requires: no session can ask for less, or more.
sheets::sheet sheet_of(std::string_view prefix, const open_options& with) {
  return sheets::mysql(prefix, with.is_guarded);
}

// Writes before the statement which argument each ? is.
std::string with_arguments(mysql_text text, const sheets::entry& of, std::string_view key) {
  std::string names;
  for (const auto place : text.arguments)
    names.append(names.empty() ? "" : ", ").append(key.starts_with("batch") ? "requests" : of.arguments.at(place));
  text.sql.erase(0, text.sql.find_first_not_of('\n'));
  return names.empty() ? text.sql : "-- arguments: " + names + "\n" + text.sql;
}

std::vector<sheets::passage> passages(std::string_view scheme, const open_options& with) {
  refuse_pooling(with);
  const bool is_mariadb = scheme == "mariadb";
  const auto kind = is_mariadb ? mysql_kind::mariadb : mysql_kind::mysql;
  return sheets::mysql_passages(is_mariadb ? "MariaDB" : "MySQL", with.table_prefix,
                                [=](const std::string& sent, const sheets::entry& of, std::string_view key) {
                                  if (!is_mariadb && key.ends_with("making")) return std::string{};
                                  return with_arguments(for_server(sent, kind), of, key);
                                });
}

constexpr std::string_view schemes[] = {"mysql", "mariadb"};

}  // namespace
}  // namespace rowlock::inline v1::driver

extern "C" [[gnu::visibility("default")]] const rowlock::driver::backend* rowlock_backend_mysql();

extern "C" const rowlock::driver::backend* rowlock_backend_mysql() {
  static const rowlock::driver::backend the{.schemes = rowlock::driver::schemes,
                                            .sheet = rowlock::driver::sheet_of,
                                            .migrations = rowlock::sheets::mysql_migrations(),
                                            .passages = rowlock::driver::passages,
                                            .open = rowlock::driver::open};
  return &the;
}
