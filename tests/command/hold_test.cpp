#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "command/command.hpp"

namespace rowlock::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;

class command_hold : public command {
 protected:
  /// One that never ends.
  std::string pipe() const {
    auto made = file("pipe").string();
    EXPECT_TRUE(::mkfifo(made.c_str(), 0600) == 0 || errno == EEXIST);
    return made;
  }

  program holding(const words& options = {}) const {
    return program{{.words = words{"sh", "-c", R"(exec 3<>"$0"; exec "$@" <&3)", pipe()} +
                             rowlock(words{"hold"} + options + words{"job"}).words}};
  }

  /// With bash's coprocess.
  launch script(const std::string& end) const {
    return {.words = {"bash", "-c",
                      R"(coproc lock { exec "$0" --database "$1" hold job; }
                         read -r token <&"${lock[0]}" || exit 50
                         echo "token $token"
                         )" +
                          end,
                      path(), database_.url()}};
  }
};

TEST_F(command_hold, guards_a_section_of_a_script) {
  const auto result = finish(script(R"("$0" --database "$1" run -n job true; echo "section $?"
                                       exec {lock[1]}>&-; wait "$lock_PID"; echo "hold $?")"));
  EXPECT_EQ(result.end, exited(0)) << result;
  EXPECT_EQ(number_after(result.out, "section "), 75) << "nobody else had it meanwhile";
  EXPECT_EQ(number_after(result.out, "hold "), 0) << result;
  EXPECT_TRUE(is_free("job"));
}

TEST_F(command_hold, outlives_no_script_that_was_killed) {
  program started{script("sleep 1000; true")};  // or the shell becomes the sleep
  std::optional<long> token;
  ASSERT_TRUE(eventually([&] { return (token = number_after(started.out(), "token ")).has_value(); })) << started.err();
  EXPECT_EQ(token, locks_.find("job").value().token.value());
  started.kill();
  EXPECT_TRUE(eventually([&] { return is_free("job"); }));
}

TEST_F(command_hold, gives_up_its_wait_when_no_one_can_read_the_token) {
  const auto held = locks_.acquire("job");
  const auto out = file("out").string();
  ASSERT_EQ(::mkfifo(out.c_str(), 0600), 0);
  const int reader = ::open(out.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  program started{{.words = words{"sh", "-c", R"(exec 3<>"$0"; out=$1; shift; exec "$@" <&3 >"$out")", pipe(), out} +
                            rowlock({"hold", "job"}).words}};
  ASSERT_TRUE(eventually([&] { return !locks_.waiters("job").empty(); })) << started.err();
  EXPECT_FALSE(started.has_ended());
  ::close(reader);
  EXPECT_EQ(started.wait(), killed_by(SIGPIPE)) << started.err();
  EXPECT_THAT(locks_.waiters("job"), IsEmpty());
}

TEST_F(command_hold, ends_with_its_input_and_releases) {
  const auto result = finish(rowlock({"hold", "job"}));
  EXPECT_EQ(result.end, exited(0)) << result;
  EXPECT_THAT(result.out, MatchesRegex("[0-9]+\n"));
  EXPECT_LT(std::stoll(result.out), database_.row("job").value().version) << "the token, which the release made stale";
  EXPECT_THAT(result.err, IsEmpty());
  EXPECT_TRUE(is_free("job"));
  auto with_words = rowlock({"hold", "job"});
  with_words.input = std::string(100000, 'x');
  EXPECT_EQ(finish(with_words).end, exited(0)) << "what is written there means nothing";
}

TEST_F(command_hold, without_an_input_ends_at_once) {
  auto how = rowlock({"hold", "job"});
  how.before_exec = [] { ::close(STDIN_FILENO); };
  const auto result = finish(how);
  EXPECT_EQ(result.end, exited(0)) << result;
  EXPECT_THAT(result.out, MatchesRegex("[0-9]+\n"));
  EXPECT_TRUE(is_free("job"));
}

TEST_F(command_hold, without_an_output_takes_nothing) {
  const auto held = locks_.acquire("job");
  auto how = rowlock({"hold", "job"});
  how.before_exec = [] { ::close(STDOUT_FILENO); };
  EXPECT_TRUE(refused(finish(how), 74)) << "nobody could read the token";
}

TEST_F(command_hold, ends_in_order_at_a_signal) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    program started = holding();
    ASSERT_TRUE(eventually([&] { return !started.out().empty(); })) << started.err();
    EXPECT_FALSE(is_free("job"));
    started.signal(number);
    EXPECT_EQ(started.wait(), exited(0)) << started.err();
    EXPECT_TRUE(is_free("job"));
  }
}

TEST_F(command_hold, says_that_the_lock_was_lost) {
  program started = holding({"--lease", "1s"});
  ASSERT_TRUE(eventually([&] { return !started.out().empty(); })) << started.err();
  database_.vacate("job");
  EXPECT_EQ(started.wait(), exited(70));
  EXPECT_THAT(started.err(), HasSubstr("lost the lock \"job\""));
}

TEST_F(command_hold, waits_and_is_refused_as_a_run_is) {
  const auto held = locks_.acquire("job");
  EXPECT_TRUE(refused(finish(rowlock({"hold", "-n", "job"})), 75));
  EXPECT_TRUE(refused(finish(rowlock({"hold", "-n", "-E", "3", "job"})), 3));
  EXPECT_TRUE(refused(finish(rowlock({"hold", "job", "true"})), 64)) << "it takes no command";
  EXPECT_TRUE(refused(finish(rowlock({"hold", "job", "--", "true"})), 64));
}

}  // namespace
}  // namespace rowlock::test
