#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "cluster/three_nodes.hpp"
#include "mysql/mariadb_server.hpp"

namespace rowlock::test {

/// A node of a Galera cluster, whose data is the first one's.
class galera_node : public mariadb_server {
 public:
  /// The first: it has a cluster of its own, and has ended.
  galera_node();
  explicit galera_node(const galera_node& first);

  std::uint16_t group_port() const { return group_port_; }
  /// The cluster begins with this one.
  void begin(const std::string& group);
  /// Returns when it has all that the others have. It gets that from what they keep of their last writes.
  void join(const std::string& group);
  /// While the obstacle is there, it hears nothing of the others, and they nothing of it.
  [[nodiscard]] std::unique_ptr<obstacle> cut_off() const;

 private:
  words options(const std::string& group) const;
  words command() const override;
  void write_transfer() const;
  std::string position() const;

  std::uint16_t group_port_ = free_port();
  std::uint16_t transfer_port_ = free_port();
};

class galera_cluster : public three_nodes<galera_node> {
 public:
  galera_cluster();

  /// After a crash.
  void rejoin(std::size_t which) const;
  /// Returns when all nodes belong to it, and each has what the others have.
  void wait_for_all() const;

 private:
  std::string url_of_group() const { return "gcomm://" + group(); }
};

}  // namespace rowlock::test
