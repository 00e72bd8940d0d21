#include <signal.h>

#include <string>
#include <vector>

#include "process/roles.hpp"
#include "support/test_main.hpp"
#include "testkit/child_process.hpp"

// ThreadSanitizer ends a child that starts a thread after a fork of many, which is what is tested here.
extern "C" const char* __tsan_default_options();                                // NOLINT
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }  // NOLINT

int main(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);
  if (const auto role = rowlock::test::role_of(argc, argv))
    return rowlock::test::play(*role, std::vector<std::string>(argv + 3, argv + argc));
  return rowlock::test::run_all_tests(argc, argv);
}
