#include "support/postgresql_database.hpp"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "support/eventually.hpp"
#include "support/pq_connection.hpp"

namespace rowlock::test {

namespace {

constexpr const char* server_variable = "ROWLOCK_TEST_POSTGRESQL_URL";
constexpr const char* pgbouncer_variable = "ROWLOCK_TEST_PGBOUNCER_URL";
constexpr const char* row_columns =
    "version, owner, thread, acquisition, (extract(epoch FROM acquired_at) * 1000000)::bigint, "
    "(extract(epoch FROM expires_at) * 1000000)::bigint, note";

std::string variable(const char* name) {
  const char* found = std::getenv(name);
  if (found == nullptr || *found == '\0')
    throw std::runtime_error{std::string{name} + " is not set: run the tests by ./test.sh, which starts servers"};
  return found;
}

using settings = std::map<std::string, std::string>;

settings settings_of(const std::string& url) {
  const std::unique_ptr<PQconninfoOption, void (*)(PQconninfoOption*)> options{PQconninfoParse(url.c_str(), nullptr),
                                                                               PQconninfoFree};
  if (!options) throw std::runtime_error{"libpq cannot read the URL in one of the variables ROWLOCK_TEST_..."};
  settings out;
  for (const auto* o = options.get(); o->keyword != nullptr; ++o)
    if (o->val != nullptr) out.emplace(o->keyword, o->val);
  return out;
}

std::string encoded(const std::string& text) {
  constexpr const char* digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '_' || c == '-' || c == '.')
      out += c;
    else
      out.append(1, '%').append(1, digits[byte >> 4U]).append(1, digits[byte & 15U]);
  }
  return out;
}

std::string url_of(settings all) {
  const auto take = [&](const char* keyword) {
    const auto found = all.extract(keyword);
    return found.empty() ? std::string{} : encoded(found.mapped());
  };
  auto url = "postgresql://" + take("user") + ":" + take("password") + "@" + take("host");
  if (const auto port = take("port"); !port.empty()) url += ":" + port;
  url += "/" + take("dbname");
  char separator = '?';
  for (const auto& [keyword, value] : all) url += std::exchange(separator, '&') + keyword + "=" + encoded(value);
  return url;
}

/// The server's, with another user, who has his name for a password too.
std::string url_as(const std::string& user, settings server) {
  server["user"] = server["password"] = user;
  return url_of(std::move(server));
}

std::string random_name() {
  std::random_device random;
  std::ostringstream out;
  out << "rowlock_test_" << std::hex << random() << random();
  return out.str();
}

class open_transaction : public obstacle {
 public:
  open_transaction(std::unique_ptr<pq_connection> connection, const std::string& sql)
      : connection_{std::move(connection)} {
    connection_->run_script("BEGIN");
    connection_->run_script(sql);
  }
  ~open_transaction() override {
    try {
      connection_->run_script("ROLLBACK");  // closing would not wait for it
    } catch (const std::exception& e) {
      std::cerr << "a transaction that was in the way: " << e.what() << '\n';
    }
  }

 private:
  std::unique_ptr<pq_connection> connection_;
};

class frozen_processes : public obstacle {
 public:
  explicit frozen_processes(std::vector<pid_t> pids) : pids_{std::move(pids)} {
    for (const auto pid : pids_)
      if (::kill(pid, SIGSTOP) != 0) throw std::runtime_error{"a process of the server cannot be stopped"};
  }
  ~frozen_processes() override {
    for (const auto pid : pids_) ::kill(pid, SIGCONT);
  }

 private:
  std::vector<pid_t> pids_;
};

lock_row row_of(const pq_result& found) {
  return {.version = found.number(0, 0).value(),
          .owner = found.text(0, 1),
          .thread = found.text(0, 2),
          .acquisition = found.text(0, 3),
          .acquired_at = found.number(0, 4),
          .expires_at = found.number(0, 5),
          .note = found.text(0, 6)};
}

}  // namespace

postgresql_database::postgresql_database() : name_{random_name()}, connection_{connect()}, owner_{::getpid()} {
  connection_->run_script("CREATE ROLE " + name_ + " LOGIN PASSWORD '" + name_ + "'; ALTER ROLE " + name_ +
                          " SET search_path = " + name_ + "; CREATE SCHEMA " + name_ + " AUTHORIZATION " + name_);
}

