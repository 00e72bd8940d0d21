#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <string>
#include <vector>

#include "command/command.hpp"

// What a limit of the process's resources (ulimit) does to rowlock: the command ends, and so does the lock. What a
// limit from the beginning on does: transcripts/surroundings.txt.

namespace rowlock::test {
namespace {

void limit(pid_t pid, __rlimit_resource what, rlim_t soft) {
  rlimit both{};
  ASSERT_EQ(::prlimit(pid, what, nullptr, &both), 0);
  both.rlim_cur = soft;
  ASSERT_EQ(::prlimit(pid, what, &both, nullptr), 0);
}

class command_limits : public command {
 protected:
  /// Room for messages, and for no page of the database.
  static constexpr rlim_t one_page = 4096;

  /// Signals that it need not pass on take it some processor time, a second in all. It has to share the processors.
  static std::optional<ending> worn_out(program& started) {
    limit(started.pid(), RLIMIT_CPU, 1);
    for (const stopwatch watch; !started.has_ended() && watch.elapsed() < 4 * patience;)
      for (int i = 0; i < 1000; ++i) started.signal(SIGCHLD);
    return started.wait();
  }
};

TEST_F(command_limits, of_the_size_of_files_end_the_command_with_the_lock) {
  watched_run started{*this, {"--lease", "3s"}};
  limit(started.pid(), RLIMIT_FSIZE, one_page);
  EXPECT_EQ(started.wait(), exited(70)) << started.err();
  EXPECT_EQ(occurrences(started.out(), "got 15 "), 1);
}

TEST_F(command_limits, of_processor_time_end_the_command_and_release_the_lock) {
  for (const auto& verb : {words{"run"}, words{"lead", "--restart"}}) {
    program started{rowlock(verb + words{"--lease", "1h", "job", "--"} + watcher({"15"}))};
    ASSERT_TRUE(started.says("started"));
    EXPECT_EQ(worn_out(started), exited(40)) << started.err();
    EXPECT_EQ(occurrences(started.err(), "rowlock has used up its processor time (ulimit -t); ending the command\n"),
              1);
    EXPECT_TRUE(is_vacant());
  }
}

TEST_F(command_limits, of_processor_time_end_a_wait_and_a_hold_in_order) {
  const auto input = file("input").string();
  ASSERT_EQ(finish({.words = {"mkfifo", input}}).end, exited(0));
  program holder{{.words = words{"sh", "-c", R"(exec 3<>"$0"; exec "$@" <&3)", input} +
                           rowlock({"hold", "--lease", "1h", "job"}).words}};
  ASSERT_TRUE(eventually([&] { return !holder.out().empty(); })) << holder.err();
  program waiting{run({"--", "true"})};
  ASSERT_TRUE(eventually([&] { return is_queued(waiting.pid()); })) << waiting.err();
  EXPECT_EQ(worn_out(waiting), killed_by(SIGXCPU));
  EXPECT_TRUE(locks_.waiters("job").empty());
  EXPECT_EQ(worn_out(holder), exited(0)) << holder.err();
  EXPECT_TRUE(is_free("job"));
}

}  // namespace
}  // namespace rowlock::test
