#include "driver/mysql/connector.hpp"

#include <pthread.h>
#include <rowlock/error.hpp>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/boot_clock.hpp"
#include "driver/failure_meaning.hpp"
#include "driver/mysql/errors.hpp"
#include "driver/net/aside.hpp"

namespace rowlock::inline v1::driver {

namespace {

std::atomic<int> connections{0};
std::atomic<bool> is_inherited{false};

[[maybe_unused]] const int children_are_marked =
    pthread_atfork(nullptr, nullptr, [] { is_inherited = is_inherited || connections > 0; });

}  // namespace

tls_use::tls_use(bool is_used) noexcept : count_{is_used ? 1 : 0} { connections += count_; }
tls_use::~tls_use() { connections -= count_; }

bool tls_use::was_inherited() noexcept { return is_inherited; }

namespace {

using std::chrono::seconds;

seconds whole(duration d) { return std::max(std::chrono::ceil<seconds>(d), seconds{1}); }

/// The remaining time, in the connector's unit.
seconds left_until(base::instant deadline) {
  return whole(std::min<duration>(deadline - base::now(), std::chrono::hours{1}));
}

// MariaDB's client library hides in a sentence of its own what a server says before TLS begins, for example that its
// limit of connections is reached.
sql_failure as_the_server_said(sql_failure what) {
  constexpr std::string_view before = "cannot be verified: ";
  constexpr std::string_view between = " - ";
  const auto at = what.message.find(before);
  const auto cut = what.message.find(between, at);
  if (what.code != mysql_code::connecting_failed || at == std::string::npos || cut == std::string::npos) return what;
  std::from_chars(what.message.data() + at + before.size(), what.message.data() + cut, what.code);
  what.message.erase(0, cut + between.size());
  return what;
}

// If MariaDB's client library finds no plugin for an account, it continues without one, and its code is that of the
// later failure, mostly of a wrong password.
sql_failure with_code_for_plugin(sql_failure what) {
  if (what.message.starts_with("Plugin ") && what.message.find(" could not be loaded: ") != std::string::npos)
    what.code = mysql_code::no_such_plugin;
  return what;
}

[[noreturn]] void raise(const std::exception& e, const mysql_address& to) {
  const auto found = sql_failure_of(e);
  if (!found) std::rethrow_exception(std::current_exception());
  const auto what = with_code_for_plugin(as_the_server_said(*found));
  throw mysql_error({.code = what.code, .sqlstate = what.sqlstate, .message = what.message, .connection_lost = true},
                    to.server_name("MySQL"), std::string{connecting_text});
}

struct dialled {
  std::unique_ptr<connector_connection> connection;
  std::string why_plain{};  ///< why it is not encrypted, although the server offers it
};

// With PREFERRED, a TLS offer of the server is accepted, if this process may use TLS. If only the handshake fails,
// which comes before the user's name is sent, the connection is made without TLS. A refused login is no such failure,
// and a mode that requires encryption has no second attempt. Both attempts have one deadline.
dialled dial(mysql_address to, seconds reading, const limits& until) {
  const auto once = [&] {
    return std::make_unique<connector_connection>(to, left_until(until.deadline), reading, until.stop);
  };
  if (must_avoid_tls(to)) to.tls = encryption::disabled;
  try {
    return {.connection = once()};
  } catch (const std::exception& e) {
    const auto what = sql_failure_of(e);
    const bool is_about_tls = what && what->code == mysql_code::encryption_failed;
    if (!is_about_tls || to.tls != encryption::preferred || base::now() >= until.deadline) throw;
    to.tls = encryption::disabled;
    return {.connection = once(), .why_plain = what->message};
  }
}

}  // namespace

bool must_avoid_tls(const mysql_address& to) noexcept {
  return tls_use::was_inherited() && to.tries_encryption() && !to.must_be_encrypted();
}

std::unique_ptr<connector_connection> connect(const mysql_address& to, duration call_timeout, const limits& until,
                                              const warn& warning) {
  if (until.deadline <= base::now())
    throw not_connected(errc::connection_failed, failure_of(connecting_text, to.server_name("MySQL")) +
                                                     "the time limit had passed before it began");
  // The exit handler is registered after the connector's static objects were made, so it runs before they are
  // destroyed: threads that were left behind need them.
  connector_connection::make_static_objects();
  [[maybe_unused]] static const int registered = std::atexit(wait_for_those_left_behind);
  try {
    auto made = make_aside(until, [to, reading = whole(call_timeout) + seconds{1},
                                   deadline = until.deadline](const std::stop_token& given_up) {
      return dial(to, reading, {.deadline = deadline, .stop = given_up});
    });
    if (made && !made->why_plain.empty() && warning)
      warning("connections to " + to.server_name("MySQL") + " are not encrypted, because TLS failed: " +
              made->why_plain + "; repair it, or set ssl-mode=DISABLED to do without it, or REQUIRED to insist on it");
    if (made) return std::move(made->connection);
  } catch (const std::exception& e) {
    raise(e, to);
  }
  give_up_connecting(to.server_name("MySQL"), until);
}

}  // namespace rowlock::inline v1::driver
