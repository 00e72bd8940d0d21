#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <string>

#include "command/command.hpp"

namespace rowlock::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// A job whose period ends within half of its length, but not in the next minutes.
class command_before_a_period : public command {
 protected:
  void SetUp() override {
    ASSERT_EQ(finish(run(in_this_period({"true"}))).end, exited(0));
    database_.let_runs_begin_earlier(24h);
  }

  words in_this_period(const words& todo) const {
    const auto seconds = [](std::chrono::seconds s) { return std::to_string(s.count()) + 's'; };
    return words{"-n", "--every", seconds(every_), "--early", seconds(every_ / 2), "--"} + todo;
  }
  /// Whether a client has had the lock again, and has released it.
  bool has_looked() {
    const auto row = database_.row("job");
    return row->version > token_ && !row->owner;
  }

 private:
  static std::chrono::seconds length() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    auto every = std::chrono::seconds{40min};
    while (every - now % every < 10min || every - now % every > every / 2) ++every;
    return every;
  }
  std::chrono::seconds every_ = length();

 protected:
  std::int64_t token_ = 0;
};

TEST_F(command_before_a_period, waits_for_it_without_the_lock_until_a_signal_ends_it) {
  program waiting{run(in_this_period({"touch", file("ran").string()}))};
  EXPECT_TRUE(eventually([&] { return waiting.err().find("waiting for the next period") != std::string::npos; }));
  EXPECT_THAT(waiting.err(), HasSubstr("rowlock: waiting for the next period of \"job\", which begins in "));
  EXPECT_TRUE(is_free("job"));
  waiting.signal(SIGTERM);
  EXPECT_EQ(waiting.wait(), killed_by(SIGTERM));
  EXPECT_FALSE(exists(file("ran")));
}

TEST_F(command_before_a_period, waits_silently_if_it_is_to_be_quiet) {
  token_ = database_.row("job").value().version;
  program waiting{run(words{"--quiet"} + in_this_period({"true"}))};
  EXPECT_TRUE(eventually([&] { return has_looked(); }));
  waiting.signal(SIGINT);
  EXPECT_EQ(waiting.wait(), killed_by(SIGINT));
  EXPECT_THAT(waiting.err(), IsEmpty());
}

}  // namespace
}  // namespace rowlock::test
