#include "support/server_database.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "testkit/eventually.hpp"

namespace rowlock::test {

namespace {

// Names of roles end at 32 characters in MySQL, with what guest() adds.
std::string random_name() {
  std::random_device random;
  std::ostringstream out;
  out << "rowlocktest" << std::hex << random() << random();
  return out.str();
}

std::string interval(std::chrono::duration<double> s) { return "INTERVAL '" + std::to_string(s.count()) + "' SECOND"; }

}  // namespace

server_database::server_database(server_address server, std::uint16_t usual_port)
    : name_{random_name()}, server_{std::move(server)}, address_{server_}, usual_port_{usual_port} {
  address_.user = address_.password = name_;
}

server_address server_database::address_as(const std::string& role) const {
  auto out = address_;
  out.user = out.password = role;
  return out;
}

std::string server_database::url_through(std::uint16_t port) const {
  auto out = address_;
  out.host = "127.0.0.1";
  out.port = port;
  // What listens there reads the statements.
  if (!out.scheme.starts_with("postgres")) out.options = "ssl-mode=DISABLED";
  return out.url();
}

void server_database::vacate(std::string_view name) {
  change(name, "owner = NULL, thread = NULL, version = version + 1, expires_at = " + clock());
}

void server_database::steal(std::string_view name) {
  change(name, "owner = 'thief:elsewhere:1:1', thread = 'thief', version = version + 1, acquisition = " + random_id() +
                   ", acquired_at = " + clock() + ", expires_at = " + clock_and_an_hour());
}

std::unique_ptr<obstacle> server_database::gate_before_unmarking() {
  return gate_before("rowlock_lock",
                     {.condition = "OLD.waiting AND NOT NEW.waiting",
                      .and_does = "SET NEW.owner = 'thief:elsewhere:1:1'; SET NEW.acquisition = 'theirs'; "
                                  "SET NEW.expires_at = " +
                                  clock_and_an_hour() + "; "});
}

void server_database::erase(std::string_view name) { execute("DELETE FROM rowlock_lock WHERE name = " + quoted(name)); }

void server_database::expire(std::string_view name) { change(name, "expires_at = " + clock()); }

void server_database::set_version(std::string_view name, std::int64_t version) {
  change(name, "version = " + std::to_string(version));
}

void server_database::age(std::string_view name, std::chrono::seconds by) {
  change(name, "version = version - " + std::to_string(std::chrono::microseconds{by}.count()) +
                   ", acquired_at = acquired_at - " + interval(by) + ", expires_at = expires_at - " + interval(by));
}

void server_database::add_unused(int number) {
  execute("INSERT INTO rowlock_lock (name, version, expires_at) SELECT CONCAT('unused/', n), 1, " + clock() + " - " +
          interval(std::chrono::hours{2}) + " FROM (" + std::string{a_million_numbers} + ") numbers WHERE n < " +
          std::to_string(number));
}

int server_database::rows() { return static_cast<int>(number("SELECT count(*) FROM rowlock_lock")); }

int server_database::tickets() { return static_cast<int>(number("SELECT count(*) FROM rowlock_waiter")); }

std::int64_t server_database::enqueue(std::string_view name) {
  execute("INSERT INTO rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at) SELECT " + quoted(name) +
          ", 'sleeper:elsewhere:1:0000000000000001', 'sleeper', " + random_id() + ", " + clock() + ", " +
          clock_and_an_hour());
  return number("SELECT max(ticket) FROM rowlock_waiter");
}

std::int64_t server_database::enqueue_set(std::string_view name, std::chrono::milliseconds waited) {
  const auto ticket = enqueue(name);
  execute("UPDATE rowlock_waiter SET room = -2, enqueued_at = enqueued_at - " + interval(waited) +
          " WHERE ticket = " + std::to_string(ticket));
  change(name, "waiting = TRUE");
  return ticket;
}

void server_database::erase_ticket(std::int64_t ticket) {
  execute("DELETE FROM rowlock_waiter WHERE ticket = " + std::to_string(ticket));
}

void server_database::kill_waiters(std::chrono::seconds ago) {
  execute("UPDATE rowlock_waiter SET expires_at = " + clock() + " - " + interval(ago));
}

void server_database::kill_share(std::int64_t token, std::chrono::seconds ago) {
  execute("UPDATE rowlock_share SET expires_at = " + clock() + " - " + interval(ago) +
          " WHERE token = " + std::to_string(token));
}

int server_database::shares() {
  return static_cast<int>(number("SELECT count(*) FROM rowlock_share WHERE name <> ''"));
}

std::int64_t server_database::floor() {
  return number("SELECT coalesce(max(token), 0) FROM rowlock_share WHERE name = ''");
}

void server_database::raise_floor(std::int64_t version) {
  execute(
      "INSERT INTO rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at) "
      "VALUES ('', '', '', 0, " +
      std::to_string(version) + ", '', '', '1970-01-01', '1970-01-01')");
}

void server_database::drop_tables() {
  execute(
      "DROP TABLE rowlock_lock, rowlock_migration; DROP TABLE IF EXISTS rowlock_waiter, rowlock_share, rowlock_edge");
}

int server_database::newest_migration() {
  return static_cast<int>(number("SELECT max(version) FROM rowlock_migration"));
}

void server_database::record_migration(int version, int serves_from) {
  execute("INSERT INTO rowlock_migration (version, serves_from, applied_at) VALUES (" + std::to_string(version) + ", " +
          std::to_string(serves_from) + ", " + clock() + ")");
}

void server_database::forget_migration(int version) {
  execute("DELETE FROM rowlock_migration WHERE version = " + std::to_string(version));
}

void server_database::forget_checksums() { execute("UPDATE rowlock_migration SET checksum = NULL"); }

void server_database::edit_migration(int version) {
  execute("UPDATE rowlock_migration SET checksum = 'of another text' WHERE version = " + std::to_string(version));
}

int server_database::missing_checksums() {
  return static_cast<int>(number("SELECT count(*) FROM rowlock_migration WHERE checksum IS NULL"));
}

std::unique_ptr<obstacle> server_database::reader() { return transaction("SELECT count(*) FROM rowlock_lock"); }

std::unique_ptr<obstacle> server_database::row_locked(std::string_view name) {
  return transaction("SELECT 1 FROM rowlock_lock WHERE name = " + quoted(name) + " FOR UPDATE");
}

void server_database::add_waiters(std::string_view name, int number) {
  constexpr int first = 10'000;  // so that every number is as long as the others
  std::string rows;
  for (int i = first; i < first + number; ++i) {
    const auto id = "stranger000" + std::to_string(i);
    rows.append(rows.empty() ? "(" : ", (").append(quoted(name)).append(", 'app:elsewhere:1:").append(id);
    rows.append("', '1', '").append(id).append("', ").append(clock()).append(", ").append(clock_and_an_hour()) += ')';
  }
  execute("INSERT INTO rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at) VALUES " + rows);
}

std::int64_t server_database::tickets(std::string_view name) {
  return this->number("SELECT count(*) FROM rowlock_waiter WHERE name = " + quoted(name));
}

// New ones are not counted, or clients that connect again would never let it end.
int server_database::terminate_sessions() {
  const auto all = sessions();
  for (const auto session : all) terminate(session);
  const auto are_gone = [&] {
    const auto now = sessions();
    return std::none_of(all.begin(), all.end(),
                        [&](std::int64_t id) { return std::find(now.begin(), now.end(), id) != now.end(); });
  };
  if (!eventually(are_gone)) throw std::runtime_error{"a session of the server does not end"};
  eventually(std::chrono::seconds{5},
             [&] { return std::none_of(all.begin(), all.end(), [&](std::int64_t id) { return has_process(id); }); });
  return static_cast<int>(all.size());
}

void server_database::change(std::string_view name, const std::string& assignments) {
  execute("UPDATE rowlock_lock SET " + assignments + " WHERE name = " + quoted(name));
}

}  // namespace rowlock::test
