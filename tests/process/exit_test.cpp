#include <gtest/gtest.h>
#include <unistd.h>
#include <rowlock/rowlock.hpp>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "process/roles.hpp"
#include "support/child_process.hpp"
#include "support/databases.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/recorder.hpp"

namespace rowlock::test {
namespace {

using namespace std::chrono_literals;

constexpr auto lease = 4s;

// Destroyed in the opposite order, after main: in one role the client goes first, in the other the handle.
std::optional<held_lock> handle_that_goes_after_the_client;
std::optional<client> locks_of_the_program;
std::optional<held_lock> handle_that_goes_before_the_client;
std::optional<mutex> mutex_of_the_program;
held_lock* handle_that_never_goes = nullptr;

/// leaver URL WAY: takes "job" and leaves in that way without letting go.
int leave(const std::vector<std::string>& arguments) {
  const auto& way = arguments.at(1);
  locks_of_the_program = client::connect(arguments.at(0), {.observer = silent()});
  auto& locks = *locks_of_the_program;
  const lock_options options{.lease = lease};
  if (way == "handle first") {
    handle_that_goes_before_the_client = locks.acquire("job", options);
  } else if (way == "client first") {
    handle_that_goes_after_the_client = locks.acquire("job", options);
  } else if (way == "mutex") {
    mutex_of_the_program.emplace(locks, "job", options);
    mutex_of_the_program->lock();
  } else if (way == "exit on a thread") {
    handle_that_goes_before_the_client = locks.acquire("job", options);
    say("held");
    std::thread{[] { std::exit(0); }}.join();
  } else if (way == "leaked") {
    handle_that_never_goes = new held_lock{locks.acquire("job", options)};  // NOLINT(cppcoreguidelines-owning-memory)
  } else if (way == "_exit") {
    handle_that_goes_before_the_client = locks.acquire("job", options);
    say("held");
    ::_exit(0);
  }
  say("held");
  return 0;
}

const role_registration leaver_role{"leaver", leave};

class leaving : public testing::TestWithParam<std::tuple<database_kind, std::string>> {};

TEST_P(leaving, frees_the_lock) {
  const auto& [kind, way] = GetParam();
  const auto db = kind.open();
  auto locks = client::connect(db->url(), {.observer = silent()});
  locks.migrate();
  child_process leaver{"leaver", {db->url(), way}};
  leaver.expect("held");
  EXPECT_EQ(leaver.wait(), 0) << "it ends, and without a crash";
  const auto row = db->row("job").value();
  if (way != "_exit") {
    EXPECT_FALSE(row.owner.has_value()) << "released on the way out";
    EXPECT_TRUE(locks.try_acquire("job").has_value());
  } else {
    EXPECT_TRUE(row.owner.has_value()) << "nobody could do anything";
    EXPECT_TRUE(locks.try_acquire_for("job", lease + patience / 3).has_value());
  }
}

std::string way_name(const testing::TestParamInfo<leaving::ParamType>& info) {
  const auto& [kind, way] = info.param;
  auto name = std::string{kind.name} + "_" + way;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(ways, leaving,
                         testing::Combine(testing::ValuesIn(databases()),
                                          testing::Values<std::string>("handle first", "client first", "mutex",
                                                                       "exit on a thread", "leaked", "_exit")),
                         way_name);

}  // namespace
}  // namespace rowlock::test
