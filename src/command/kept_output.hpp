#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "command/job.hpp"
#include "command/signals.hpp"

namespace rowlock::command {

/// Passes on what a command writes to standard output and standard error, and keeps the end of it.
class kept_output {
 public:
  kept_output();
  kept_output(const kept_output&) = delete;
  kept_output& operator=(const kept_output&) = delete;
  ~kept_output();

  /// For the command.
  job::outputs ends() const noexcept;

  /// Passes on what is written from now on, in a thread.
  void begin();
  /// Returns the last KiB that was written since begin(), when all of it has been passed on.
  std::string end();

 private:
  /// A pipe from the command to a descriptor of this process.
  struct passage {
    descriptor out;
    descriptor in;
    int to;
  };
  static passage passage_to(int number);
  void pass_on();
  bool pass_on_from(passage& each);
  void write(passage& to, std::string_view text);

  std::array<passage, 2> passages_;
  const bell over_{};
  std::optional<std::chrono::steady_clock::time_point> gives_up_{};  ///< once it is over
  std::string kept_{};
  std::thread worker_{};
};

}  // namespace rowlock::command
