#include "command/question.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace rowlock::command {

namespace {

int open_terminal() {
  const bool is_watched = ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
  return is_watched ? ::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC) : -1;
}

/// Without its end.
std::string line_from(int device) {
  std::string line;
  char c = 0;
  for (;;) {
    const auto size = ::read(device, &c, 1);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0 || c == '\n') return line;
    line += c;
  }
}

}  // namespace

terminal::terminal() : device_{open_terminal()} {}

void terminal::show(const std::string& text) const {
  for (std::string_view rest = text; !rest.empty();) {
    const auto size = ::write(device_.number(), rest.data(), rest.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return;
    rest.remove_prefix(static_cast<std::size_t>(size));
  }
}

bool terminal::agrees(const std::string& question) const {
  show(question + " [y/N] ");
  const auto answer = line_from(device_.number());
  return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace rowlock::command
