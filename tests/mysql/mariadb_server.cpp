#include "mysql/mariadb_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <exception>
#include <fstream>
#include <random>
#include <stdexcept>
#include <utility>

#include "support/mysql_database.hpp"

namespace rowlock::test {

namespace {

bool is_free(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = ::htons(port);
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);  // NOLINT: the sockets' interface is that of C
  const bool out = ::bind(descriptor, generic, sizeof address) == 0;
  ::close(descriptor);
  return out;
}

// Below those that the system hands out itself: it must still be free when the server comes back.
std::uint16_t free_port() {
  std::random_device random;
  std::uniform_int_distribution<std::uint16_t> any{20'000, 31'999};
  for (int i = 0; i < 100; ++i)
    if (const auto port = any(random); is_free(port)) return port;
  throw std::runtime_error{"there is no free port"};
}

}  // namespace

mariadb_server::mariadb_server(words options) : mariadb_server{nullptr, std::move(options)} {}

mariadb_server::mariadb_server(const stepped_clock* clock, words options)
    : private_server{"nobody", SIGTERM, SIGKILL, clock},
      options_{std::move(options)},
      password_{std::to_string(std::random_device{}())},
      port_{free_port()} {
  make_data("ROWLOCK_TEST_MARIADB_DATA",
            {"mariadb-install-db", "--no-defaults", "--datadir=" + (folder() / "data").string(),
             "--tmpdir=" + folder().string(), "--auth-root-authentication-method=normal", "--skip-test-db"});
  std::ofstream{folder() / "init"} << "CREATE USER IF NOT EXISTS rowlock IDENTIFIED BY '" << password_
                                   << "';\nGRANT ALL ON *.* TO rowlock WITH GRANT OPTION;\n";
  start();
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
