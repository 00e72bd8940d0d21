#include "postgresql/pgbouncer_server.hpp"

#include <signal.h>

#include <exception>
#include <fstream>

#include "support/postgresql_database.hpp"
#include "support/pq_connection.hpp"

namespace rowlock::test {

// From 1.23 on it waits for its clients at SIGTERM.
pgbouncer_server::pgbouncer_server(const server_database& place)
    : private_server{"postgres", SIGQUIT, SIGKILL, nullptr},
      administrator_{place.administrator()},
      role_{place.address()} {
  std::ofstream{folder() / "users"} << '"' << role_.user << "\" \"" << role_.password << "\"\n";
  std::ofstream{folder() / "pgbouncer.ini"}
      << "[databases]\n* = host=" << role_.host << " port=" << place.port()
      << "\n[pgbouncer]\nlisten_addr =\nlisten_port = 6432\nunix_socket_dir = " << folder().string()
      << "\npool_mode = transaction\nmax_client_conn = 200\ndefault_pool_size = 20\nauth_type = md5\n"
         "auth_file = users\nserver_login_retry = 1\n";
  start();
}

server_address pgbouncer_server::address() const {
  auto out = role_;
  out.host = folder().string();
  out.port = 6432;
  return out;
}

std::unique_ptr<server_database> pgbouncer_server::open() const {
  return std::make_unique<postgresql_database>(administrator_);
}

bool pgbouncer_server::answers() const try {
  pq_connection{address().url()}.run("SELECT 1");
  return true;
} catch (const std::exception&) {
  return false;
}

}  // namespace rowlock::test
