#include <signal.h>

#include <string>
#include <string_view>
#include <vector>

#include "process/roles.hpp"
#include "support/test_main.hpp"

// ThreadSanitizer ends a child that starts a thread after a fork of many, which is what is tested here.
extern "C" const char* __tsan_default_options();                                // NOLINT
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }  // NOLINT

int main(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);
  if (argc >= 3 && std::string_view{argv[1]} == "--role")
    return rowlock::test::play(argv[2], std::vector<std::string>(argv + 3, argv + argc));
  return rowlock::test::run_all_tests(argc, argv);
}