postgresql_database::~postgresql_database() {
  if (::getpid() != owner_) {
    connection_->abandon();
    return;
  }
  try {
    terminate_backends();
    execute("DROP SCHEMA " + name_ + " CASCADE; DROP ROLE IF EXISTS " + guest() + "; DROP ROLE " + name_);
  } catch (const std::exception& e) {
    std::cerr << "a schema was left behind: " << e.what() << '\n';
  }
}

std::string postgresql_database::host() const { return settings_of(variable(server_variable)).at("host"); }

std::uint16_t postgresql_database::port() const {
  const auto all = settings_of(variable(server_variable));
  const auto found = all.find("port");
  return found == all.end() ? std::uint16_t{5432} : static_cast<std::uint16_t>(std::stoi(found->second));
}

std::string postgresql_database::url() const { return url_as(name_, settings_of(variable(server_variable))); }

std::string postgresql_database::shell() const {
  return "psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 '" + url() + "'";
}

std::string postgresql_database::url_through(std::uint16_t port) const {
  auto all = settings_of(variable(server_variable));
  all["host"] = "127.0.0.1";
  all["port"] = std::to_string(port);
  return url_as(name_, std::move(all));
}

std::string postgresql_database::url_through_pgbouncer() const {
  return url_as(name_, settings_of(variable(pgbouncer_variable)));
}

std::string postgresql_database::url_of_guest(std::string_view privileges) {
  const auto guest = name_ + "_guest";
  execute("CREATE ROLE " + guest + " LOGIN PASSWORD '" + guest + "'; ALTER ROLE " + guest +
          " SET search_path = " + name_ + "; GRANT USAGE ON SCHEMA " + name_ + " TO " + guest + "; GRANT " +
          std::string{privileges} + " ON ALL TABLES IN SCHEMA " + name_ + " TO " + guest);
  return url_as(guest, settings_of(variable(server_variable)));
}

std::int64_t postgresql_database::now() {
  return number("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint");
}

std::optional<lock_row> postgresql_database::row(std::string_view name) {
  const auto sql = std::string{"SELECT "} + row_columns + " FROM rowlock_lock WHERE name = $1";
  return with<std::optional<lock_row>>([&](pq_connection& c) -> std::optional<lock_row> {
    const auto found = c.run(sql, {name});
    if (found.rows() == 0) return std::nullopt;
    return row_of(found);
  });
}

bool postgresql_database::has_table(std::string_view table) {
  return with<bool>([&](pq_connection& c) {
    return c.run("SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = $2", {name_, table}).rows() == 1;
  });
}

void postgresql_database::vacate(std::string_view name) {
  change(
      "UPDATE rowlock_lock SET owner = NULL, thread = NULL, version = version + 1, expires_at = clock_timestamp() "
      "WHERE name = $1",
      {name});
}

void postgresql_database::steal(std::string_view name) {
  change(
      "UPDATE rowlock_lock SET owner = 'thief:elsewhere:1:1', thread = 'thief', version = version + 1, "
      "acquisition = replace(gen_random_uuid()::text, '-', ''), acquired_at = clock_timestamp(), "
      "expires_at = clock_timestamp() + interval '1 hour' WHERE name = $1",
      {name});
}

void postgresql_database::erase(std::string_view name) { change("DELETE FROM rowlock_lock WHERE name = $1", {name}); }

void postgresql_database::expire(std::string_view name) {
  change("UPDATE rowlock_lock SET expires_at = clock_timestamp() WHERE name = $1", {name});
}

void postgresql_database::set_version(std::string_view name, std::int64_t version) {
  change("UPDATE rowlock_lock SET version = $1 WHERE name = $2", {std::to_string(version), name});
}

void postgresql_database::drop_tables() {
  execute("DROP TABLE rowlock_lock, rowlock_migration; DROP TABLE IF EXISTS rowlock_waiter");
}

int postgresql_database::newest_migration() {
  return static_cast<int>(number("SELECT max(version) FROM rowlock_migration"));
}

