#include "command/processes.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

namespace rowlock::command {

namespace {

namespace fs = std::filesystem;

bool is_number(const std::string& name) {
  return std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// From "12 (name) S 1 12 12 …"; a name may have any character. nullopt: it has ended.
std::optional<process> parsed(const std::string& stat) {
  const auto open = stat.find('(');
  const auto close = stat.rfind(')');
  if (open == std::string::npos || close == std::string::npos) return std::nullopt;
  process out{.name = stat.substr(open + 1, close - open - 1)};
  char state = 'X';
  std::istringstream{stat} >> out.id;
  std::istringstream{stat.substr(close + 1)} >> state >> out.parent >> out.group >> out.session;
  return state == 'Z' || state == 'X' ? std::nullopt : std::optional{out};
}

std::vector<process> all_processes() {
  std::vector<process> out;
  std::error_code failure;
  for (fs::directory_iterator each{"/proc", failure}; !failure && each != fs::directory_iterator{};
       each.increment(failure)) {
    if (!is_number(each->path().filename().string())) continue;
    if (auto one = process_in(each->path() / "stat")) out.push_back(std::move(*one));
  }
  return out;
}

}  // namespace

// The file of a process that ends can be opened, and not be read any more: getline() has nothing then, where the buffer
// of the stream itself would throw.
std::optional<process> process_in(const fs::path& stat) {
  std::ifstream file{stat};
  std::string text;
  std::getline(file, text, '\0');
  return parsed(text);
}

std::vector<process> descendants(const std::function<bool(const process&)>& is_left_out) {
  const auto all = all_processes();
  std::vector<process> out;
  const auto add_children_of = [&](pid_t parent) {
    std::copy_if(all.begin(), all.end(), std::back_inserter(out),
                 [&](const process& each) { return each.parent == parent && !is_left_out(each); });
  };
  add_children_of(::getpid());
  for (std::size_t next = 0; next < out.size();) add_children_of(out[next++].id);
  return out;
}

}  // namespace rowlock::command
