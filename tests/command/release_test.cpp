#include <gmock/gmock.h>
#include <signal.h>
#include <nlohmann/json.hpp>

#include <string>

#include "command/command.hpp"
#include "command/terminal.hpp"

namespace rowlock::test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class command_release : public command {
 protected:
  launch release(const words& arguments) const { return rowlock(words{"release"} + arguments); }
  bool is_held() { return locks_.find("job").has_value(); }

  held_lock held_ = locks_.acquire("job", {.lease = 1h, .note = "mine"});
};

TEST_F(command_release, at_a_terminal_shows_who_has_it_and_asks) {
  program waiter{run(words{"--"} + watcher({"15"}))};
  ASSERT_TRUE(eventually([&] { return is_queued(waiter.pid()); }));
  terminal at{release({"--force", "job"}).words};
  ASSERT_TRUE(at.shows("Free it? [y/N] "));
  EXPECT_THAT(at.screen(), AllOf(HasSubstr("note      mine"), HasSubstr("TICKET"),
                                 HasSubstr(":" + std::to_string(waiter.pid()) + ":")));
  EXPECT_TRUE(is_held());
  at.type("y\n");
  EXPECT_EQ(at.report(), "exited 0");
  EXPECT_TRUE(at.shows("freed \"job\""));
  EXPECT_TRUE(waiter.says("started")) << "it is the next one's";
  waiter.signal(SIGTERM);
  EXPECT_EQ(waiter.wait(), exited(40));
}

class command_release_answers : public command_release, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(answers, command_release_answers, testing::Values("n\n", "\n", "\x04", "yo\n", "no\n"));

TEST_P(command_release_answers, other_than_yes_are_no) {
  terminal at{release({"--force", "job"}).words};
  ASSERT_TRUE(at.shows("Free it? [y/N] "));
  at.type(GetParam());
  EXPECT_EQ(at.report(), "exited 1");
  EXPECT_TRUE(at.shows("was not freed"));
  EXPECT_TRUE(is_held());
}

TEST_F(command_release, is_not_done_where_ctrl_c_is_the_answer) {
  terminal at{release({"--force", "job"}).words};
  ASSERT_TRUE(at.shows("Free it? [y/N] "));
  at.type(keys::ctrl_c);
  EXPECT_EQ(at.report(), "killed 2");
  EXPECT_TRUE(is_held());
}

TEST_F(command_release, asks_on_the_terminal_wherever_its_output_goes) {
  const auto output = file("out").string();
  terminal at{words{"sh", "-c", "exec \"$@\" > \"$0\"", output} + release({"--force", "--json", "job"}).words};
  ASSERT_TRUE(at.shows("Free it? [y/N] "));
  at.type("yes\n");
  EXPECT_EQ(at.report(), "exited 0");
  EXPECT_EQ(json::parse(contents_of(output), nullptr, false).at("freed"), true);
}

TEST_F(command_release, does_not_ask_where_its_input_or_its_messages_are_elsewhere) {
  for (const auto* elsewhere : {"\"$@\" < /dev/null", "\"$@\" 2> \"$0\""}) {
    terminal at{words{"sh", "-c", elsewhere, file("err").string()} + release({"--force", "job"}).words};
    EXPECT_EQ(at.report(), "exited 64") << elsewhere;
  }
  EXPECT_TRUE(is_held());
}

TEST_F(command_release, leaves_the_lock_of_whoever_has_got_it_meanwhile) {
  terminal at{release({"--force", "job"}).words};
  ASSERT_TRUE(at.shows("Free it? [y/N] "));
  held_.release();
  const auto next = locks_.acquire("job", {.lease = 1h});
  at.type("y\n");
  EXPECT_EQ(at.report(), "exited 1");
  EXPECT_TRUE(at.shows("another client holds it now"));
  EXPECT_EQ(locks_.find("job").value().token, next.token());
}

TEST_F(command_release, says_where_it_was_let_go_meanwhile) {
  terminal at{release({"--force", "job"}).words};
  ASSERT_TRUE(at.shows("Free it? [y/N] "));
  held_.release();
  at.type("y\n");
  EXPECT_EQ(at.report(), "exited 1");
  EXPECT_TRUE(at.shows("\"job\" is not held"));
}

TEST_F(command_release, does_not_obey_what_others_have_written) {
  const auto odd = locks_.acquire("odd", {.lease = 1h, .note = "\x1b[31m"});
  terminal at{release({"--force", "odd"}).words};
  ASSERT_TRUE(at.shows("Free it? [y/N] "));
  EXPECT_THAT(at.screen(), HasSubstr("\\x1b[31m"));
  at.type("n\n");
  EXPECT_EQ(at.report(), "exited 1");
}

}  // namespace
}  // namespace rowlock::test