void postgresql_database::record_migration(int version, int serves_from) {
  change("INSERT INTO rowlock_migration (version, serves_from, applied_at) VALUES ($1, $2, clock_timestamp())",
         {std::to_string(version), std::to_string(serves_from)});
}

void postgresql_database::forget_migration(int version) {
  change("DELETE FROM rowlock_migration WHERE version = $1", {std::to_string(version)});
}

void postgresql_database::forget_checksums() { change("UPDATE rowlock_migration SET checksum = NULL"); }

int postgresql_database::missing_checksums() {
  return static_cast<int>(number("SELECT count(*) FROM rowlock_migration WHERE checksum IS NULL"));
}

// Reads go on, as they do beside a writer of SQLite.
std::unique_ptr<obstacle> postgresql_database::stall() {
  return transaction("LOCK TABLE rowlock_lock IN EXCLUSIVE MODE");
}

std::unique_ptr<obstacle> postgresql_database::reader() { return transaction("SELECT count(*) FROM rowlock_lock"); }

void postgresql_database::execute(const std::string& sql) {
  with<bool>([&](pq_connection& c) {
    c.run_script(sql);
    return true;
  });
}

std::int64_t postgresql_database::number(const std::string& sql) {
  return with<std::int64_t>([&](pq_connection& c) { return c.run(sql).number(0, 0).value(); });
}

std::string postgresql_database::text(const std::string& sql) {
  return with<std::string>([&](pq_connection& c) { return c.run(sql).text(0, 0).value(); });
}

std::unique_ptr<obstacle> postgresql_database::transaction(const std::string& sql) {
  return std::make_unique<open_transaction>(connect(), sql);
}

std::unique_ptr<obstacle> postgresql_database::row_locked(std::string_view name) {
  auto connection = connect();
  const std::unique_ptr<char, void (*)(void*)> quoted{PQescapeLiteral(connection->raw(), name.data(), name.size()),
                                                      PQfreemem};
  return std::make_unique<open_transaction>(
      std::move(connection), "SELECT FROM rowlock_lock WHERE name = " + std::string{quoted.get()} + " FOR UPDATE");
}

std::vector<pid_t> postgresql_database::backends() {
  return with<std::vector<pid_t>>([&](pq_connection& c) {
    const auto found = c.run("SELECT pid FROM pg_stat_activity WHERE usename IN ($1, $2)", {name_, guest()});
    std::vector<pid_t> out;
    for (int i = 0; i < found.rows(); ++i) out.push_back(static_cast<pid_t>(found.number(i, 0).value()));
    return out;
  });
}

// New ones are not counted, or clients that connect again would never let it end.
int postgresql_database::terminate_backends() {
  std::string pids;
  const auto all = backends();
  for (const auto pid : all) pids.append(pids.empty() ? "" : ",").append(std::to_string(pid));
  if (all.empty()) return 0;
  const auto among = " FROM pg_stat_activity WHERE pid IN (" + pids + ")";
  static_cast<void>(number("SELECT count(pg_terminate_backend(pid))" + among));
  if (!eventually([&] { return number("SELECT count(*)" + among) == 0; }))
    throw std::runtime_error{"a process of the server does not end"};
  return static_cast<int>(all.size());
}

std::unique_ptr<obstacle> postgresql_database::freeze_backends() {
  return std::make_unique<frozen_processes>(backends());
}

template <class Result>
Result postgresql_database::with(const std::function<Result(pq_connection&)>& look) {
  const std::lock_guard lock{mutex_};
  if (::getpid() != owner_) {
    const auto own = connect();
    return look(*own);
  }
  try {
    return look(*connection_);
  } catch (const std::exception&) {
    if (connection_->is_alive()) throw;
  }
  connection_ = connect();
  return look(*connection_);
}

std::unique_ptr<pq_connection> postgresql_database::connect() const {
  auto out = std::make_unique<pq_connection>(variable(server_variable));
  out->run_script("SET search_path = " + name_ + "; SET application_name = 'test'; SET lock_timeout = '30s'");
  return out;
}

void postgresql_database::change(std::string_view sql, std::initializer_list<std::string_view> arguments) {
  with<bool>([&](pq_connection& c) {
    c.run(std::string{sql}, arguments);
    return true;
  });
}

}  // namespace rowlock::test
