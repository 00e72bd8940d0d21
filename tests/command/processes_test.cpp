#include "command/job.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "testkit/child.hpp"
#include "testkit/file_descriptor.hpp"

namespace rowlock::test {
namespace {

TEST(command_processes, are_read_from_their_files) {
  const auto self = rowlock::command::process_in("/proc/self/stat").value();
  EXPECT_EQ(self.id, ::getpid());
  EXPECT_EQ(self.parent, ::getppid());
  EXPECT_EQ(self.group, ::getpgrp());
  EXPECT_EQ(self.session, ::getsid(0));
}

TEST(command_processes, that_end_between_the_opening_of_their_file_and_the_reading_are_none) {
  child one{::fork()};
  if (one.pid() == 0) ::pause();
  const auto path = "/proc/" + std::to_string(one.pid()) + "/stat";
  const file_descriptor opened{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  const auto opened_before = "/proc/self/fd/" + std::to_string(opened.get());
  EXPECT_EQ(rowlock::command::process_in(opened_before).value().id, one.pid());
  one.kill();
  EXPECT_FALSE(rowlock::command::process_in(opened_before).has_value());
}

}  // namespace
}  // namespace rowlock::test
