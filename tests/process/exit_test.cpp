#include <unistd.h>

#include <cstdlib>
#include <thread>
#include <tuple>

#include "process/process_test.hpp"
#include "support/happening.hpp"

namespace rowlock::test {
namespace {

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
  locks_of_the_program = client::connect(arguments.at(0), {.call_timeout = 2s, .observer = silent()});
  auto& locks = *locks_of_the_program;
  const lock_options options{.lease = lease};
  if (way == "handle_first") {
    handle_that_goes_before_the_client = locks.acquire("job", options);
  } else if (way == "client_first") {
    handle_that_goes_after_the_client = locks.acquire("job", options);
  } else if (way == "mutex") {
    mutex_of_the_program.emplace(locks, "job", options);
    mutex_of_the_program->lock();
  } else if (way == "exit_on_a_thread") {
    handle_that_goes_before_the_client = locks.acquire("job", options);
    say("held");
    std::thread{[] { std::exit(0); }}.join();
  } else if (way == "leaked") {
    handle_that_never_goes = new held_lock{locks.acquire("job", options)};  // NOLINT(cppcoreguidelines-owning-memory)
  } else if (way == "callback_that_never_returns") {
    static happening entered;
    // Never destroyed: that would wait for it.
    auto* const other = new held_lock{locks.acquire("other", {.lease = 1s, .renew = false})};  // NOLINT
    new std::stop_callback{other->lost(), [] {                                                 // NOLINT
                             entered.happens();
                             for (;;) ::pause();
                           }};
    if (!entered.within()) return 1;
    handle_that_goes_before_the_client = locks.acquire("job", options);
  } else if (way == "_exit") {
    handle_that_goes_before_the_client = locks.acquire("job", options);
    say("held");
    ::_exit(0);
  }
  say("held");
  return 0;
}

const role_registration leaver_role{"leaver", leave};

struct way_to_leave {
  const char* name;
};
std::string name_of(const way_to_leave& way) { return way.name; }
constexpr way_to_leave ways_to_leave[] = {
    {"handle_first"}, {"client_first"}, {"mutex"}, {"exit_on_a_thread"}, {"leaked"}, {"callback_that_never_returns"},
    {"_exit"}};

class leaving : public on_each_database_with<way_to_leave> {};
ROWLOCK_SUITE_ON_EACH_DATABASE_WITH_EACH(leaving, ways_to_leave);

TEST_P(leaving, frees_the_lock) {
  auto locks = connect();
  const std::string way = what().name;
  child_process leaver{"leaver", {db().url(), way}};
  leaver.expect("held");
  EXPECT_EQ(leaver.wait(), 0) << "it ends, and without a crash";
  const auto row = db().row("job").value();
  if (way != "_exit") {
    EXPECT_FALSE(row.owner.has_value()) << "released on the way out";
    EXPECT_TRUE(locks.try_acquire("job").has_value());
  } else {
    EXPECT_TRUE(row.owner.has_value()) << "nobody could do anything";
    EXPECT_TRUE(locks.try_acquire_for("job", lease + patience / 3).has_value());
  }
}

std::optional<client> first_of_the_program;
std::optional<client> second_of_the_program;

/// leaver_of_two URL URL: clients of both, in static objects, go after main.
int leave_two(const std::vector<std::string>& arguments) {
  first_of_the_program = connect_patiently(arguments.at(0));
  handle_that_goes_after_the_client = first_of_the_program->acquire("job", {.lease = lease});
  second_of_the_program = connect_patiently(arguments.at(1));
  handle_that_goes_before_the_client = second_of_the_program->acquire("job", {.lease = lease});
  say("held");
  return 0;
}

const role_registration leaver_of_two_role{"leaver_of_two", leave_two};

class leaving_two : public testing::TestWithParam<std::tuple<database_kind, database_kind>> {};

// Each driver has static objects of its own, made when it is first used.
TEST_P(leaving_two, frees_the_locks_of_both) {
  const auto& [one, two] = GetParam();
  const auto first = one.open();
  const auto second = two.open();
  for (const auto* each : {&first, &second}) connect_patiently((*each)->url()).migrate();
  child_process leaver{"leaver_of_two", {first->url(), second->url()}};
  leaver.expect("held");
  EXPECT_EQ(leaver.wait(), 0) << "it ends, and without a crash";
  for (const auto* each : {&first, &second}) EXPECT_FALSE((*each)->row("job").value().owner.has_value());
}

std::string name_of_two(const testing::TestParamInfo<leaving_two::ParamType>& info) {
  const auto& [one, two] = info.param;
  return std::string{one.name} + "_then_" + std::string{two.name};
}

INSTANTIATE_TEST_SUITE_P(kinds, leaving_two,
                         testing::Combine(testing::ValuesIn(databases()), testing::ValuesIn(databases())), name_of_two);

/// leaver_while_connecting URL MILLISECONDS: leaves so long after it has begun to make connections.
int leave_while_connecting(const std::vector<std::string>& arguments) {
  auto locks = connect_patiently(arguments.at(0));
  std::stop_source stop;
  std::vector<std::jthread> all;
  for (int i = 0; i < 6; ++i)  // each by a transaction, and so by a connection, of its own
    all.emplace_back([&, name = lock_name{"job/" + std::to_string(i)}] {
      error_of([&] { return locks.try_acquire_for(name, 1s, {.strategy = strategy::for_update}, stop.get_token()); });
    });
  std::this_thread::sleep_for(std::chrono::milliseconds{std::stoi(arguments.at(1))});
  stop.request_stop();
  return 0;
}

const role_registration leaver_while_connecting_role{"leaver_while_connecting", leave_while_connecting};

class leaving_while_connecting : public process_test {};
ROWLOCK_SUITE_ON_EACH_DATABASE(leaving_while_connecting);

// The threads that connect are left behind, and need what drivers clear away when the program ends.
TEST_P(leaving_while_connecting, ends_without_a_crash) {
  for (int after = 0; after < 16; ++after) {
    child_process leaver{"leaver_while_connecting", {db().url(), std::to_string(after % 8)}};
    EXPECT_EQ(leaver.wait(), 0) << "after " << after % 8 << " ms";
  }
}

}  // namespace
}  // namespace rowlock::test
