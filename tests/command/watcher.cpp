#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

#include "process/roles.hpp"

namespace rowlock::test {
namespace {

constexpr std::array watched{SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGTERM, SIGCONT, SIGWINCH};

/// watcher [SIGNAL…]: a command that says its process id, and then every signal that it gets and whether the kernel
/// (for a terminal) or a process sent it. One that is named in its arguments ends it, with status 40.
int watch(const std::vector<std::string>& arguments) {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : watched) {
    ::signal(number, SIG_DFL);
    sigaddset(&set, number);
  }
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  say("started " + std::to_string(::getpid()));
  for (;;) {
    siginfo_t info{};
    const int number = ::sigwaitinfo(&set, &info);
    if (number < 0) continue;
    const auto text = std::to_string(number);
    say("got " + text + (info.si_code == SI_KERNEL ? " from the kernel" : " from a process"));
    if (std::find(arguments.begin(), arguments.end(), text) != arguments.end()) return 40;
  }
}

const role_registration watcher_role{"watcher", watch};

}  // namespace
}  // namespace rowlock::test
