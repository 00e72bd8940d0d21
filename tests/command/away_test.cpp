#include <gmock/gmock.h>
#include <signal.h>

#include <string>
#include <vector>

#include "command/command.hpp"
#include "command/terminal.hpp"
#include "support/databases.hpp"
#include "support/server_database.hpp"
#include "support/slowness.hpp"
#include "support/tcp_proxy.hpp"

// A server that is away for a while, as in a restart or a failover.

namespace rowlock::test {
namespace {

using testing::HasSubstr;

class command_away : public on_each_database {
 protected:
  command_away() { locks_.migrate(); }

  server_database& server() { return dynamic_cast<server_database&>(db()); }

  launch run(const words& arguments) { return rowlock(words{"run", "job"} + arguments); }
  launch rowlock(const words& arguments) {
    return {.words = words{command::path(), "--database", server().url_through(way_.port())} + arguments};
  }

  tcp_proxy way_{server().host(), server().port()};
  client locks_ = client::connect(db().url(), {.observer = silent()});
};

INSTANTIATE_TEST_SUITE_P(on, command_away, testing::ValuesIn(server_databases()), database_name);

TEST_P(command_away, is_waited_for_before_the_lock_is_asked_for) {
  for (const auto& verb : {words{"run", "--wait", "1h"}, words{"lead"}}) {
    way_.refuse(true);
    program started{rowlock(verb + words{"job", "echo", "done"})};
    ASSERT_TRUE(eventually([&] { return started.err().find("the database is away") != std::string::npos; }));
    way_.refuse(false);
    EXPECT_EQ(started.wait(), exited(0)) << started.err();
    EXPECT_EQ(started.out(), "done\n");
    EXPECT_EQ(occurrences(started.err(), "the database is there again"), 1) << started.err();
  }
}

TEST_P(command_away, is_waited_for_in_the_queue) {
  auto held = locks_.acquire("job");
  program started{run({"echo", "done"})};
  ASSERT_TRUE(eventually([&] { return !locks_.waiters("job").empty(); })) << started.err();
  const int before = way_.connections();
  way_.refuse(true);
  way_.cut();
  ASSERT_TRUE(eventually([&] { return way_.connections() > before + 1; })) << "it tries";
  held.release();
  way_.refuse(false);
  EXPECT_EQ(started.wait(), exited(0)) << started.err();
  EXPECT_EQ(started.out(), "done\n");
}

TEST_P(command_away, is_why_a_lock_is_lost_whose_lease_is_shorter_than_a_call) {
  program started{run({"--lease", "2s", "sh", "-c", "echo got; exec sleep 1000"})};
  ASSERT_TRUE(eventually([&] { return started.out() == "got\n"; })) << started.err();
  way_.black_hole(true);
  EXPECT_EQ(started.wait(), exited(70));
  EXPECT_THAT(started.err(), HasSubstr("(unreachable)"));
}

TEST_P(command_away, is_waited_for_no_longer_than_wait_says) {
  way_.refuse(true);
  for (const auto* wait : {"0", "300ms"}) {
    const auto result = command::finish(run({"--wait", wait, "echo", "done"}));
    EXPECT_TRUE(refused(result, 69)) << wait;
  }
  const auto quiet = command::finish(run({"--wait", "300ms", "--quiet", "echo", "done"}));
  EXPECT_EQ(quiet.end, exited(69)) << quiet;
  EXPECT_EQ(occurrences(quiet.err, "\n"), 1) << "the reason alone";
}

TEST_P(command_away, does_not_delay_the_end_by_a_signal) {
  way_.black_hole(true);
  const std::vector<words> verbs{
      {"run", "job", "true"}, {"hold", "job"}, {"sweep", "--once"}, {"sweep", "--every", "1h"}};
  for (const auto& verb : verbs) {
    const int before = way_.connections();
    program started{rowlock(verb)};
    ASSERT_TRUE(eventually([&] { return way_.connections() > before; }));
    const stopwatch watch;
    started.signal(SIGTERM);
    EXPECT_EQ(started.wait(), killed_by(SIGTERM)) << verb.front() << ": " << started.err();
    EXPECT_LE(watch.elapsed(), slack()) << verb.front();
  }
  const int before = way_.connections();
  terminal at{rowlock({"top"}).words};
  ASSERT_TRUE(eventually([&] { return way_.connections() > before; }));
  at.type(keys::ctrl_c);
  EXPECT_EQ(at.report(), "killed 2");
}

TEST_P(command_away, does_not_delay_the_end_of_a_screen) {
  terminal at{rowlock({"top", "--every", "100ms"}).words};
  ASSERT_TRUE(at.shows("0 held"));
  way_.black_hole(true);
  const int before = way_.connections();
  ASSERT_TRUE(eventually([&] { return way_.connections() > before; })) << "a visit was not answered";
  const stopwatch watch;
  at.type("q");
  EXPECT_EQ(at.report(), "exited 0");
  EXPECT_LE(watch.elapsed(), slack());
}

TEST_P(command_away, loses_no_order_of_a_screen_that_ends) {
  const auto held = locks_.acquire("job", {.lease = 1h});
  terminal at{rowlock({"top", "--every", "100ms"}).words};
  ASSERT_TRUE(at.shows("1 held"));
  way_.black_hole(true);
  const int before = way_.connections();
  ASSERT_TRUE(eventually([&] { return way_.connections() > before; }));
  at.type("fyq");
  way_.black_hole(false);
  EXPECT_EQ(at.report(), "exited 0");
  EXPECT_TRUE(at.shows("rowlock: freed \"job\"")) << at.screen();
  EXPECT_FALSE(locks_.find("job").has_value());
}

using command_lost_on_the_way = command;

// It takes the minute.
TEST_F(command_lost_on_the_way, to_a_wrong_address_gives_up_after_a_minute_where_nothing_else_is_said) {
  const auto to_nowhere = [](const words& arguments) {
    const auto url = std::string{server_databases().front().name} + "://me@127.0.0.1:1/none";
    return launch{.words = words{path(), "--database", url} + arguments};
  };
  const stopwatch watch;
  program run{to_nowhere({"run", "job", "true"})};
  program lead{to_nowhere({"lead", "job", "true"})};
  program patient{to_nowhere({"run", "--wait", "1h", "job", "true"})};
  EXPECT_TRUE(eventually(120s, [&] { return run.has_ended() && lead.has_ended(); }));
  EXPECT_GE(watch.elapsed(), 60s);
  EXPECT_EQ(run.wait(), exited(69)) << run.err();
  EXPECT_EQ(lead.wait(), exited(69)) << lead.err();
  EXPECT_FALSE(patient.has_ended());
}

}  // namespace
}  // namespace rowlock::test
