#pragma once

#include <string>

#include "command/signals.hpp"

namespace rowlock::command {

/// The terminal, to ask whoever sits there. It is asked itself: what goes in and out of the program may be redirected.
class terminal {
 public:
  /// None where standard input or standard error is none.
  terminal();
  explicit operator bool() const noexcept { return static_cast<bool>(device_); }

  void show(const std::string& text) const;
  /// Whether the answer is yes. An empty line and the end of the input are a no.
  bool agrees(const std::string& question) const;

 private:
  descriptor device_;
};

}  // namespace rowlock::command
