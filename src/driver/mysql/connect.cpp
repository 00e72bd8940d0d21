#include "driver/mysql/connect.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>

#include "base/boot_clock.hpp"
#include "driver/failure_meaning.hpp"
#include "driver/mysql/errors.hpp"
#include "driver/net/aside.hpp"

namespace rowlock::inline v1::driver {

namespace {

using std::chrono::seconds;

seconds whole(duration d) { return std::max(std::chrono::ceil<seconds>(d), seconds{1}); }

[[noreturn]] void raise(const std::exception& e, const mysql_address& to) {
  const auto what = sql_failure_of(e);
  if (!what) std::rethrow_exception(std::current_exception());
  throw mysql_error({.code = what->code, .sqlstate = what->sqlstate, .message = what->message, .connection_lost = true},
                    to.server_name("MySQL"), std::string{connecting_text});
}

}  // namespace

std::unique_ptr<connector_connection> connect(const mysql_address& to, duration call_timeout, const limits& until) {
  const auto left = std::min<duration>(until.deadline - base::now(), std::chrono::hours{1});
  if (left <= duration::zero())
    throw not_connected(errc::connection_failed, failure_of(connecting_text, to.server_name("MySQL")) +
                                                     "the time limit had passed before it began");
  // Registered after the connector's static objects were made, the exit handler runs before they are destroyed: a
  // thread that was left behind needs them.
  connector_connection::make_static_objects();
  [[maybe_unused]] static const int registered = std::atexit(wait_for_those_left_behind);
  try {
    auto made = make_aside(until, [to, connecting = whole(left),
                                   reading = whole(call_timeout) + seconds{1}](const std::stop_token& given_up) {
      return std::make_unique<connector_connection>(to, connecting, reading, given_up);
    });
    if (made) return std::move(*made);
  } catch (const std::exception& e) {
    raise(e, to);
  }
  if (until.stop.stop_requested())
    throw not_connected(errc::cancelled, "stopped while connecting to " + to.server_name("MySQL"));
  throw not_connected(errc::connection_failed, failure_of(connecting_text, to.server_name("MySQL")) +
                                                   "no answer within the time limit" + check_address);
}

}  // namespace rowlock::inline v1::driver
