#pragma once

#include <unistd.h>

#include <fstream>
#include <string>

namespace rowlock::command {

/// The terminal, as a file of its own: the output of the program may be redirected.
class terminal {
 public:
  bool has_person() const { return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1 && in_ && out_; }
  std::ostream& out() { return out_; }

  /// An empty line and the end of the input are a no.
  bool agrees(const std::string& question) {
    out_ << question << " [y/N] " << std::flush;
    std::string answer;
    std::getline(in_, answer);
    return answer == "y" || answer == "Y" || answer == "yes";
  }

 private:
  std::ifstream in_{"/dev/tty"};
  std::ofstream out_{"/dev/tty"};
};

}  // namespace rowlock::command
