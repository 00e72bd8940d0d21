#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "command/command.hpp"
#include "process/roles.hpp"

// What the command finds around itself: all that rowlock's caller gave to rowlock, two variables more, and nothing of
// rowlock's own.

namespace rowlock::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class command_surroundings : public command {
 protected:
  /// What a command says by itself, and what it says under rowlock.
  struct comparison {
    outcome alone{};
    outcome locked{};
  };

  comparison compare(const words& words_of_command, const std::function<void()>& before_exec = {}) const {
    auto alone = run({});
    alone.words = words_of_command;
    alone.before_exec = before_exec;
    auto locked = run(words{"--"} + words_of_command);
    locked.before_exec = before_exec;
    return {.alone = finish(alone), .locked = finish(locked)};
  }

  static void expect_same(const comparison& both) {
    EXPECT_EQ(both.alone.end, exited(0)) << both.alone;
    EXPECT_EQ(both.locked.end, exited(0)) << both.locked;
    EXPECT_EQ(both.alone.out, both.locked.out);
    EXPECT_EQ(both.alone.err, both.locked.err);
  }

  long token_of(const outcome& result) { return number_after(result.out, "token ").value_or(0); }
};

TEST_F(command_surroundings, standard_output_is_the_command_s_alone) {
  const auto result = finish(run({"--", "sh", "-c", "printf 'a\\0b'; echo oops >&2; printf c"}));
  EXPECT_EQ(result.end, exited(0)) << result;
  EXPECT_EQ(result.out, std::string("a\0bc", 4));
  EXPECT_EQ(result.err, "oops\n");
}

