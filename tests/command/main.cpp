#include <signal.h>
#include <sys/prctl.h>

#include <string>
#include <string_view>
#include <vector>

#include "process/roles.hpp"
#include "support/program.hpp"
#include "support/test_main.hpp"

int main(int argc, char** argv) {
  const auto arguments = [&] { return std::vector<std::string>(argv + 3, argv + argc); };
  rowlock::test::reset_signals();  // a shell lets what is in its background ignore some
  if (argc >= 3 && std::string_view{argv[1]} == "--role") return rowlock::test::play(argv[2], arguments());
  if (argc >= 3 && std::string_view{argv[1]} == "--command")
    return rowlock::test::play_for_stranger(argv[2], arguments());
  ::signal(SIGPIPE, SIG_IGN);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // whatever a test leaves behind is ours to end
  return rowlock::test::run_all_tests(argc, argv);
}
