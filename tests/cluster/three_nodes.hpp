#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "server/private_server.hpp"
#include "support/my_connection.hpp"
#include "support/tier.hpp"
#include "testkit/eventually.hpp"

namespace rowlock::test {

/// Where the machine is busy, nodes take each other for dead, and none is sure any more of being in the majority.
inline bool has_the_machine() { return is_full_tier() || soak_time() >= std::chrono::minutes{10}; }
inline constexpr const char* nodes_need_it = "in the full tier, and by ./test.sh --soak 10 or longer";

/// The value that a server answers to an administrator.
inline std::string answer_of(const private_server& server, const std::string& sql) {
  return my_connection{server.address()}.run(sql).text(0, 0).value();
}

/// Servers of one cluster, which begin with the first one's data. Clients use the database "rowlock".
template <class Node>
class three_nodes {
 public:
  Node& node(std::size_t which) const { return *nodes_.at(which); }
  std::size_t size() const { return nodes_.size(); }
  std::vector<std::string> urls() const {
    std::vector<std::string> out;
    for (const auto& each : nodes_) {
      auto address = each->address();
      address.database = "rowlock";
      out.push_back(address.url());
    }
    return out;
  }

 protected:
  three_nodes() {
    nodes_.push_back(std::make_unique<Node>());
    for (int i = 0; i < 2; ++i) nodes_.push_back(std::make_unique<Node>(node(0)));
  }

  /// Where they speak to each other, separated by commas.
  std::string group() const {
    std::string out;
    for (const auto& each : nodes_)
      out.append(out.empty() ? "" : ",").append("127.0.0.1:" + std::to_string(each->group_port()));
    return out;
  }
  /// Throws where they do not within that time.
  void wait_until_all_say(const std::string& answer, const std::string& sql, std::chrono::seconds within) const {
    std::string said;
    const auto all_say = [&] {
      said.clear();
      for (const auto& each : nodes_) try {
          said += answer_of(*each, sql) + '\n';
        } catch (const std::exception& e) {
          said += e.what() + std::string{'\n'};
        }
      return said == answer + '\n' + answer + '\n' + answer + '\n';
    };
    if (!eventually(within, all_say)) throw std::runtime_error{"the cluster is not whole again:\n" + said};
  }

 private:
  std::vector<std::unique_ptr<Node>> nodes_;
};

}  // namespace rowlock::test
