#include <rowlock/error.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "driver/backend.hpp"
#include "driver/lost_sessions.hpp"
#include "driver/mysql/blockers.hpp"
#include "driver/mysql/enlisted_transaction.hpp"
#include "driver/mysql/listener.hpp"
#include "driver/mysql/session.hpp"
#include "driver/net/call_watchdog.hpp"
#include "driver/warn_once.hpp"
#include "sql/loader.hpp"

namespace rowlock::inline v1::driver {

namespace {

class mysql_database final : public database {
 public:
  mysql_database(const core::url& url, const open_options& with)
      : address_{read_mysql_url(url)},
        with_{with},
        warning_{with.warning},
        enlisted_texts_{sheets::mysql_enlisted(with.table_prefix, address_.place() + ".")} {}

  std::unique_ptr<session> connect(const limits& until) override {
    return connect(until, std::nullopt, with_.call_timeout);
  }
  std::unique_ptr<session> connect_to_hold(const limits& until) override {
    return connect(until, with_.transaction_limit, with_.call_timeout);
  }
  std::unique_ptr<enlisted_transaction> join(caller_transaction& tx) override {
    require_kind(tx, detail::backend::mysql);
    return std::make_unique<mysql_enlisted>(tx, enlisted_texts_);
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
  const sheets::enlisted_texts enlisted_texts_;
};

std::string list_of(const std::vector<std::int64_t>& sessions) {
  std::string out;
  for (const auto each : sessions) out.append(out.empty() ? "session " : ", session ").append(std::to_string(each));
  return out;
}

// The row may say what is not true, and KILL is carried out, so the server is asked, under its own locks.
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

// A release is always as durable as the server's setting has it: no session can ask for less, or more.
sheets::sheet sheet_of(std::string_view prefix, const open_options& /*with*/) { return sheets::mysql(prefix); }

// Before the statement: which argument each ? is.
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
