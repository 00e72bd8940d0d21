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
  std::vector<std::string> environment{};  ///< over this process's own: "NAME=value" sets, "NAME" takes away
  std::string input{};                     ///< its standard input, to the end
  std::function<void()> before_exec{};     ///< in the child, last; only what is safe after a fork
};

/// A program in a session of its own, without a terminal, with all signals at their defaults, and what it says.
/// Killed, where it still runs, when this object goes. Throws std::system_error and std::runtime_error.
class program {
 public:
  explicit program(const launch& how);

  pid_t pid() const noexcept { return child_.pid(); }

  /// Its standard output and standard error so far.
  std::string out() const;
  std::string err() const;
  /// Waits until its standard output has this.
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

/// All signals of this process at their defaults, and none blocked, whatever it was started with.
void reset_signals();

/// This very program, for `launch::words`.
std::string own_path();

/// A copy of a program that any user can start by this path, in a child, wherever the program itself lies.
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

/// The number between `word` and the end of its line; nullopt until both are there.
std::optional<long> number_after(std::string_view text, std::string_view word);

}  // namespace rowlock::test
