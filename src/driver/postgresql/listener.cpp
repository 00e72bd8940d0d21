#include "driver/postgresql/listener.hpp"

#include <rowlock/error.hpp>

#include <memory>
#include <stop_token>

#include "base/boot_clock.hpp"
#include "driver/failure_meaning.hpp"
#include "driver/postgresql/connect.hpp"
#include "driver/postgresql/errors.hpp"

namespace rowlock::inline v1::driver {

namespace {

struct clear_result {
  void operator()(PGresult* r) const noexcept { PQclear(r); }
};
struct free_notification {
  void operator()(PGnotify* n) const noexcept { PQfreemem(n); }
};

constexpr int first_with_idle_sessions = 140000;

}  // namespace

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

// A connection on which nothing is said may have ended without a word.
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
  return heard();  // what came with the answer
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

}  // namespace rowlock::inline v1::driver
