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

// MySQL limits names of roles to 32 characters, with the suffix of guest().
std::string random_name() {
  std::random_device random;
  std::ostringstream out;
  out << "rowlocktest" << std::hex << random() << random();
  return out.str();
}

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
  // The proxy reads the statements, so they must not be encrypted.
  if (!out.scheme.starts_with("postgres")) out.options = "ssl-mode=DISABLED";
  return out.url();
}

std::string server_database::interval(std::chrono::microseconds time) const {
  return "INTERVAL '" + std::to_string(std::chrono::duration<double>{time}.count()) + "' SECOND";
}

std::unique_ptr<obstacle> server_database::gate_before_unmarking() {
  return gate_before("rowlock_lock",
                     {.condition = "OLD.waiting AND NOT NEW.waiting",
                      .and_does = "SET NEW.owner = 'thief:elsewhere:1:1'; SET NEW.acquisition = 'theirs'; "
                                  "SET NEW.expires_at = " +
                                  in_an_hour() + "; "});
}

std::int64_t server_database::enqueue_set(std::string_view name, std::chrono::milliseconds waited) {
  const auto ticket = database::enqueue_set(name, waited);
  change(name, "waiting = TRUE");
  return ticket;
}

std::unique_ptr<obstacle> server_database::row_locked(std::string_view name) {
  return transaction("SELECT 1 FROM rowlock_lock WHERE name = " + quoted(name) + " FOR UPDATE");
}

void server_database::add_waiters(std::string_view name, int number) {
  constexpr int first = 10'000;  // so that all numbers have the same length
  std::string rows;
  for (int i = first; i < first + number; ++i) {
    const auto id = "stranger000" + std::to_string(i);
    rows.append(rows.empty() ? "(" : ", (").append(quoted(name)).append(", 'app:elsewhere:1:").append(id);
    rows.append("', '1', '").append(id).append("', ").append(clock()).append(", ").append(in_an_hour()) += ')';
  }
  execute("INSERT INTO rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at) VALUES " + rows);
}

std::int64_t server_database::tickets(std::string_view name) {
  return this->number("SELECT count(*) FROM rowlock_waiter WHERE name = " + quoted(name));
}

std::vector<std::int64_t> server_database::numbers(const std::string& query) {
  std::vector<std::int64_t> out;
  for (const auto& each : ask(query)) out.push_back(std::stoll(each.at(0).value()));
  return out;
}

// Ignores new sessions: clients that reconnect would make this endless.
int server_database::end(const std::vector<std::int64_t>& some) {
  for (const auto session : some) terminate(session);
  const auto are_gone = [&] {
    const auto now = sessions();
    return std::find_first_of(now.begin(), now.end(), some.begin(), some.end()) == now.end();
  };
  if (!eventually(are_gone)) throw std::runtime_error{"a session of the server does not end"};
  return static_cast<int>(some.size());
}

int server_database::terminate_sessions(const std::vector<std::int64_t>& some) {
  const int ended = end(some);
  eventually(std::chrono::seconds{5},
             [&] { return std::none_of(some.begin(), some.end(), [&](std::int64_t id) { return has_process(id); }); });
  return ended;
}

}  // namespace rowlock::test
