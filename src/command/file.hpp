#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace rowlock::command {

/// A file that could not be written.
class not_written : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Puts that text in the file's place, as one step for whoever reads it. By a file beside it, which does not stay where
/// this fails. Its mode is 0644 less the umask. Throws not_written.
void replace_file(const std::string& path, std::string_view text);

}  // namespace rowlock::command
