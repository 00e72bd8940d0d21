#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "testkit/temp_folder.hpp"

namespace rowlock::test {

/// Where a program runs that is started with its environment: the time of day can be stepped there, and the disk
/// filled. All of the program's processes see it at once.
class fake_machine {
 public:
  fake_machine();

  /// Back, where that is negative.
  void step(std::chrono::seconds by);
  /// Nothing can be written to a file behind its end.
  void fill_disk() { set(disk_is_full, 1); }
  void make_room() { set(disk_is_full, 0); }

  /// What the program is to have in its environment: "NAME=value". The disk is only what begins with that path.
  std::vector<std::string> environment(const std::filesystem::path& disk = "/") const;

 private:
  enum entry : std::uint8_t { seconds_ahead, disk_is_full };
  void set(entry which, std::int64_t value);

  temp_folder folder_;
  std::filesystem::path library_;
  std::filesystem::path file_;
  std::int64_t seconds_ = 0;
};

}  // namespace rowlock::test
