#include "driver/postgresql/connect.hpp"

#include <poll.h>
#include <rowlock/error.hpp>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

#include "base/boot_clock.hpp"
#include "driver/failure_meaning.hpp"
#include "driver/net/aside.hpp"
#include "driver/postgresql/errors.hpp"

namespace rowlock::inline v1::driver {

namespace {

using namespace std::chrono_literals;

using settings = postgresql_address::settings;

bool readable_or_writable(int descriptor, bool writing, duration longest) {
  pollfd one{.fd = descriptor, .events = static_cast<short>(writing ? POLLOUT : POLLIN), .revents = 0};
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(longest).count();
  return ::poll(&one, 1, static_cast<int>(milliseconds)) > 0;
}

// In short waits: the clock of deadlines goes on while the machine is suspended, poll(2)'s does not, and poll(2) does
// not notice a stop.
void wait_for(const PGconn* connection, bool writing, const limits& until) {
  const duration longest = until.stop.stop_possible() ? duration{20ms} : duration{1s};
  for (;;) {
    const auto at = base::now();
    if (until.stop.stop_requested() || at >= until.deadline) give_up_connecting(name_of_server(connection), until);
    if (readable_or_writable(PQsocket(connection), writing, std::min<duration>(longest, until.deadline - at))) return;
  }
}

[[noreturn]] void raise(PGconn* connection) {
  throw postgresql_error({.message = PQerrorMessage(connection), .sqlstate = {}, .connection_lost = true},
                         name_of_server(connection), std::string{connecting_text});
}

std::string named_after(const std::string& host, const std::string& port, const std::string& name_of_database) {
  if (host.empty()) return "PostgreSQL";
  return server_name("PostgreSQL", host + (port.empty() ? "" : ":" + port), name_of_database);
}

postgresql_handle start(const settings& with) {
  std::vector<const char*> keywords;
  std::vector<const char*> values;
  for (const auto& [keyword, value] : with) {
    keywords.push_back(keyword.c_str());
    values.push_back(value.c_str());
  }
  keywords.push_back(nullptr);
  values.push_back(nullptr);
  postgresql_handle out{PQconnectStartParams(keywords.data(), values.data(), 0)};
  if (!out) throw std::bad_alloc{};
  return out;
}

// Runs in a thread of its own: libpq looks up host names, and asks for Kerberos tickets, without a time limit.
postgresql_handle dial(const settings& with, const limits& until) {
  auto out = start(with);
  PQsetErrorVerbosity(out.get(), PQERRORS_VERBOSE);
  PQsetNoticeProcessor(
      out.get(), [](void*, const char*) {}, nullptr);  // libpq's own processor writes to stderr
  if (PQstatus(out.get()) == CONNECTION_BAD) raise(out.get());
  for (auto next = PGRES_POLLING_WRITING; next != PGRES_POLLING_OK; next = PQconnectPoll(out.get())) {
    if (next == PGRES_POLLING_FAILED) raise(out.get());
    wait_for(out.get(), next == PGRES_POLLING_WRITING, until);
  }
  return out;
}

// OpenSSL frees its state at the end of the program, by a handler that it registers at its first use. This is the first
// use: libpq hashes an empty password. So the wait for threads that were left behind, which may need OpenSSL, comes
// before.
int wait_at_exit() {
  PQfreemem(PQencryptPassword("", ""));
  return std::atexit(wait_for_those_left_behind);
}

postgresql_handle dial_within(const settings& with, const limits& until) {
  [[maybe_unused]] static const int registered = wait_at_exit();
  auto made = make_aside(until, [with, deadline = until.deadline](const std::stop_token& given_up) {
    return dial(with, {.deadline = deadline, .stop = given_up});
  });
  if (made) return std::move(*made);
  give_up_connecting(name_of_server(with), until);
}

}  // namespace

std::string name_of_server(const PGconn* connection) {
  const auto words = [](const char* text) { return std::string{text == nullptr ? "" : text}; };
  return named_after(words(PQhost(connection)), words(PQport(connection)), words(PQdb(connection)));
}

std::string name_of_server(const settings& with) {
  const auto text_of = [&](const char* keyword) {
    const auto found = with.find(keyword);
    return found == with.end() ? std::string{} : found->second;
  };
  return named_after(text_of("host").empty() ? text_of("hostaddr") : text_of("host"), text_of("port"),
                     text_of("dbname"));
}

postgresql_handle connect(const postgresql_address& to, const limits& until) {
  const auto all = to.hosts();
  for (std::size_t i = 0;; ++i) {
    const auto left = static_cast<duration::rep>(all.size() - i);
    const auto at = base::now();
    const bool is_last = left == 1 || until.deadline == base::instant::max();
    const auto deadline = is_last ? until.deadline : at + (until.deadline - at) / left;
    try {
      return dial_within(all[i], {.deadline = deadline, .stop = until.stop});
    } catch (const error& e) {
      if (left == 1 || e.code() != errc::connection_failed) throw;
    }
  }
}

}  // namespace rowlock::inline v1::driver