TEST_F(command_surroundings, standard_input_is_the_command_s) {
  auto how = run({"--", "cat"});
  how.input = std::string(200'000, 'x') + "\nthe end";
  EXPECT_EQ(finish(how).out, how.input);
}

TEST_F(command_surroundings, none_of_its_input_is_read_on_the_way) {
  auto how = rowlock({});
  how.words = {"sh", "-c", R"("$0" --database "$1" run job -- head -c 4 >/dev/null; cat)", path(), database_.url()};
  how.input = "one\ntwo\n";
  EXPECT_EQ(finish(how).out, "two\n");
}

TEST_F(command_surroundings, it_may_stand_in_a_pipeline) {
  auto how = rowlock({});
  how.words = {"sh", "-c", R"(printf 'b\na\n' | "$0" --database "$1" run job -- sort | tr a-z A-Z)", path(),
               database_.url()};
  const auto result = finish(how);
  EXPECT_EQ(result.end, exited(0)) << result;
  EXPECT_EQ(result.out, "A\nB\n");
  EXPECT_THAT(result.err, IsEmpty());
}

TEST_F(command_surroundings, a_pipeline_whose_reader_leaves_ends) {
  auto how = rowlock({});
  how.words = {"sh", "-c", R"("$0" --database "$1" run job -- yes | head -n 1)", path(), database_.url()};
  const auto result = finish(how);
  EXPECT_EQ(result.end, exited(0)) << result;
  EXPECT_EQ(result.out, "y\n");
  EXPECT_TRUE(eventually([&] { return is_vacant(); }));
}

TEST_F(command_surroundings, two_lots_of_it_may_be_nested) {
  const words inner{path(), "--database", database_.url(), "run", "--wait", "0"};
  const auto two = finish(run(words{"--"} + inner + words{"other", "--", "sh", "-c", "echo $ROWLOCK_NAME"}));
  EXPECT_EQ(two.end, exited(0)) << two;
  EXPECT_EQ(two.out, "other\n");
  EXPECT_TRUE(refused(finish(run(words{"--"} + inner + words{"job", "--", "true"})), 75)) << "not reentrant";
}

TEST_F(command_surroundings, a_nested_one_does_not_wait_for_itself) {
  for (const auto* wait : {"--wait=1h", "--verbose"}) {
    const words inner{path(), "--database", database_.url(), "run", wait};
    const words end{"--", "true"};
    EXPECT_EQ(finish(run(words{"--"} + inner + words{"job"} + end)).end, exited(64)) << wait;
    const auto result = finish(run(words{"--also", "more", "--"} + inner + words{"more"} + end));
    EXPECT_EQ(result.end, exited(64)) << "one of those that are held together: " << result;
    EXPECT_THAT(result.err, HasSubstr("\"more\" is held by the rowlock that runs this command"));
    EXPECT_EQ(finish(run(words{"--shared", "--"} + inner + words{"job"} + end)).end, exited(64)) << "shared";
    EXPECT_EQ(finish(run(words{"--shared", "--"} + inner + words{"--shared", "job"} + end)).end, exited(0)) << wait;
    EXPECT_EQ(finish(run(words{"--"} + inner + words{"other"} + end)).end, exited(0)) << wait;
  }
  const words hold{path(), "--database", database_.url(), "hold", "job"};
  EXPECT_EQ(finish(run(words{"--"} + hold)).end, exited(64));
}

TEST_F(command_surroundings, a_name_in_the_environment_that_is_not_held_any_more_keeps_nobody_out) {
  auto how = run({"--", "true"});
  how.environment = how.environment + words{"ROWLOCK_NAME=job", "ROWLOCK_TOKEN=1"};
  EXPECT_EQ(finish(how).end, exited(0));
  auto held = locks_.acquire("job");
  program waiting{how};
  ASSERT_TRUE(eventually([&] { return is_queued(waiting.pid()); })) << waiting.err();
  held.release();
  EXPECT_EQ(waiting.wait(), exited(0)) << waiting.err();
}

TEST_F(command_surroundings, name_and_token_are_in_the_environment) {
  program started{run(words{"--", "sh", "-c", "echo name $ROWLOCK_NAME; echo token $ROWLOCK_TOKEN; exec \"$@\"", "sh"} +
                      watcher({"15"}))};
  ASSERT_TRUE(started.says("started"));
  EXPECT_THAT(started.out(), HasSubstr("name job\n"));
  EXPECT_EQ(number_after(started.out(), "token "), database_.row("job").value().version);
  started.signal(SIGTERM);
  EXPECT_EQ(started.wait(), exited(40));
}

TEST_F(command_surroundings, what_was_there_under_these_names_is_replaced) {
  auto how = run({"--", "env"});
  how.environment = how.environment + words{"ROWLOCK_NAME=stale", "ROWLOCK_TOKEN=1"};
  const auto result = finish(how);
  EXPECT_EQ(occurrences(result.out, "ROWLOCK_NAME="), 1);
  EXPECT_EQ(occurrences(result.out, "ROWLOCK_TOKEN="), 1);
  EXPECT_EQ(occurrences(result.out, "ROWLOCK_NAME=job\n"), 1);
}

TEST_F(command_surroundings, tokens_grow_from_run_to_run) {
  long last = 0;
  for (int i = 0; i < 5; ++i) {
    const auto token = token_of(finish(run({"--", "sh", "-c", "echo token $ROWLOCK_TOKEN"})));
    EXPECT_GT(token, last);
    last = token;
  }
  EXPECT_GT(locks_.acquire("job").token().value(), last);
}

TEST_F(command_surroundings, the_rest_of_the_environment_is_as_it_was) {
  expect_same(compare({"sh", "-c", "env | grep -v -e ^ROWLOCK_NAME= -e ^ROWLOCK_TOKEN= -e ^_= | sort"}));
}

TEST_F(command_surroundings, folder_and_umask_are_as_they_were) {
  const auto folder = folder_.path().string();
  expect_same(compare({"sh", "-c", "pwd; umask; ulimit -a; nice"}, [&] {
    ::umask(0137);
    if (::chdir(folder.c_str()) != 0) ::_exit(99);
  }));
}

/// descriptors: says which are open.
int tell_descriptors(const std::vector<std::string>&) {
  std::vector<std::string> open;
  for (const auto& entry : fs::directory_iterator{"/proc/self/fd"}) open.push_back(entry.path().filename().string());
  std::sort(open.begin(), open.end(), [](const auto& a, const auto& b) { return std::stoi(a) < std::stoi(b); });
  for (const auto& each : open)
    if (std::error_code closed; fs::exists(fs::symlink_status("/proc/self/fd/" + each, closed)) && !closed) say(each);
  return 0;
}

const role_registration descriptors_role{"descriptors", tell_descriptors};

TEST_F(command_surroundings, it_gets_the_descriptors_of_the_caller_and_none_of_rowlock_s) {
  expect_same(compare({own_path(), "--command", "descriptors"}));
  const auto both = compare({own_path(), "--command", "descriptors"}, [] {
    if (::dup2(STDERR_FILENO, 9) < 0 || ::dup2(STDERR_FILENO, 30) < 0) ::_exit(99);
  });
  expect_same(both);
  EXPECT_THAT(both.locked.out, HasSubstr("9\n"));
  EXPECT_THAT(both.locked.out, HasSubstr("30\n"));
}

TEST_F(command_surroundings, a_passed_descriptor_can_be_written_to) {
  auto how = run({"--", "sh", "-c", "echo through nine >&9"});
  how.before_exec = [] {
    if (::dup2(STDERR_FILENO, 9) < 0) ::_exit(99);
  };
  EXPECT_EQ(finish(how).err, "through nine\n");
}

TEST_F(command_surroundings, closed_standard_descriptors_stay_closed) {
  for (const auto& closed : std::vector<std::vector<int>>{{0}, {1}, {2}, {0, 1}, {1, 2}, {0, 1, 2}}) {
    const auto output = file("descriptors");
    fs::remove(output);
    expect_same(compare({"sh", "-c", "\"$0\" --command descriptors >> \"$1\"", own_path(), output.string()}, [&] {
      for (const int each : closed) ::close(each);
    }));
    const auto both = contents_of(output);
    const auto alone = both.substr(0, both.size() / 2);
    EXPECT_THAT(alone, Not(IsEmpty()));
    EXPECT_EQ(both, alone + alone) << testing::PrintToString(closed);
  }
}

TEST_F(command_surroundings, signals_are_at_their_defaults) {
  expect_same(compare({"grep", "-E", "^Sig(Blk|Ign|Cgt|Pnd)", "/proc/self/status"}));
}

TEST_F(command_surroundings, ignored_and_blocked_signals_are_as_they_were) {
  const auto both = compare({"grep", "-E", "^Sig(Blk|Ign|Cgt)", "/proc/self/status"}, [] {
    for (const int number : {SIGHUP, SIGINT, SIGPIPE, SIGTSTP, SIGTTOU, SIGUSR2, SIGCONT}) ::signal(number, SIG_IGN);
    sigset_t some;
    sigemptyset(&some);
    for (const int number : {SIGTERM, SIGUSR1, SIGALRM, SIGQUIT}) sigaddset(&some, number);
    ::sigprocmask(SIG_BLOCK, &some, nullptr);
  });
  expect_same(both);
  EXPECT_EQ(both.locked.out.find("SigBlk:\t0000000000000000"), std::string::npos) << "the test blocked some";
}

}  // namespace
}  // namespace rowlock::test
