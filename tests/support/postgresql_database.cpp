#include "support/postgresql_database.hpp"

#include <unistd.h>

#include <exception>
#include <filesystem>
#include <iostream>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "support/tcp_proxy.hpp"

namespace rowlock::test {

namespace {

constexpr const char* server_variable = "ROWLOCK_TEST_POSTGRESQL_URL";
constexpr const char* pgbouncer_variable = "ROWLOCK_TEST_PGBOUNCER_URL";

/// The idle connections of this process, by their URL: a server spends more time on a new one than on most tests. A
/// connection from before a fork belongs to the parent.
class idle_connections {
 public:
  /// A connection that is as new, and comes back here in the end.
  static std::shared_ptr<pq_connection> take(const std::string& url) {
    auto out = all().pop(url);
    while (out && !out->is_alive()) out = all().pop(url);
    if (!out) out = std::make_unique<pq_connection>(url);
    return {out.release(), [url, owner = ::getpid()](pq_connection* raw) {
              std::unique_ptr<pq_connection> back{raw};
              if (owner != ::getpid()) {
                back->abandon();
              } else if (back->reset()) {
                all().push(url, std::move(back));
              }
            }};
  }

 private:
  // Remains to the end of the process, so that a forked child closes no connection of its parent.
  static idle_connections& all() {
    static auto* const out = new idle_connections;
    return *out;
  }

  std::unique_ptr<pq_connection> pop(const std::string& url) {
    const std::lock_guard lock{mutex_};
    if (owner_ != ::getpid()) {
      for (auto& [_, some] : idle_)
        for (auto& each : some) each->abandon();
      idle_.clear();
      owner_ = ::getpid();
    }
    auto& some = idle_[url];
    if (some.empty()) return nullptr;
    auto out = std::move(some.back());
    some.pop_back();
    return out;
  }

  void push(const std::string& url, std::unique_ptr<pq_connection> back) {
    const std::lock_guard lock{mutex_};
    idle_[url].push_back(std::move(back));
  }

