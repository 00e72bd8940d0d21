// locking_on_mariadb_c URL: locks in a transaction of its own, by MariaDB Connector/C.
#include <rowlock/interop/mariadb_c.hpp>

#include <mysql.h>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto locks = rowlock::client::connect(argv[1]);
  MYSQL* const connection = mysql_init(nullptr);
  rowlock::lock_in(connection, locks, "consumer");
  mysql_close(connection);
}
