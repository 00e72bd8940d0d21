#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include <array>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "history/round.hpp"
#include "process/roles.hpp"
#include "server/fake_machine.hpp"
#include "server/server_test.hpp"
#include "support/databases.hpp"
#include "support/next_release.hpp"
#include "support/sqlite_database.hpp"
#include "support/tcp_proxy.hpp"
#include "testkit/child_process.hpp"

// Processes play at random, while something disturbs them, and a program judges what they have done.

namespace rowlock::test {
namespace {

/// migrating URL: to the next release
int migrate(const std::vector<std::string>& arguments) {
  connect_next_release(arguments.at(0)).migrate();
  return 0;
}
const role_registration migrating_role{"migrating", migrate};

class soak : public testing::TestWithParam<database_kind> {};
INSTANTIATE_TEST_SUITE_P(on, soak, testing::ValuesIn(databases()), database_name);

TEST_P(soak, with_players_that_are_killed_and_paused) {
  play_rounds([](std::chrono::seconds time) {
    const auto db = GetParam().open();
    round one{db->url(), db->url()};
    one.play(time, {});
    one.end(true);
  });
}

TEST_P(soak, on_a_disk_that_is_full_now_and_then) {
  play_rounds([](std::chrono::seconds time) {
    fake_machine machine;
    std::unique_ptr<private_server> server;
    std::unique_ptr<database> db;
    std::vector<std::string> environment;
    for (const auto& each : servers())
      if (each.name == GetParam().name) server = each.start(&machine);
    if (server) {
      db = server->open();
    } else {
      auto file = std::make_unique<sqlite_database>();
      environment = machine.environment(file->file());
      db = std::move(file);
    }
    round one{db->url(), db->url(), environment};
    const auto fill = [&](std::mt19937& random) {
      machine.fill_disk();
      let_pass_at_most(1500ms, random);
      machine.make_room();
      if (server) server->start_if_ended();
      one.goes_on();
    };
    one.play(time, {fill});
    one.end(true);
  });
}

// Nobody who is new can do anything before the first migration, and old ones go on after it.
TEST_P(soak, of_programs_of_two_versions_while_the_schema_is_migrated) {
  play_rounds([](std::chrono::seconds time) {
    const auto db = GetParam().open();
    round one{db->url(), db->url()};
    one.let_a_new_program_play();
    const auto migrate = [&](std::mt19937& random) {
      child_process first{"migrating", {db->url()}};
      child_process second{"migrating", {db->url()}};
      if (random() % 2 == 0) return first.kill();
      EXPECT_EQ(first.wait(), 0);
      EXPECT_EQ(second.wait(), 0);
      one.goes_on();
    };
    one.play(time, {migrate});
    connect_next_release(db->url()).migrate();
    one.end(true);
  });
}

class soak_of_server : public testing::TestWithParam<server_kind> {};
ROWLOCK_SUITE_ON_EACH_SERVER(soak_of_server);

TEST_P(soak_of_server, with_a_bad_network) {
  play_rounds([](std::chrono::seconds time) {
    const auto db = GetParam().open();
    tcp_proxy proxy{db->host(), db->port()};
    round one{db->url(), db->url_through(proxy.port())};
    constexpr std::array actions = {tcp_proxy::action::cut_before, tcp_proxy::action::cut_after,
                                    tcp_proxy::action::black_hole_before, tcp_proxy::action::black_hole_after,
                                    tcp_proxy::action::hold};
    const auto answered =
        GetParam().name == "postgresql" ? tcp_proxy::ends_with_ready_for_query : tcp_proxy::ends_as_mysql_answers;
    const auto about_something = [&](std::mt19937& random) {
      const std::array kinds{"alone/", "shared/", "permits/", "freed/"};
      proxy.on_request(tcp_proxy::contains(kinds.at(random() % kinds.size())), actions.at(random() % actions.size()),
                       answered);
      std::this_thread::sleep_for(20ms);
      if (random() % 2 == 0) proxy.let_go();
    };
    const auto of_all = [&](std::mt19937& random) {
      disturb_network(proxy, random);
      one.goes_on();
    };
    const auto sessions_end = [&](std::mt19937& /*random*/) { db->terminate_sessions(); };
    one.play(time, {about_something, of_all, sessions_end});
    proxy.let_go();
    one.end(true);
  });
}

TEST_P(soak_of_server, that_crashes_freezes_and_restarts) {
  play_rounds([](std::chrono::seconds time) {
    const auto server = GetParam().start_one();
    const auto db = server->open();
    round one{db->url(), db->url()};
    const auto freezes = [&](std::mt19937& random) {
      freeze_for_a_while(*server, 1500ms, random);
      one.goes_on();
    };
    const auto ends = [&](std::mt19937& random) {
      random() % 2 == 0 ? server->crash() : server->stop();
      let_pass_at_most(500ms, random);
      server->start();
      one.goes_on();
    };
    one.play(time, {freezes, ends});
    one.end(true);
  });
}

TEST_P(soak_of_server, whose_clock_is_set) {
  play_rounds([](std::chrono::seconds time) {
    fake_machine machine;
    const auto server = GetParam().start(&machine);
    const auto db = server->open();
    round one{db->url(), db->url()};
    std::chrono::seconds ahead{};
    const auto steps = [&](std::mt19937& random) {
      const std::chrono::seconds to{static_cast<int>(random() % 240) - 120};
      machine.step(to - std::exchange(ahead, to));
    };
    one.play(time, {steps});
    machine.step(10min);  // what was leased to a time to come is over
    one.end(false);
  });
}

}  // namespace
}  // namespace rowlock::test
