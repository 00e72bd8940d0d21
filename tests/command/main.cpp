#include <signal.h>
#include <sys/prctl.h>

#include <string>
#include <string_view>
#include <vector>

#include "command/command.hpp"
#include "process/roles.hpp"
#include "support/program.hpp"
#include "support/test_main.hpp"
#include "testkit/child_process.hpp"

int main(int argc, char** argv) {
  const auto arguments = [&] { return std::vector<std::string>(argv + 3, argv + argc); };
  rowlock::test::reset_signals();  // a shell lets what is in its background ignore some
  if (const auto role = rowlock::test::role_of(argc, argv)) return rowlock::test::play(*role, arguments());
  if (argc >= 3 && std::string_view{argv[1]} == "--command")
    return rowlock::test::play_for_stranger(argv[2], arguments());
  ::signal(SIGPIPE, SIG_IGN);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // whatever a test leaves behind is ours to end
  rowlock::test::add_transcripts();
  return rowlock::test::run_all_tests(argc, argv);
}
