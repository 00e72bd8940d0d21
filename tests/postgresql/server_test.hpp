#pragma once

#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include <chrono>
#include <string>
#include <string_view>

#include "support/background.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/postgresql_database.hpp"
#include "support/recorder.hpp"
#include "support/tcp_proxy.hpp"

namespace rowlock::test {

using namespace std::chrono_literals;

/// What every test against the PostgreSQL server has: a schema and a role of its own, and clients there.
class server_test : public testing::Test {
 protected:
  postgresql_database& db() { return database_; }

  /// A client as the schema's role, its tables made. Without an observer of its own it is silent.
  client connect(client_options options = {});
  /// The same by another URL, without migrating.
  static client connect_to(const std::string& url, client_options options = {});

  /// By the row, as a superuser sees it.
  bool is_vacant(std::string_view name);
  bool is_held_by(std::string_view name, const held_lock& held);
  std::int64_t expiry(std::string_view name) { return db().row(name).value().expires_at.value(); }
  /// For load that lasts: nothing else may need it.
  void let_pass(std::chrono::microseconds time);
  /// Waits for two renewals from now on, so that at least one of them was sent from now on.
  bool is_renewed(std::string_view name);

 private:
  postgresql_database database_;
};

/// With a client whose way to the server leads through a proxy, and gives up soon.
class proxy_test : public server_test {
 protected:
  static constexpr auto short_call = 500ms;

  tcp_proxy& proxy() { return proxy_; }

  client connect_through_proxy(client_options options = {});

  /// A request to acquire the name; anything else about the name: to renew or release it, or to look at it.
  static tcp_proxy::bytes_test acquiring(const std::string& name) { return tcp_proxy::contains(name, owner); }
  static tcp_proxy::bytes_test about(const std::string& name) { return tcp_proxy::contains(name); }

 private:
  static constexpr const char* application = "disturbed";
  static constexpr const char* owner = "disturbed:";  // begins so, and only acquiring sends it
  tcp_proxy proxy_{db().host(), db().port()};
};

}  // namespace rowlock::test
