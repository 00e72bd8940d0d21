#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace rowlock::command {

/// A process, as /proc shows it.
struct process {
  pid_t id = -1;
  pid_t parent = -1;
  pid_t group = -1;
  pid_t session = -1;
  std::string name{};
};

/// As a file like /proc/12/stat shows it; nullopt: it has ended.
std::optional<process> process_in(const std::filesystem::path& stat);

/// All that descend from this process and have not ended, but for those that `is_left_out` and what descends from them.
std::vector<process> descendants(const std::function<bool(const process&)>& is_left_out);

}  // namespace rowlock::command
