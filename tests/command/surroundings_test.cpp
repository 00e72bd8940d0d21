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
};

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
