#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <string>

#include "history/player.hpp"
#include "history/round.hpp"
#include "testkit/eventually.hpp"

#ifdef ROWLOCK_WITH_POSTGRESQL
#include "postgresql/pgbouncer_server.hpp"
#include "postgresql/postgresql_server.hpp"
#endif

// Players of random histories go to several servers that stand in for one another.

namespace rowlock::test {
namespace {

#ifdef ROWLOCK_WITH_POSTGRESQL

// Nothing that was answered is lost: the primary had waited for its standby.
TEST(soak_of_postgresql_pair, whose_primary_crashes_and_whose_standby_is_promoted) {
  play_rounds([](std::chrono::seconds time) {
    postgresql_pair servers{true};
    const auto db = servers.open();
    round one{db->url(), db->url()};
    const auto old_primary_rejoins = [&] {
      servers.rejoin();
      EXPECT_TRUE(eventually([&] { return servers.primary().has_standby(); }));
      one.goes_on();
    };
    const auto primary_crashes = [&](std::mt19937& random) {
      servers.fail_over();
      let_pass_at_most(500ms, random);  // commits wait
      old_primary_rejoins();
    };
    // What has been committed on the primary alone is forgotten.
    const auto primary_crashes_alone = [&](std::mt19937& random) {
      servers.standby().crash();
      let_pass_at_most(1500ms, random);
      if (random() % 2 == 0) servers.primary().end_waits_for_standby("pg_terminate_backend");
      let_pass_at_most(1500ms, random);
      servers.primary().crash();
      servers.standby().start();
      servers.promote_standby();
      old_primary_rejoins();
    };
    const auto one_freezes = [&](std::mt19937& random) {
      freeze_for_a_while(random() % 2 == 0 ? servers.standby() : servers.primary(), 1500ms, random);
      one.goes_on();
    };
    one.play(time, {primary_crashes, primary_crashes_alone, one_freezes});
    one.end(true);
  });
}

TEST(soak_of_pgbouncer, that_crashes_freezes_and_restarts) {
  play_rounds([](std::chrono::seconds time) {
    const postgresql_server behind;
    const auto db = behind.open();
    pgbouncer_server between{*db};
    round one{db->url(), between.address().url(), {std::string{transaction_pooling} + "=on"}};
    const auto freezes = [&](std::mt19937& random) {
      freeze_for_a_while(between, 1500ms, random);
      one.goes_on();
    };
    const auto ends = [&](std::mt19937& random) {
      random() % 2 == 0 ? between.crash() : between.stop();
      between.start();
      one.goes_on();
    };
    const auto sessions_end = [&](std::mt19937& /*random*/) { db->terminate_sessions(); };
    one.play(time, {freezes, ends, sessions_end});
    one.end(true);
  });
}

#endif

}  // namespace
}  // namespace rowlock::test
