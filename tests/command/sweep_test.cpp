#include <gmock/gmock.h>
#include <signal.h>
#include <nlohmann/json.hpp>

#include <string>

#include "command/command.hpp"

namespace rowlock::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;

class command_sweep : public command {
 protected:
  outcome sweep(const words& arguments) const { return finish(rowlock(words{"sweep"} + arguments)); }
};

TEST_F(command_sweep, once_deletes_what_nobody_needs_and_says_how_much) {
  database_.add_unused(1'234);
  database_.enqueue("job");
  database_.kill_waiters(2min);
  const auto held = locks_.acquire("job");
  const auto result = sweep({"--once"});
  EXPECT_EQ(result.end, exited(0)) << result;
  EXPECT_EQ(result.out, "1234 rows and 1 ticket deleted\n");
  EXPECT_THAT(result.err, IsEmpty());
  EXPECT_EQ(database_.rows(), 2) << "the job's and the sweeper's own";
  EXPECT_EQ(database_.tickets(), 0);
  EXPECT_FALSE(held.lost().stop_requested());
  EXPECT_EQ(sweep({"--once"}).out, "0 rows and 0 tickets deleted\n") << "nothing is left of the first";
}

TEST_F(command_sweep, quietly_says_nothing) {
  database_.add_unused(3);
  const auto result = sweep({"--once", "--quiet", "--retention", "1h", "--batch", "1"});
  EXPECT_EQ(result.end, exited(0)) << result;
  EXPECT_THAT(result.out, IsEmpty());
  EXPECT_EQ(database_.rows(), 1);
}

TEST_F(command_sweep, once_for_programs_is_an_object) {
  database_.add_unused(3);
  const auto done = json::parse(sweep({"--once", "--json"}).out, nullptr, false);
  EXPECT_EQ(done.at("sweeps"), 1);
  EXPECT_EQ(done.at("rows"), 3);
  EXPECT_EQ(done.at("tickets"), 0);
  EXPECT_GT(done.at("longest_call_us").get<std::int64_t>(), 0);
  EXPECT_EQ(done.size(), 7U) << done;
  const auto held = locks_.acquire("rowlock:sweeper");
  EXPECT_EQ(json::parse(sweep({"--once", "--json"}).out, nullptr, false).at("stand_bys"), 1);
}

TEST_F(command_sweep, goes_by_the_retention) {
  locks_.acquire("job").release();
  database_.age("job", 90min);
  EXPECT_EQ(sweep({"--once", "--retention", "2h"}).out, "0 rows and 0 tickets deleted\n");
  EXPECT_EQ(sweep({"--once", "--retention", "80m"}).out, "1 row and 0 tickets deleted\n");
}

TEST_F(command_sweep, stands_by_where_another_is_at_work) {
  database_.add_unused(3);
  const auto held = locks_.acquire("rowlock:sweeper");
  const auto result = sweep({"--once"});
  EXPECT_EQ(result.end, exited(0)) << result;
  EXPECT_EQ(result.out, "another sweeper is at work\n");
  EXPECT_EQ(database_.rows(), 4);
}

TEST_F(command_sweep, every_so_often_goes_on_until_it_is_told_to_end) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    database_.add_unused(10);
    program service{rowlock({"sweep", "--every", "1s"})};
    EXPECT_TRUE(eventually([&] { return database_.rows() == 1; }));
    database_.add_unused(10);
    EXPECT_TRUE(eventually([&] { return database_.rows() == 1; }));
    EXPECT_FALSE(service.has_ended());
    service.signal(number);
    EXPECT_EQ(service.wait(), exited(0)) << service.err();
    EXPECT_THAT(service.out(), IsEmpty());
    EXPECT_THAT(service.err(), IsEmpty());
    EXPECT_TRUE(is_free("rowlock:sweeper"));
  }
}

TEST_F(command_sweep, every_so_often_outlives_what_the_database_refuses_and_says_so) {
  program service{rowlock({"sweep", "--every", "1s"})};
  ASSERT_TRUE(eventually([&] { return database_.row("rowlock:sweeper").has_value(); }));
  database_.drop_tables();
  EXPECT_TRUE(eventually([&] { return service.err().find("a sweep failed") != std::string::npos; }));
  EXPECT_TRUE(is_messages(service.err())) << service.err();
  locks_.migrate();
  database_.add_unused(10);
  EXPECT_TRUE(eventually([&] { return database_.rows() == 1; }));
  service.signal(SIGTERM);
  EXPECT_EQ(service.wait(), exited(0));
}

TEST_F(command_sweep, that_was_killed_is_followed_by_another) {
  database_.add_unused(200'000);
  program first{rowlock({"sweep", "--every", "1s", "--batch", "10"})};
  ASSERT_TRUE(eventually([&] { return database_.rows() < 199'000; }));
  first.kill();
  EXPECT_GT(database_.rows(), 1'000) << "it was in the middle";
  database_.expire("rowlock:sweeper");
  const auto result = sweep({"--once"});
  EXPECT_THAT(result.out, HasSubstr("rows and 0 tickets deleted"));
  EXPECT_EQ(database_.rows(), 1);
}

TEST_F(command_sweep, ended_by_a_signal_in_the_middle_lets_go_and_dies_of_it) {
  database_.add_unused(200'000);
  program once{rowlock({"sweep", "--once", "--batch", "10"})};
  ASSERT_TRUE(eventually([&] { return database_.rows() < 200'000; }));
  once.signal(SIGINT);
  EXPECT_EQ(once.wait(), killed_by(SIGINT));
  EXPECT_GT(database_.rows(), 1'000);
  EXPECT_TRUE(is_free("rowlock:sweeper"));
}

TEST_F(command_sweep, is_told_when_and_by_values_that_make_sense) {
  for (const auto& wrong : std::vector<words>{{},
                                              {"--once", "--every", "1m"},
                                              {"--every"},
                                              {"--every", "0"},
                                              {"--every", "2d"},
                                              {"--once", "--retention", "59s"},
                                              {"--once", "--retention", "-1h"},
                                              {"--once", "--batch", "0"},
                                              {"--once", "--batch", "10001"},
                                              {"--once", "--batch", "many"},
                                              {"--once", "--batch", "0x10"},
                                              {"--once", "job"},
                                              {"--once", "--quiet", "--json"},
                                              {"--every", "1m", "--json"}})
    EXPECT_TRUE(refused(sweep(wrong), 64)) << testing::PrintToString(wrong);
}

TEST_F(command_sweep, needs_the_tables) {
  database_.drop_tables();
  EXPECT_TRUE(refused(sweep({"--once"}), 78));
  EXPECT_TRUE(refused(sweep({"--every", "1s"}), 78));
}

}  // namespace
}  // namespace rowlock::test
