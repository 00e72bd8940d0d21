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
#include "testkit/child.hpp"
#include "testkit/eventually.hpp"

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

postgresql_server::postgresql_server(const fake_machine* machine)
    : private_server{"postgres", SIGINT, SIGQUIT, machine} {
  make_data("ROWLOCK_TEST_POSTGRESQL_DATA", {programs_folder() + "/initdb", "--pgdata=data", "--no-sync",
                                             "--encoding=UTF8", "--locale=C.UTF-8", "--username=rowlock"});
  std::ofstream{folder() / "data" / "pg_hba.conf"} << "local all all trust\nlocal replication all trust\n";
  configure();
  start();
}

postgresql_server::postgresql_server(const postgresql_server& primary)
    : private_server{"postgres", SIGINT, SIGQUIT, nullptr} {
  follow(primary);
}

void postgresql_server::follow(const postgresql_server& primary) {
  fs::remove_all(folder() / "data");
  run({programs_folder() + "/pg_basebackup", "--pgdata=data", "--write-recovery-conf", "--checkpoint=fast", "--no-sync",
       "--host=" + primary.folder().string(), "--username=rowlock"});
  configure();
  start();
}

void postgresql_server::kill_first_process() {
  stop_first_process();
  const auto all = processes();
  end(SIGKILL);
  // A process that exits has no program in /proc any more before it leaves the shared memory.
  if (!eventually([&] { return std::none_of(all.begin(), all.end(), is_alive); }))
    throw std::runtime_error{"the server's processes do not end"};
}

void postgresql_server::kill_session() const {
  const auto other = connect();
  ::kill(static_cast<pid_t>(connect().run("SELECT pg_backend_pid()").number(0, 0).value()), SIGKILL);
  if (!eventually([&] { return !other.is_alive() && answers(); }))
    throw std::runtime_error{"the server does not start again after a session was killed"};
}

void postgresql_server::write_late() const {
  connect().run("ALTER SYSTEM SET wal_writer_delay = '10s'");
  connect().run("ALTER SYSTEM SET full_page_writes = off");  // a full page of the log is written at once
  connect().run("SELECT pg_reload_conf()");
}

bool postgresql_server::has_small_queue(server_database& place) {
  return place.number("SELECT count(*) FROM pg_settings WHERE name = 'max_notify_queue_pages' AND setting = '64'") == 1;
}

// What was written is not lost with a process. What is said last counts.
void postgresql_server::configure() const {
  int version = 0;
  std::ifstream{folder() / "data" / "PG_VERSION"} >> version;
  std::ofstream{folder() / "data" / "postgresql.conf", std::ios::app}
      << "listen_addresses = ''\nunix_socket_directories = '" << folder().string()
      << "'\nmax_connections = 50\nfsync = off\n"
      << (version >= 17 ? "max_notify_queue_pages = 64\n" : "");
}

void postgresql_server::wait_for_standby(bool on) const {
  connect().run("ALTER SYSTEM SET synchronous_standby_names = '" + std::string{on ? "*" : ""} + "'");
  connect().run("SELECT pg_reload_conf()");
}

bool postgresql_server::has_standby() const {
  return connect()
             .run("SELECT FROM pg_stat_replication WHERE state = 'streaming' AND flush_lsn >= pg_current_wal_lsn()")
             .rows() > 0;
}

void postgresql_server::stop_receiving() const {
  connect().run("ALTER SYSTEM SET primary_conninfo = ''");
  connect().run("SELECT pg_reload_conf()");
  if (!eventually([&] { return connect().run("SELECT FROM pg_stat_wal_receiver").rows() == 0; }))
    throw std::runtime_error{"the standby goes on receiving"};
}

std::int64_t postgresql_server::end_waits_for_standby(const std::string& function) const {
  return connect()
      .run("SELECT count(" + function + "(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
      .number(0, 0)
      .value();
}

// What it has yet to apply may end a query, also one that waits for the promotion.
void postgresql_server::promote() const {
  const auto is_primary = [&] {
    try {
      return connect().run("SELECT pg_promote(false) WHERE pg_is_in_recovery()").rows() == 0;
    } catch (const std::exception&) {
      return false;
    }
  };
  if (!eventually(is_primary)) throw std::runtime_error{"the standby is not promoted"};
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
  connect().run("SELECT 1");
  return true;
} catch (const std::exception&) {
  return false;
}

postgresql_pair::postgresql_pair(bool waits) {
  all_[0] = std::make_unique<postgresql_server>();
  primary().wait_for_standby(waits);
  all_[1] = std::make_unique<postgresql_server>(primary());
}

server_address postgresql_pair::address() const {
  auto out = primary().address();
  out.host = all_[0]->address().host + "," + all_[1]->address().host;
  out.options = "target_session_attrs=read-write";
  return out;
}

std::unique_ptr<server_database> postgresql_pair::open() const {
  return std::make_unique<postgresql_database>(address());
}

void postgresql_pair::promote_standby() {
  primary_ = 1 - primary_;
  primary().promote();
}

}  // namespace rowlock::test
