#include "cluster/mysql_pair.hpp"

#include "cluster/three_nodes.hpp"
#include "support/my_connection.hpp"

namespace rowlock::test {

mariadb_node::mariadb_node() : mariadb_server{words{"--server-id=1", "--log-bin=log", "--log-slave-updates"}} {
  stop();
}

mariadb_node::mariadb_node(const mariadb_node& first) : mariadb_server{copy_of{first}} {
  set_options({"--server-id=2", "--log-bin=log", "--log-slave-updates"});
}

void mariadb_node::execute(const std::string& sql) const { my_connection{address()}.run_script(sql); }

void mariadb_node::follow(const mariadb_node& primary) const {
  const auto from = primary.address();
  execute("SET GLOBAL gtid_slave_pos = @@GLOBAL.gtid_binlog_pos; CHANGE MASTER TO MASTER_HOST = '" + from.host +
          "', MASTER_PORT = " + std::to_string(from.port.value()) + ", MASTER_USER = '" + from.user +
          "', MASTER_PASSWORD = '" + from.password + "', MASTER_USE_GTID = slave_pos; START REPLICA");
}

std::string mariadb_node::position() const { return answer_of(*this, "SELECT @@GLOBAL.gtid_binlog_pos"); }

}  // namespace rowlock::test
