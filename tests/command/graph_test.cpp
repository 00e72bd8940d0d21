#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <mutex>
#include <thread>

#include "command/command.hpp"
#include "support/databases.hpp"

namespace rowlock::test {
namespace {

using nlohmann::json;

class command_graph : public on_each_database {
 protected:
  json graph() const {
    return json::parse(
        command::finish({.words = {command::path(), "--database", db().url(), "waiters", "--graph", "--json"}}).out);
  }

  client locks_ = client::connect(db().url(), {.observer = silent()});
};
ROWLOCK_SUITE_ON_EACH_DATABASE(command_graph);

TEST_P(command_graph, shows_a_circle_of_waiters) {
  locks_.migrate();
  std::atomic<int> missing{2};
  const auto lock_both = [&](const char* first, const char* second) {
    mutex one{locks_, first};
    mutex two{locks_, second};
    const std::lock_guard has{one};
    for (--missing; missing > 0;) std::this_thread::yield();
    try {
      const std::lock_guard then{two};
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::deadlock);
    }
  };
  const std::jthread left{[&] { lock_both("a", "b"); }};
  const std::jthread right{[&] { lock_both("b", "a"); }};
  EXPECT_TRUE(eventually([&] {
    const auto seen = graph();
    return seen.size() == 2 && seen[0].at("in_circle") == true && seen[1].at("in_circle") == true;
  })) << "for a second";
}

}  // namespace
}  // namespace rowlock::test
