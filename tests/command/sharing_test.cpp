#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <string>

#include "command/command.hpp"

namespace rowlock::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class command_sharing : public command {
 protected:
  launch try_once(const words& options) const { return rowlock(words{"run", "-n"} + options + words{"job", "true"}); }
  ending end_of(const launch& how) const { return finish(how).end.value(); }
};

TEST_F(command_sharing, readers_run_together_and_nobody_alone) {
  auto reader = locks_.acquire_shared("job");
  EXPECT_EQ(end_of(try_once({"--shared"})), exited(0));
  EXPECT_EQ(end_of(try_once({"-s"})), exited(0));
  EXPECT_EQ(end_of(try_once({})), exited(75));
  reader.release();
  const auto alone = locks_.acquire("job");
  EXPECT_EQ(end_of(try_once({"--shared"})), exited(75));
}

TEST_F(command_sharing, as_many_run_as_there_are_permits) {
  semaphore two{locks_, "job", 2};
  auto one = two.acquire();
  EXPECT_EQ(end_of(try_once({"--permits", "2"})), exited(0));
  const auto refused_by_one = finish(try_once({"--permits", "1"}));
  EXPECT_EQ(refused_by_one.end, exited(75));
  EXPECT_THAT(refused_by_one.err, HasSubstr("\"job\" is held by (shared), 1 permit\n"));
  const auto other = two.acquire();
  const auto refused = finish(try_once({"--permits", "2"}));
  EXPECT_EQ(refused.end, exited(75));
  EXPECT_THAT(refused.err, HasSubstr("\"job\" is held by (shared), 2 permits"));
}

TEST_F(command_sharing, says_what_cannot_be_shared) {
  for (const words& options :
       {words{"--shared", "--strategy", "for_update"}, words{"--permits", "2", "--at-least", "1s"},
        words{"--shared", "--permits", "2"}, words{"--permits", "0"}})
    EXPECT_EQ(end_of(try_once(options)), exited(64)) << testing::PrintToString(options);
}

TEST_F(command_sharing, several_locks_are_had_together) {
  const words both{"run", "--also", "b c", "--also", "d", "job"};
  EXPECT_EQ(finish(rowlock(both + words{"sh", "-c", "echo \"$ROWLOCK_NAME\""})).out, "job\n");
  auto other = locks_.acquire("b c", {.note = "somebody"});
  const auto refused = finish(rowlock(words{"run", "-n"} + words{both.begin() + 1, both.end()} + words{"true"}));
  EXPECT_EQ(refused.end, exited(75));
  EXPECT_THAT(refused.err, AllOf(HasSubstr("\"b c\" is held by"), HasSubstr("somebody")));
  EXPECT_TRUE(is_free("job"));
  launch waiting = rowlock(both + words{"true"});
  other.release();
  EXPECT_EQ(end_of(waiting), exited(0));
  for (const words& options : {words{"--shared", "--also", "b"}, words{"--permits", "2", "--also", "b"},
                               words{"--strategy", "for_update", "--also", "b"}})
    EXPECT_EQ(end_of(try_once(options)), exited(64)) << testing::PrintToString(options);
}

TEST_F(command_sharing, shows_and_frees_who_shares) {
  const auto one = locks_.acquire_shared("job", {.note = "first"});
  const auto two = locks_.acquire_shared("job", {.note = "second"});
  EXPECT_THAT(finish(rowlock({"show", "job"})).out, AllOf(HasSubstr("first"), HasSubstr("second")));
  const auto object = json::parse(finish(rowlock({"show", "--json", "job"})).out, nullptr, false);
  EXPECT_EQ(object.at("sharers"), 2);
  EXPECT_EQ(object.at("holders").at(1).at("token"), two.token().value());
  EXPECT_THAT(finish(rowlock({"list"})).out, HasSubstr("(shared), 2 permits"));

  const words release{"release", "--force", "--yes"};
  EXPECT_EQ(end_of(rowlock(release + words{"--token", "1", "job"})), exited(1));
  EXPECT_EQ(end_of(rowlock(release + words{"--token", std::to_string(one.token().value()), "job"})), exited(0));
  EXPECT_EQ(locks_.sharers("job").size(), 1U);
  EXPECT_EQ(end_of(rowlock(release + words{"job"})), exited(0));
  EXPECT_TRUE(is_free("job"));
}

}  // namespace
}  // namespace rowlock::test
