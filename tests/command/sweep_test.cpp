#include <gmock/gmock.h>
#include <signal.h>

#include <string>

#include "command/command.hpp"

// rowlock sweep as a service, and its ends. What it deletes: transcripts/monitoring.txt.

namespace rowlock::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class command_sweep : public command {
 protected:
  outcome sweep(const words& arguments) const { return finish(rowlock(words{"sweep"} + arguments)); }
};

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
  EXPECT_THAT(result.out, HasSubstr("rows, 0 tickets and 0 runs deleted"));
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

}  // namespace
}  // namespace rowlock::test