  std::mutex mutex_;
  std::map<std::string, std::vector<std::unique_ptr<pq_connection>>> idle_;
  pid_t owner_ = ::getpid();
};

std::string shell_as(const server_address& to) {
  return "psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 '" + to.url() + "'";
}

}  // namespace

postgresql_database::postgresql_database() : postgresql_database{address_in(server_variable)} {}

postgresql_database::postgresql_database(server_address server)
    : server_database{std::move(server), 5432}, connection_{[this] { return connect(); }} {
  execute("CREATE ROLE " + name() + " LOGIN PASSWORD '" + name() + "'; ALTER ROLE " + name() +
          " SET search_path = " + name() + "; CREATE SCHEMA " + name() + " AUTHORIZATION " + name());
}

postgresql_database::~postgresql_database() {
  if (!connection_.is_of_this_process()) return;
  try {
    terminate_sessions();
    // Does not wait for a standby, which a failed test may have left down.
    postgresql_database::execute("SET synchronous_commit = local; DROP SCHEMA " + name() +
                                 " CASCADE; DROP ROLE IF EXISTS " + guest() + ", " + group() + "; DROP ROLE " + name());
  } catch (const std::exception& e) {
    std::cerr << "a schema was left behind: " << e.what() << '\n';
  }
}

std::string postgresql_database::shell() const { return shell_as(address()); }

std::string postgresql_database::administrators_shell() const {
  return "PGOPTIONS='-c search_path=" + name() + "' " + shell_as(administrator());
}

std::string postgresql_database::url_through_pgbouncer() const {
  auto out = address_in(pgbouncer_variable);
  out.user = out.password = name();
  return out.url();
}

std::string postgresql_database::url_of_guest(std::string_view privileges) {
  make_guest();
  execute("GRANT USAGE ON SCHEMA " + name() + " TO " + guest() + "; GRANT " + std::string{privileges} +
          " ON ALL TABLES IN SCHEMA " + name() + " TO " + guest());
  return address_as(guest()).url();
}

std::string postgresql_database::url_of_member() {
  make_guest();
  execute("GRANT " + group() + " TO " + guest());
  return address_as(guest()).url();
}

void postgresql_database::make_guest() {
  execute("CREATE ROLE " + guest() + " LOGIN PASSWORD '" + guest() + "'; ALTER ROLE " + guest() +
          " SET search_path = " + name());
}

void postgresql_database::set_password(const std::string& word) {
  execute("ALTER ROLE " + name() + " PASSWORD " + quoted(word));
}

void postgresql_database::forbid_making_tables() {
  execute("ALTER SCHEMA " + name() + " OWNER TO CURRENT_USER; GRANT USAGE ON SCHEMA " + name() + " TO " + name());
}

bool postgresql_database::has_table(std::string_view table) {
  return number("SELECT count(*) FROM pg_tables WHERE schemaname = '" + name() +
                "' AND tablename = " + quoted(table)) == 1;
}

// Reads still succeed, as with a writer of SQLite.
std::unique_ptr<obstacle> postgresql_database::stall() {
  return transaction("LOCK TABLE rowlock_lock IN EXCLUSIVE MODE");
}

std::unique_ptr<obstacle> postgresql_database::meanwhile(const std::string& begin, const std::string& end) {
  return test::meanwhile(connect(), begin, end);
}

void postgresql_database::execute(const std::string& sql) {
  connection_.with([&](pq_connection& c) { c.run_script(sql); });
}

sql_rows postgresql_database::ask(const std::string& sql) {
  return connection_.with([&](pq_connection& c) { return rows_of(c.run(sql)); });
}

std::string postgresql_database::quoted(std::string_view text) {
  return connection_.with([&](pq_connection& c) {
    const std::unique_ptr<char, void (*)(void*)> out{PQescapeLiteral(c.raw(), text.data(), text.size()), PQfreemem};
    return std::string{out.get()};
  });
}

std::unique_ptr<obstacle> postgresql_database::row_pinned(std::string_view name) {
  return transaction("SELECT FROM rowlock_lock WHERE name = " + quoted(name) + " FOR KEY SHARE");
}

std::unique_ptr<obstacle> postgresql_database::sealed() {
  return transaction("LOCK TABLE rowlock_lock IN ACCESS EXCLUSIVE MODE");
}

// The trigger remains, and blocks no statement after the obstacle is removed.
std::unique_ptr<obstacle> postgresql_database::gate_before(const std::string& table, const update& only) {
  const auto key = "hashtext('" + name() + "')";
  std::string and_does = only.and_does;
  for (auto at = and_does.find("SET "); at != std::string::npos; at = and_does.find("SET ")) and_does.erase(at, 4);
  const bool is_any = only.condition.empty();
  execute("CREATE OR REPLACE FUNCTION pass_gate() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = 0 AS $$ BEGIN " +
          and_does + "PERFORM pg_advisory_xact_lock_shared(" + key +
          "); RETURN COALESCE(NEW, OLD); END $$; DROP TRIGGER IF EXISTS gate ON " + table +
          "; CREATE TRIGGER gate BEFORE " + (is_any ? "INSERT OR UPDATE OR DELETE" : "UPDATE") + " ON " + table +
          " FOR EACH ROW " + (is_any ? "" : "WHEN (" + only.condition + ") ") + "EXECUTE FUNCTION pass_gate()");
  return transaction("SELECT pg_advisory_xact_lock(" + key + ")");
}

std::int64_t postgresql_database::at_gate() {
  return number("SELECT count(*) FROM pg_stat_activity WHERE usename = '" + name() + "' AND wait_event = 'advisory'");
}

std::int64_t postgresql_database::sweep() {
  return number(
      "WITH gone AS (DELETE FROM rowlock_lock WHERE name IN (SELECT name FROM rowlock_lock "
      "WHERE owner IS NULL AND expires_at < clock_timestamp() - interval '1 second' FOR UPDATE SKIP LOCKED) "
      "RETURNING 1) SELECT count(*) FROM gone");
}

std::unique_ptr<obstacle> postgresql_database::set_default(const std::string& variable, const std::string& value) {
  execute("ALTER ROLE " + name() + " SET " + variable + " = " + value);
  return std::make_unique<obstacle>();
}

std::string postgresql_database::sessions_query() const {
  return "SELECT pid FROM pg_stat_activity WHERE usename IN ('" + name() + "', '" + guest() + "')";
}

// Excludes transactions that are about to commit, such as a waiter's renewal of its ticket.
std::vector<std::int64_t> postgresql_database::open_transactions() {
  return numbers(
      "SELECT pid FROM pg_stat_activity WHERE backend_xid IS NOT NULL "
      "AND (state = 'idle in transaction' OR query = 'SELECT 1') AND usename = " +
      quoted(name()));
}

bool postgresql_database::is_kept_waiting() {
  return number("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND usename = " +
                quoted(name())) > 0;
}

void postgresql_database::terminate(std::int64_t session) {
  execute("SELECT pg_terminate_backend(" + std::to_string(session) + ")");
}

// On a remote server there is no such process here, or an unrelated one; all waits for it have a limit.
bool postgresql_database::has_process(std::int64_t session) const {
  return std::filesystem::exists("/proc/" + std::to_string(session));
}

bool postgresql_database::is_complete(std::string_view answer) const {
  return tcp_proxy::ends_with_ready_for_query(answer);
}

std::string postgresql_database::clock() const { return "clock_timestamp()"; }

std::string postgresql_database::microseconds(const std::string& time) const {
  return "(extract(epoch FROM " + time + ") * 1000000)::bigint";
}

std::string postgresql_database::random_id() const { return "replace(gen_random_uuid()::text, '-', '')"; }

std::shared_ptr<pq_connection> postgresql_database::connect() const {
  auto out = idle_connections::take(administrator().url());
  out->run_script("SET search_path = " + name() + "; SET application_name = 'test'; SET lock_timeout = '30s'");
  return out;
}

}  // namespace rowlock::test
