#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "mysql/mariadb_server.hpp"
#include "support/mysql_database.hpp"
#include "support/tcp_proxy.hpp"

namespace rowlock::test {

/// MariaDB with a log for a replica.
class mariadb_node : public mariadb_server {
 public:
  /// It has ended.
  mariadb_node();
  explicit mariadb_node(const mariadb_node& first);

  void execute(const std::string& sql) const;
  /// Its data has all that the primary had when that was started.
  void follow(const mariadb_node& primary) const;
  /// What it has.
  std::string position() const;
};

/// A primary and an asynchronous replica, of which either may be either. Clients come by a proxy that leads to the
/// primary.
template <class Server>
class mysql_pair {
 public:
  mysql_pair() {
    all_[0] = std::make_unique<Server>();
    all_[1] = std::make_unique<Server>(primary());
    begin();
    proxy_.emplace("127.0.0.1", primary().address().port.value());
  }

  Server& primary() const { return *all_.at(primary_); }
  Server& standby() const { return *all_.at(1 - primary_); }
  std::unique_ptr<server_database> open() const {
    auto to = primary().address();
    to.port = proxy_->port();
    return std::make_unique<mysql_database>(to);
  }

  bool has_standby() const { return standby().position() == primary().position(); }
  /// What is committed from now on is lost by the next failover.
  void cut_off_standby() const { standby().execute("STOP REPLICA IO_THREAD"); }
  void fail_over() {
    primary().crash();
    primary_ = 1 - primary_;
    primary().execute("STOP REPLICA; RESET REPLICA ALL; SET GLOBAL read_only = 0");
    proxy_->lead_to(primary().address().port.value());
  }
  /// Who has crashed comes back as a replica. The primary is restarted for that.
  void rejoin() const {
    primary().stop();
    standby().take_data_of(primary());
    begin();
  }

 private:
  void begin() const {
    primary().start();
    standby().start();
    standby().execute("SET GLOBAL read_only = 1");
    standby().follow(primary());
  }

  std::array<std::unique_ptr<Server>, 2> all_;
  std::size_t primary_ = 0;
  std::optional<tcp_proxy> proxy_;
};

}  // namespace rowlock::test
