#pragma once

#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "process/roles.hpp"
#include "support/background.hpp"
#include "support/databases.hpp"
#include "support/errors.hpp"
#include "support/on_each_database_with.hpp"
#include "support/recorder.hpp"
#include "support/slowness.hpp"
#include "support/strategies.hpp"
#include "testkit/child_process.hpp"
#include "testkit/eventually.hpp"
#include "testkit/temp_folder.hpp"

namespace rowlock::test {

using namespace std::chrono_literals;

/// What every test with a client of its own has: a place on each database, its tables made.
class process_test : public on_each_database {
 protected:
  process_test() { locks_.migrate(); }

  client connect(client_options options = {}) const { return connect_patiently(db().url(), std::move(options)); }

  client locks_ = connect();
};

/// Processes that work together.
using crew = std::vector<std::unique_ptr<child_process>>;

/// One more.
inline void join(crew& all, const char* role, const std::vector<std::string>& arguments) {
  all.push_back(std::make_unique<child_process>(role, arguments));
}

/// Each says "ready" before the first of them is told to go.
inline void go_together(crew& all) {
  for (auto& each : all) each->expect("ready");
  for (auto& each : all) each->send("go");
}

/// Each comes to a good end.
inline void expect_good_ends(crew& all) {
  for (auto& each : all) {
    auto status = each->wait();
    if (!status) status = each->wait();  // under a sanitizer on a busy machine
    EXPECT_EQ(status, 0);
  }
}

/// In a child: waits until all are there.
inline bool goes_with_the_others() {
  say("ready");
  return hear() == "go";
}

}  // namespace rowlock::test
