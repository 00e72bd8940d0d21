#include "postgresql/postgresql_server.hpp"

#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "support/postgresql_database.hpp"

namespace rowlock::test {

namespace {

namespace fs = std::filesystem;

std::string parent_of_program(const fs::path& program) { return fs::exists(program) ? program.parent_path() : ""; }

// As Debian has it, for each version; the newest.
std::string debians_folder() {
  std::pair<int, std::string> newest{-1, ""};
  std::error_code none;
  for (const auto& version : fs::directory_iterator{"/usr/lib/postgresql", none})
    if (const auto found = parent_of_program(version.path() / "bin" / "initdb"); !found.empty())
      newest = std::max(newest, {std::atoi(version.path().filename().c_str()), found});
  return newest.second;
}

std::string programs_folder() {
  if (const char* given = std::getenv("ROWLOCK_TEST_POSTGRESQL_BIN")) return given;
  if (auto found = debians_folder(); !found.empty()) return found;
  const char* path = std::getenv("PATH");
  std::istringstream all{path != nullptr ? path : ""};
  for (std::string each; std::getline(all, each, ':');)
    if (auto found = parent_of_program(fs::path{each} / "initdb"); !found.empty()) return found;
  throw std::runtime_error{"PostgreSQL's initdb was not found"};
}

}  // namespace

postgresql_server::postgresql_server(const stepped_clock* clock) : private_server{"postgres", SIGINT, SIGQUIT, clock} {
  make_data("ROWLOCK_TEST_POSTGRESQL_DATA", {programs_folder() + "/initdb", "--pgdata=data", "--no-sync",
                                             "--encoding=UTF8", "--locale=C.UTF-8", "--username=rowlock"});
  std::ofstream{folder() / "data" / "pg_hba.conf"} << "local all all trust\n";
  // What was written is not lost with a process.
  std::ofstream{folder() / "data" / "postgresql.conf", std::ios::app}
      << "listen_addresses = ''\nunix_socket_directories = '" << folder().string()
      << "'\nmax_connections = 50\nfsync = off\n";
  start();
}

server_address postgresql_server::address() const {
  server_address out;
  out.scheme = "postgresql";
  out.user = "rowlock";
  out.host = folder().string();
  out.database = "postgres";
  return out;
}

std::unique_ptr<server_database> postgresql_server::open() const {
  return std::make_unique<postgresql_database>(address());
}

private_server::words postgresql_server::command() const { return {programs_folder() + "/postgres", "-D", "data"}; }

bool postgresql_server::answers() const try {
  pq_connection{address().url()}.run("SELECT 1");
  return true;
} catch (const std::exception&) {
  return false;
}

}  // namespace rowlock::test
