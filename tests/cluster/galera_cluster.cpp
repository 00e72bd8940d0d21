#include "cluster/galera_cluster.hpp"

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "support/my_connection.hpp"
#include "support/program.hpp"
#include "testkit/eventually.hpp"

namespace rowlock::test {

namespace {

constexpr const char* provider = "/usr/lib/galera/libgalera_smm.so";

// Debian's own scripts are in a package that starts a service. Who joins has a copy of an older state already, so all
// that it is told is where the writes begin that come by themselves.
constexpr const char* transfer = R"(#!/bin/sh
while [ $# -gt 0 ]; do
    case $1 in
        --role) role=$2 ;;
        --address) address=$2 ;;
        --datadir) data=$2 ;;
        --gtid) position=$2 ;;
        --bypass) has_state=yes ;;
        --parent) server=$2 ;;
        --mysqld-args) break ;;
    esac
    shift
done
if [ "$role" = donor ]; then
    [ -n "$has_state" ] || exit 1
    echo "$position" >"$address.new" && mv "$address.new" "$address" && echo "done $position"
    exit
fi
rm -f "$data/transferred"
echo "ready $data/transferred"
until cat "$data/transferred" 2>/dev/null; do
    kill -0 "$server" || exit 1
    sleep 0.05
done
)";

class cut_off_node : public obstacle {
 public:
  explicit cut_off_node(const galera_node& which) : node_{which} {
    if (!isolates("1")) throw std::runtime_error{"a node cannot be cut off"};
  }
  ~cut_off_node() override { isolates("0"); }  // or else, who waits for the node says so

 private:
  // A node that was frozen may have too many connections, of clients that have given up long since.
  bool isolates(const std::string& on) const {
    return eventually([&] {
      try {
        my_connection{node_.address()}.run("SET GLOBAL wsrep_provider_options = 'gmcast.isolate=" + on + "'");
        return true;
      } catch (const std::exception&) {
        return false;
      }
    });
  }

  const galera_node& node_;
};

bool writes(const galera_node& which) try {
  my_connection{which.address()}.run("CREATE DATABASE IF NOT EXISTS whole");
  return true;
} catch (const std::exception&) {
  return false;
}

}  // namespace

galera_node::galera_node() : mariadb_server{words{}} {
  stop();
  write_transfer();
  begin("gcomm://");
  stop();
}

galera_node::galera_node(const galera_node& first) : mariadb_server{copy_of{first}} { write_transfer(); }

void galera_node::write_transfer() const {
  const auto script = folder() / "wsrep_sst_rowlock";
  std::ofstream{script} << transfer;
  std::filesystem::permissions(script, std::filesystem::perms{0755});
}

void galera_node::begin(const std::string& group) {
  auto all = options(group);
  all.emplace_back("--wsrep-new-cluster");
  set_options(all);
  start();
}

void galera_node::join(const std::string& group) {
  auto all = options(group);
  set_options(all);
  all.push_back("--wsrep-start-position=" + position());
  set_options(all);
  start();
}

// As the tables have it: after a crash nothing else does.
std::string galera_node::position() const {
  auto recovering = command();
  recovering.emplace_back("--wsrep-recover");
  run(recovering);
  const auto log = contents_of(folder() / "log");
  const std::string mark = "Recovered position: ";
  const auto at = log.rfind(mark);
  if (at == std::string::npos) throw std::runtime_error{"a node has no position: " + log};
  const auto from = at + mark.size();
  return log.substr(from, log.find('\n', from) - from);
}

std::unique_ptr<obstacle> galera_node::cut_off() const { return std::make_unique<cut_off_node>(*this); }

private_server::words galera_node::options(const std::string& group) const {
  const auto here = [](std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); };
  return {"--wsrep-on=ON",
          std::string{"--wsrep-provider="} + provider,
          "--wsrep-cluster-name=rowlock",
          "--wsrep-cluster-address=" + group,
          "--wsrep-node-address=" + here(group_port_),
          "--wsrep-sst-method=rowlock",
          "--binlog-format=ROW",
          "--innodb-autoinc-lock-mode=2",
          "--wsrep-provider-options=gmcast.listen_addr=tcp://" + here(group_port_) +
              ";ist.recv_addr=" + here(transfer_port_) +
              ";gcache.recover=yes;evs.suspect_timeout=PT5S;evs.inactive_timeout=PT15S;evs.keepalive_period=PT0.5S;"
              "evs.inactive_check_period=PT0.25S"};
}

private_server::words galera_node::command() const {
  auto out = mariadb_server::command();
  const char* const path = std::getenv("PATH");
  const auto all = folder().string() + ":" + (path == nullptr ? "" : path) + ":/usr/sbin";
  out.insert(out.begin(), {"env", "PATH=" + all});
  return out;
}

galera_cluster::galera_cluster() {
  if (!std::filesystem::exists(provider)) throw std::runtime_error{std::string{provider} + " is not there"};
  node(0).begin(url_of_group());
  for (std::size_t i = 1; i < size(); ++i) node(i).join(url_of_group());
  wait_for_all();
  my_connection{node(0).address()}.run("CREATE DATABASE rowlock");
}

void galera_cluster::rejoin(std::size_t which) const {
  node(which).join(url_of_group());
  wait_for_all();
}

void galera_cluster::wait_for_all() const {
  wait_until_all_say("3,Synced,ON",
                     "SELECT GROUP_CONCAT(variable_value ORDER BY variable_name) FROM "
                     "information_schema.global_status WHERE variable_name IN "
                     "('wsrep_cluster_size', 'wsrep_local_state_comment', 'wsrep_ready')",
                     2 * patience);
  // A member that was frozen counts as one that is there, while no write passes before it has answered.
  for (std::size_t i = 0; i < size(); ++i)
    if (!eventually(patience, [&] { return writes(node(i)); })) throw std::runtime_error{"a node does not write"};
}

}  // namespace rowlock::test
