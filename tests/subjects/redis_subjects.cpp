#include <signal.h>

#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "subjects/redis_connection.hpp"
#include "subjects/redis_server.hpp"
#include "subjects/subject.hpp"

namespace rowlock::test {

redis_server::redis_server(const fake_machine* machine)
    : private_server{"nobody", SIGTERM, SIGKILL, machine}, port_{free_port()} {
  start();
}

server_address redis_server::address() const {
  server_address out;
  out.scheme = "redis";
  out.host = "127.0.0.1";
  out.port = port_;
  return out;
}

std::unique_ptr<server_database> redis_server::open() const { throw std::logic_error{"Redis has no place for tables"}; }

private_server::words redis_server::command() const {
  return {"redis-server", "--bind", "127.0.0.1", "--port",          std::to_string(port_),        "--save", "",
          "--appendonly", "no",     "--dir",     folder().string(), "--repl-diskless-sync-delay", "0"};
}

bool redis_server::answers() const try {
  return redis_connection{address()}.run({"PING"}) == "PONG";
} catch (const std::exception&) {
  return false;
}

void redis_server::follow(const redis_server& primary) const {
  redis_connection{address()}.run({"REPLICAOF", "127.0.0.1", std::to_string(primary.port_)});
}
void redis_server::stop_receiving() const { redis_connection{address()}.run({"REPLICAOF", "127.0.0.1", "1"}); }
void redis_server::promote() const { redis_connection{address()}.run({"REPLICAOF", "NO", "ONE"}); }
bool redis_server::has_all_of_its_primary() const {
  const auto info = redis_connection{address()}.run({"INFO", "replication"});
  return info.find("master_link_status:up") != std::string::npos;
}

namespace {

/// SET NX PX; its program looks at its own clock.
class redis_lock final : public subject {
 public:
  explicit redis_lock(const std::string& url) : line_{parse_address(url)} {}

  bool try_acquire(const std::string& name) override {
    owner_ = new_owner();
    name_ = name;
    sent_.begin();
    const auto lease = std::to_string(lease_of_subjects().count());
    return run({"SET", name_, owner_, "NX", "PX", lease}) == "OK";
  }
  bool is_held() noexcept override { return sent_.is_within(lease_of_subjects()); }
  void release() override {
    run({"EVAL", "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end",
         "1", name_, owner_});
  }

 private:
  std::string run(const std::vector<std::string_view>& words) {
    return line_.with([&](const redis_connection& by) { return by.run(words); });
  }

  lasting<redis_connection, server_address> line_;
  std::string name_;
  std::string owner_;
  since sent_;
};

}  // namespace

std::vector<subject_kind> redis_subjects() {
  return {{"redis", "redis", prepare_nothing, connect_subject<redis_lock>}};
}

}  // namespace rowlock::test
