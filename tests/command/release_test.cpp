#include <gmock/gmock.h>
#include <signal.h>
#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>

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

  /// Starts `rowlock release --force` at a terminal, and waits for its question.
  void begin(const words& job) {
    at_.emplace(job);
    ASSERT_TRUE(at_->shows("Free it? [y/N] "));
  }
  void begin() { begin(release({"--force", "job"}).words); }
  void expect_end(std::string_view answer, const std::string& report) {
    at_->type(answer);
    EXPECT_EQ(at_->report(), report);
  }

  held_lock held_ = locks_.acquire("job", {.lease = 1h, .note = "mine"});
  std::optional<terminal> at_{};
};

TEST_F(command_release, at_a_terminal_shows_who_has_it_and_asks) {
  program waiter{run(words{"--"} + watcher({"15"}))};
  ASSERT_TRUE(eventually([&] { return is_queued(waiter.pid()); }));
  begin();
  EXPECT_THAT(at_->screen(), AllOf(HasSubstr("note      mine"), HasSubstr("TICKET"),
                                   HasSubstr(":" + std::to_string(waiter.pid()) + ":")));
  EXPECT_TRUE(is_held());
  expect_end("y\n", "exited 0");
  EXPECT_TRUE(at_->shows("freed \"job\""));
  EXPECT_TRUE(waiter.says("started")) << "it is the next one's";
  waiter.signal(SIGTERM);
  EXPECT_EQ(waiter.wait(), exited(40));
}

TEST_F(command_release, is_not_done_where_the_answer_is_not_yes) {
  for (const std::string answer : {"n\n", "\n", "\x04", "yo\n", "no\n"}) {
    begin();
    expect_end(answer, "exited 1");
    EXPECT_TRUE(at_->shows("was not freed"));
    EXPECT_TRUE(is_held()) << testing::PrintToString(answer);
  }
  begin();
  expect_end(keys::ctrl_c, "killed 2");
  EXPECT_TRUE(is_held());
}

TEST_F(command_release, asks_on_the_terminal_wherever_its_output_goes) {
  const auto output = file("out").string();
  begin(words{"sh", "-c", "exec \"$@\" > \"$0\"", output} + release({"--force", "--json", "job"}).words);
  expect_end("yes\n", "exited 0");
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
  begin();
  held_.release();
  const auto next = locks_.acquire("job", {.lease = 1h});
  expect_end("y\n", "exited 1");
  EXPECT_TRUE(at_->shows("another client holds it now"));
  EXPECT_EQ(locks_.find("job").value().token, next.token());
}

TEST_F(command_release, says_where_it_was_let_go_meanwhile) {
  begin();
  held_.release();
  expect_end("y\n", "exited 1");
  EXPECT_TRUE(at_->shows("\"job\" is not held"));
}

TEST_F(command_release, does_not_obey_what_others_have_written) {
  const auto odd = locks_.acquire("odd", {.lease = 1h, .note = "\x1b[31m"});
  begin(release({"--force", "odd"}).words);
  EXPECT_THAT(at_->screen(), HasSubstr("\\x1b[31m"));
  expect_end("n\n", "exited 1");
}

}  // namespace
}  // namespace rowlock::test
