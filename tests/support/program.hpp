#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "testkit/child.hpp"
#include "testkit/temp_folder.hpp"

namespace rowlock::test {

/// How a program is started.
struct launch {
  std::vector<std::string> words{};        ///< the first is the program: a path, or a name for PATH
  std::vector<std::string> environment{};  ///< changes to this process's environment: "NAME=value" sets, "NAME" removes
  std::string input{};                     ///< all of its standard input
  std::function<void()> before_exec{};     ///< called last in the child; must be safe after a fork
};

/// A program in its own session, without a terminal, with default signal handling, and its output. The destructor kills
/// it. Throws std::system_error and std::runtime_error.
class program {
 public:
  explicit program(const launch& how);

  pid_t pid() const noexcept { return child_.pid(); }

  /// Its standard output and standard error so far.
  std::string out() const;
  std::string err() const;
  /// Waits until its standard output contains this.
  bool says(std::string_view text) const;

  void signal(int number) { child_.signal(number); }
  void pause() { child_.pause(); }
  void resume() { child_.resume(); }
  void kill() noexcept { child_.kill(); }
  bool has_ended() { return child_.has_ended(); }
  std::optional<ending> wait() { return child_.wait(); }

 private:
  temp_folder folder_;
  child child_;
};

/// Resets all signals of this process to their defaults, and unblocks them.
void reset_signals();

/// The path of the running program, for `launch::words`.
std::string own_path();

/// A copy of a program that a child of any user can start, wherever the program itself is.
class copy_for_everybody {
 public:
  explicit copy_for_everybody(const std::string& program);
  copy_for_everybody(const copy_for_everybody&) = delete;
  copy_for_everybody& operator=(const copy_for_everybody&) = delete;
  ~copy_for_everybody();

  const std::string& path() const noexcept { return path_; }

 private:
  int descriptor_ = -1;
  std::string path_;
};

std::string contents_of(const std::filesystem::path& file);
int occurrences(std::string_view text, std::string_view what);

/// The number between `word` and the end of its line; nullopt until the line is complete.
std::optional<long> number_after(std::string_view text, std::string_view word);

}  // namespace rowlock::test
