#include <gtest/gtest.h>
#include <unistd.h>
#include <rowlock/rowlock.hpp>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "process/roles.hpp"
#include "support/child_process.hpp"
#include "support/errors.hpp"
#include "support/eventually.hpp"
#include "support/recorder.hpp"
#include "support/sqlite_database.hpp"

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

class leaving : public testing::TestWithParam<const char*> {};

TEST_P(leaving, frees_the_lock) {
  const sqlite_database file;
  auto locks = client::connect(file.url(), {.observer = silent()});
  locks.migrate();
  child_process leaver{"leaver", {file.url(), GetParam()}};
  leaver.expect("held");
  EXPECT_EQ(leaver.wait(), 0) << "it ends, and without a crash";
  const auto row = sqlite_database{file.file()}.row("job").value();
  if (std::string{GetParam()} != "_exit") {
    EXPECT_FALSE(row.owner.has_value()) << "released on the way out";
    EXPECT_TRUE(locks.try_acquire("job").has_value());
  } else {
    EXPECT_TRUE(row.owner.has_value()) << "nobody could do anything";
    EXPECT_TRUE(locks.try_acquire_for("job", lease + patience / 3).has_value());
  }
}

INSTANTIATE_TEST_SUITE_P(ways, leaving,
                         testing::Values("handle first", "client first", "mutex", "exit on a thread", "leaked",
                                         "_exit"),
                         [](const auto& way) {
                           std::string name{way.param};
                           for (auto& c : name)
                             if (c == ' ') c = '_';
                           return name;
                         });

}  // namespace
}  // namespace rowlock::test
