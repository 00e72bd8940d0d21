#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "cluster/three_nodes.hpp"
#include "server/private_server.hpp"

namespace rowlock::test {

/// Oracle's server as a member of a replication group, or of none: ROWLOCK_TEST_MYSQLD has the words that start it.
class mysql_member : public private_server {
 public:
  mysql_member();
  explicit mysql_member(const mysql_member& first);

  static bool can_run();

  server_address address() const override;
  std::unique_ptr<server_database> open() const override;
  std::uint16_t group_port() const { return group_port_; }
  /// Those are the addresses of all of its members. From then on it accepts no writes when it starts, as a member must:
  /// by itself it would grant what the group grants.
  void belong_to(std::string group);
  void execute(const std::string& sql) const;
  std::string log() const;

  // What mysql_pair asks of a server.
  void take_data_of(const mysql_member& other) const;
  void follow(const mysql_member& primary) const;
  std::string position() const;

 private:
  words program() const;
  words command() const override;
  bool answers() const override;

  std::uint16_t port_ = free_port();
  std::uint16_t group_port_ = free_port();
  std::string group_{};
};

/// Of its members, one is the primary.
class mysql_group : public three_nodes<mysql_member> {
 public:
  mysql_group();

  void make_primary(std::size_t which) const;
  /// One that has ended, or was put out of the group, comes back.
  void rejoin(std::size_t which) const;
  /// Returns when all belong to it, and agree on one that is the primary.
  void wait_for_all() const;
};

}  // namespace rowlock::test
