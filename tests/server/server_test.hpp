#pragma once

#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "server/fake_machine.hpp"
#include "server/private_server.hpp"
#include "server/servers.hpp"
#include "support/background.hpp"
#include "support/errors.hpp"
#include "support/recorder.hpp"
#include "support/server_database.hpp"
#include "support/slowness.hpp"
#include "support/strategies.hpp"
#include "support/takes_at_most.hpp"
#include "support/tcp_proxy.hpp"
#include "testkit/eventually.hpp"

namespace rowlock::test {

using namespace std::chrono_literals;

/// A lease that no test outlasts: whatever is left behind has to be let go of.
inline constexpr duration long_lease = 60s;
/// Much less than that, also on the busiest machine.
inline constexpr duration soon = 20s;

/// What every test against a server has: a schema and a role of its own, and clients there.
class server_test : public testing::Test {
 protected:
  explicit server_test(std::unique_ptr<server_database> place) : database_{std::move(place)} {}

  server_database& db() { return *database_; }

  /// A client as the schema's role, its tables made. Without an observer of its own it is silent.
  client connect(const client_options& options = {});
  /// The same by another URL, without migrating.
  static client connect_to(const std::string& url, client_options options = {});
  /// The same with limits that a busy machine may exceed while it connects: repeated until it does not.
  static client connect_within_limits(const std::string& url, const client_options& options);

  /// By the row, as an administrator sees it.
  bool is_vacant(std::string_view name);
  bool is_held_by(std::string_view name, const held_lock& held);
  std::int64_t expiry(std::string_view name) { return db().row(name).value().expires_at.value(); }
  /// Waits until so many have a ticket for the name.
  bool is_waited_for(std::string_view name, int times = 1);
  /// A wait for the name, for the background.
  static auto waiting(client& locks, const lock_options& options = {}, const lock_name& name = "orders/42") {
    return [&locks, options, name](std::stop_token stop) { return locks.acquire(name, options, std::move(stop)); };
  }
  /// Whether the row says that somebody waits.
  bool is_marked(std::string_view name = "orders/42");
  /// All that becomes of a name, by two clients.
  static void expect_whole_life(client& locks, client& others);
  /// For load that lasts: nothing else may need it.
  void let_pass(std::chrono::microseconds time);
  /// Waits for two renewals from now on, so that at least one of them was sent from now on.
  bool is_renewed(std::string_view name);

 private:
  std::unique_ptr<server_database> database_;
};

/// Of a call whose reply may be lost: it has been done, or nobody knows, or it may be repeated.
inline testing::AssertionResult is_done_unknown_or_retryable(const std::optional<error>& e) {
  if (!e || e->outcome_is_unknown() || e->is_retryable()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << e->what();
}

/// A suite for ROWLOCK_SUITE_ON_EACH_SERVER, each test of which has a server to itself: it may be stopped and crashed.
class on_private_server : protected with_private_server,
                          public server_test,
                          public testing::WithParamInterface<server_kind> {
 protected:
  on_private_server() : with_private_server{GetParam().start_one()}, server_test{server->open()} {}

  void restart(bool crashes = false) {
    crashes ? server->crash() : server->stop();
    server->start();
  }
};

struct with_fake_machine {
  fake_machine machine{};
};

/// A suite for ROWLOCK_SUITE_ON_EACH_SERVER, each test of which has a server to itself, on a machine of its own.
class on_fake_machine : protected with_fake_machine,
                        protected with_private_server,
                        public server_test,
                        public testing::WithParamInterface<server_kind> {
 protected:
  on_fake_machine() : with_private_server{GetParam().start(&machine)}, server_test{server->open()} {}
};

/// With a client whose way to the server leads through a proxy, and gives up soon.
class proxy_test : public server_test {
 protected:
  static constexpr auto short_call = 1s;

  explicit proxy_test(std::unique_ptr<server_database> place) : server_test{std::move(place)} {}

  tcp_proxy& proxy() { return proxy_; }
  void on_request(tcp_proxy::bytes_test request, tcp_proxy::action what);

  client connect_through_proxy(client_options options = {});
  /// The same with limits of its own.
  client connect_by_proxy(client_options options = {});

  /// A request to acquire the name; anything else about the name: to renew or release it, or to look at it.
  static tcp_proxy::bytes_test acquiring(const std::string& name) { return tcp_proxy::contains(name, owner); }
  static tcp_proxy::bytes_test about(const std::string& name) { return tcp_proxy::contains(name); }

 private:
  static constexpr const char* application = "disturbed";
  static constexpr const char* owner = "disturbed:";  // begins so, and only acquiring sends it
  tcp_proxy proxy_{db().host(), db().port()};
};

/// What happens to one request on its way, or to its answer: a parameter for suites with a proxy.
struct lost_request {
  const char* name;
  tcp_proxy::action how;

  bool reaches_server() const {
    return how == tcp_proxy::action::cut_after || how == tcp_proxy::action::black_hole_after;
  }
  friend std::ostream& operator<<(std::ostream& out, const lost_request& l) { return out << l.name; }
};
inline constexpr lost_request lost_requests[] = {{"cut_before", tcp_proxy::action::cut_before},
                                                 {"cut_after", tcp_proxy::action::cut_after},
                                                 {"black_hole_before", tcp_proxy::action::black_hole_before},
                                                 {"black_hole_after", tcp_proxy::action::black_hole_after}};

/// A suite for ROWLOCK_SUITE_ON_EACH_SERVER.
template <class Test>
class on_each : public Test, public testing::WithParamInterface<server_kind> {
 protected:
  on_each() : Test{on_each::GetParam().open()} {}

  bool is_on(std::string_view kind) const { return on_each::GetParam().name == kind; }
};
using on_each_server = on_each<server_test>;
using on_each_server_by_proxy = on_each<proxy_test>;

/// The same with something else for a parameter, too: ROWLOCK_SUITE_ON_EACH_SERVER_WITH_EACH.
template <class Test, class What>
class on_each_with : public Test, public testing::WithParamInterface<std::tuple<server_kind, What>> {
 protected:
  on_each_with() : Test{std::get<server_kind>(on_each_with::GetParam()).open()} {}

  static const What& what() { return std::get<What>(on_each_with::GetParam()); }
};

/// A suite for one kind of server.
template <class Database>
class only_on : public server_test {
 protected:
  only_on() : server_test{std::make_unique<Database>()} {}

  Database& db() { return static_cast<Database&>(server_test::db()); }
};

}  // namespace rowlock::test
