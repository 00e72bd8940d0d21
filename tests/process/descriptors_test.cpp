#include <sys/resource.h>

#include <iterator>

#include "process/process_test.hpp"

namespace rowlock::test {
namespace {

void allow_descriptors(rlim_t number) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = number;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

rlim_t used_descriptors() {
  const std::filesystem::directory_iterator all{"/proc/self/fd"};
  return static_cast<rlim_t>(std::distance(begin(all), end(all)));
}

/// frugal URL: connects with one descriptor more each time until it can. Says what every failure before was.
int connect_frugally(const std::vector<std::string>& arguments) {
  const auto used = used_descriptors();
  for (rlim_t more = 0; more < 40; ++more) {
    allow_descriptors(used + more);
    try {
      auto locks = connect_patiently(arguments.at(0));
      allow_descriptors(256);
      say("connected");
      return 0;
    } catch (const error& e) {
      say("error");
    } catch (const std::exception& e) {
      say(std::string{"something else: "} + e.what());
    }
  }
  return 1;
}

const role_registration frugal_role{"frugal", connect_frugally};

class few_descriptors : public process_test {};
ROWLOCK_SUITE_ON_EACH_DATABASE(few_descriptors);

TEST_P(few_descriptors, make_connecting_fail_with_an_error_of_this_librarys) {
  child_process program{"frugal", {db().url()}};
  int failures = 0;
  for (auto line = program.read_line(); line != "connected"; line = program.read_line(), ++failures)
    ASSERT_EQ(line, "error");
  EXPECT_GT(failures, 0);
  EXPECT_EQ(program.wait(), 0);
}

}  // namespace
}  // namespace rowlock::test
