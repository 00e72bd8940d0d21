#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "testkit/temp_folder.hpp"

namespace rowlock::test {

/// The time of day of a server that is started with it, which can be stepped.
class stepped_clock {
 public:
  stepped_clock();

  /// Back, where that is negative. All of the server's processes see it at once.
  void step(std::chrono::seconds by);
  /// What a server is to have in its environment: "NAME=value".
  std::vector<std::string> environment() const;

 private:
  temp_folder folder_;
  std::filesystem::path library_;
  std::filesystem::path file_;
};

}  // namespace rowlock::test
