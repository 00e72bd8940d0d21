#include "cluster/mysql_group.hpp"

#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "support/mysql_database.hpp"
#include "support/program.hpp"
#include "testkit/eventually.hpp"

namespace rowlock::test {

namespace {

constexpr const char* variable = "ROWLOCK_TEST_MYSQLD";

// It belongs to no transaction that the others would have to have, too.
constexpr const char* first_statements =
    "SET sql_log_bin = 0;\n"
    "CREATE DATABASE IF NOT EXISTS rowlock;\n"
    "CREATE USER IF NOT EXISTS rowlock IDENTIFIED BY 'rowlock';\n"
    "GRANT ALL ON *.* TO rowlock WITH GRANT OPTION;\n"
    "CHANGE REPLICATION SOURCE TO SOURCE_USER = 'rowlock', SOURCE_PASSWORD = 'rowlock' FOR CHANNEL "
    "'group_replication_recovery';\n";

}  // namespace

bool mysql_member::can_run() { return std::getenv(variable) != nullptr; }

mysql_member::mysql_member() : private_server{"nobody", SIGTERM, SIGKILL, nullptr} {
  std::ofstream{folder() / "init"} << first_statements;
  auto making = program();
  making.insert(making.end(), {"--initialize-insecure", "--datadir=" + (folder() / "data").string()});
  run(making);
  std::filesystem::remove(folder() / "data" / "auto.cnf");
}

mysql_member::mysql_member(const mysql_member& first) : private_server{"nobody", SIGTERM, SIGKILL, nullptr} {
  run({"cp", "-a", (first.folder() / "data").string(), (first.folder() / "init").string(), "."});
}

void mysql_member::take_data_of(const mysql_member& other) const {
  private_server::take_data_of(other);
  std::filesystem::remove(folder() / "data" / "auto.cnf");
}

server_address mysql_member::address() const {
  server_address out;
  out.scheme = "mysql";
  out.user = out.password = out.database = "rowlock";
  out.host = "127.0.0.1";
  out.port = port_;
  return out;
}

void mysql_member::belong_to(std::string group) {
  group_ = std::move(group);
  std::ofstream{folder() / "init", std::ios::app} << "SET GLOBAL super_read_only = ON;\n";
}

std::unique_ptr<server_database> mysql_member::open() const { return std::make_unique<mysql_database>(address()); }

void mysql_member::execute(const std::string& sql) const { my_connection{address()}.run_script(sql); }

void mysql_member::follow(const mysql_member& primary) const {
  execute("CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = " + std::to_string(primary.port_) +
          ", SOURCE_USER = 'rowlock', SOURCE_PASSWORD = 'rowlock', SOURCE_AUTO_POSITION = 1, "
          "GET_SOURCE_PUBLIC_KEY = 1; START REPLICA");
}

std::string mysql_member::position() const { return answer_of(*this, "SELECT @@GLOBAL.gtid_executed"); }

std::string mysql_member::log() const { return contents_of(folder() / "log"); }

private_server::words mysql_member::program() const {
  const char* const said = std::getenv(variable);
  std::istringstream in{said == nullptr ? "" : said};
  words out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

private_server::words mysql_member::command() const {
  auto out = program();
  const auto port = std::to_string(port_);
  const words options{"--datadir=" + (folder() / "data").string(),
                      "--init-file=" + (folder() / "init").string(),
                      "--socket=socket",
                      "--secure-file-priv=",
                      "--mysqlx=OFF",
                      "--bind-address=127.0.0.1",
                      "--port=" + port,
                      "--report-host=127.0.0.1",
                      "--report-port=" + port,
                      "--server-id=" + port,
                      "--gtid-mode=ON",
                      "--enforce-gtid-consistency=ON",
                      "--innodb-redo-log-capacity=16M",
                      "--plugin-load-add=group_replication.so"};
  const words of_group{"--group-replication-group-name=2c0c6b1e-6a0f-4d7e-9a57-5b0a3c3f6f10",
                       "--group-replication-start-on-boot=OFF",
                       "--group-replication-local-address=127.0.0.1:" + std::to_string(group_port_),
                       "--group-replication-group-seeds=" + group_,
                       "--group-replication-ip-allowlist=127.0.0.1",
                       "--group-replication-member-expel-timeout=0",
                       "--group-replication-recovery-reconnect-interval=1",
                       "--group-replication-recovery-get-public-key=ON"};
  out.insert(out.end(), options.begin(), options.end());
  if (!group_.empty()) out.insert(out.end(), of_group.begin(), of_group.end());
  return out;
}

bool mysql_member::answers() const try { return answer_of(*this, "SELECT 1") == "1"; } catch (const std::exception&) {
  return false;
}

mysql_group::mysql_group() {
  for (std::size_t i = 0; i < size(); ++i) {
    node(i).belong_to(group());
    node(i).start();
  }
  node(0).execute("SET GLOBAL group_replication_bootstrap_group = ON");
  node(0).execute("START GROUP_REPLICATION");
  node(0).execute("SET GLOBAL group_replication_bootstrap_group = OFF");
  for (std::size_t i = 1; i < size(); ++i) node(i).execute("START GROUP_REPLICATION");
  wait_for_all();
}

void mysql_group::make_primary(std::size_t which) const {
  const auto uuid = answer_of(node(which), "SELECT @@server_uuid");
  answer_of(node(which), "SELECT group_replication_set_as_primary('" + uuid + "')");
  wait_for_all();
}

// Until the others have put out the one that was before, it is not let in.
void mysql_group::rejoin(std::size_t which) const {
  if (!eventually(4 * patience, [&] {
        try {
          node(which).execute("STOP GROUP_REPLICATION");
          node(which).execute("START GROUP_REPLICATION");
          return true;
        } catch (const std::exception&) {
          return false;
        }
      }))
    throw std::runtime_error{"a member is not let into its group: " + node(which).log()};
  wait_for_all();
}

// A member that joins first applies all that the group has written meanwhile, beside the players.
void mysql_group::wait_for_all() const try {
  wait_until_all_say("3 1",
                     "SELECT CONCAT(SUM(member_state = 'ONLINE'), ' ', SUM(member_role = 'PRIMARY')) FROM "
                     "performance_schema.replication_group_members",
                     6 * patience);
} catch (const std::runtime_error& e) {
  constexpr std::size_t most = 4000;
  std::string logs = e.what();
  for (std::size_t i = 0; i < size(); ++i) {
    const auto log = node(i).log();
    logs += "\nThe end of a member's log:\n" + log.substr(log.size() - std::min(log.size(), most));
  }
  throw std::runtime_error{logs};
}

}  // namespace rowlock::test
