#include "mysql/mariadb_server.hpp"

#include <signal.h>

#include <exception>
#include <fstream>
#include <random>
#include <utility>

#include "support/mysql_database.hpp"

namespace rowlock::test {

mariadb_server::mariadb_server(words options) : mariadb_server{nullptr, std::move(options)} {}

mariadb_server::mariadb_server(const fake_machine* machine, words options)
    : private_server{"nobody", SIGTERM, SIGKILL, machine},
      options_{std::move(options)},
      password_{std::to_string(std::random_device{}())},
      port_{free_port()} {
  make_data("ROWLOCK_TEST_MARIADB_DATA",
            {"mariadb-install-db", "--no-defaults", "--datadir=" + (folder() / "data").string(),
             "--tmpdir=" + folder().string(), "--auth-root-authentication-method=normal", "--skip-test-db"});
  std::ofstream{folder() / "init"} << "SET sql_log_bin = 0;\nCREATE USER IF NOT EXISTS rowlock IDENTIFIED BY '"
                                   << password_ << "';\nGRANT ALL ON *.* TO rowlock WITH GRANT OPTION;\n";
  start();
}

mariadb_server::mariadb_server(copy_of of)
    : private_server{"nobody", SIGTERM, SIGKILL, nullptr}, password_{of.original.password_}, port_{free_port()} {
  run({"cp", "-a", (of.original.folder() / "data").string(), (of.original.folder() / "init").string(), "."});
}

server_address mariadb_server::address() const {
  server_address out;
  out.scheme = "mysql";
  out.user = "rowlock";
  out.password = password_;
  out.host = "127.0.0.1";
  out.port = port_;
  return out;
}

std::unique_ptr<server_database> mariadb_server::open() const { return std::make_unique<mysql_database>(address()); }

// The path of a socket counts from the data folder: the whole of it may be too long. Temporary files are removed by any
// server that starts in the same folder.
private_server::words mariadb_server::command() const {
  words out{"mariadbd",
            "--no-defaults",
            "--datadir=" + (folder() / "data").string(),
            "--tmpdir=" + folder().string(),
            "--init-file=" + (folder() / "init").string(),
            "--socket=socket",
            "--bind-address=127.0.0.1",
            "--port=" + std::to_string(port_),
            "--skip-name-resolve",
            "--max-connections=50",
            "--debug-no-sync"};  // what was written is not lost with a process
  out.insert(out.end(), options_.begin(), options_.end());
  return out;
}

bool mariadb_server::answers() const try {
  my_connection{address()}.run("SELECT 1");
  return true;
} catch (const std::exception&) {
  return false;
}

}  // namespace rowlock::test
