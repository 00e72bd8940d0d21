#include "process/roles.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <utility>

namespace rowlock::test {

namespace {

std::map<std::string, role, std::less<>>& roles() {
  static std::map<std::string, role, std::less<>> all;
  return all;
}

}  // namespace

role_registration::role_registration(std::string_view name, role body) { roles().emplace(name, std::move(body)); }

int play(std::string_view name, const std::vector<std::string>& arguments) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  return play_for_stranger(name, arguments);
}

int play_for_stranger(std::string_view name, const std::vector<std::string>& arguments) {
  ::alarm(900);  // more than a round of tests/history
  const auto found = roles().find(name);
  if (found == roles().end()) return 99;
  try {
    return found->second(arguments);
  } catch (const std::exception& e) {
    std::cerr << "role " << name << ": " << e.what() << '\n';
    return 98;
  }
}

void say(std::string_view line) { std::cout << line << std::endl; }

std::string hear() {
  std::string line;
  std::getline(std::cin, line);
  return line;
}

void increment(const std::filesystem::path& file) {
  long value = 0;
  std::ifstream{file} >> value;
  std::ofstream{file} << value + 1;
}

std::uint32_t lasting_number() {
  static const auto out = std::random_device{}();
  return out;
}

std::int64_t shared_clock() {
  const auto since_boot = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(since_boot).count();
}

}  // namespace rowlock::test
