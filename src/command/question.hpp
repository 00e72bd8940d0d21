#pragma once

#include <unistd.h>

#include <fstream>
#include <string>

#include "command/options.hpp"

namespace rowlock::command {

/// Asks a person on the terminal, which is a file of its own: the output of the program may be redirected. With --yes
/// it does not ask.
class question {
 public:
  /// `why`: "release asks before it frees a lock". Throws usage_error if there is no person to ask.
  question(const options& given, const std::string& why) : is_confirmed_{given.is_confirmed} {
    const bool has_person = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1 && in_ && out_;
    if (!is_confirmed_ && !has_person)
      throw usage_error{why + ", and there is no terminal to ask on; in a script, give --yes"};
  }

  /// An empty line and the end of the input are a no.
  bool agrees(const std::string& text) {
    if (is_confirmed_) return true;
    out_ << text << " [y/N] " << std::flush;
    std::string answer;
    std::getline(in_, answer);
    return answer == "y" || answer == "Y" || answer == "yes";
  }

 private:
  bool is_confirmed_;
  std::ifstream in_{"/dev/tty"};
  std::ofstream out_{"/dev/tty"};
};

}  // namespace rowlock::command
