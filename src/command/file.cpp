#include "command/file.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "command/signals.hpp"

namespace rowlock::command {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, int code) {
  throw not_written{"cannot write \"" + path + "\": " + std::generic_category().message(code)};
}

/// Whatever a symbolic link leads to. A device or a pipe must not be replaced by a file.
std::string target_of(const std::string& path) {
  std::error_code code;
  const auto status = fs::status(path, code);
  if (!fs::exists(status)) return path;
  if (fs::is_directory(status)) fail(path, EISDIR);
  if (!fs::is_regular_file(status)) throw not_written{'"' + path + "\" is no file; leave out --output"};
  const auto target = fs::canonical(path, code);
  if (code) fail(path, code.value());
  return target.string();
}

/// Gone when this object goes, unless it was moved to its place.
class draft {
 public:
  explicit draft(const std::string& target) : target_{target} {
    const auto stem = target + '.' + std::to_string(::getpid()) + '.';
    for (int i = 0; !file_; ++i) {
      path_ = stem + std::to_string(i);
      file_ = descriptor{::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644)};
      if (!file_ && errno != EEXIST) fail(target, errno);
    }
  }
  draft(const draft&) = delete;
  draft& operator=(const draft&) = delete;
  ~draft() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }

  void write(std::string_view text) const {
    while (!text.empty()) {
      const auto size = ::write(file_.number(), text.data(), text.size());
      if (size < 0 && errno != EINTR) fail(target_, errno);
      if (size > 0) text.remove_prefix(static_cast<std::size_t>(size));
    }
  }

  void move_to_place() {
    if (::rename(path_.c_str(), target_.c_str()) != 0) fail(target_, errno);
    path_.clear();
  }

 private:
  std::string target_;
  std::string path_{};
  descriptor file_{};
};

}  // namespace

void replace_file(const std::string& path, std::string_view text) {
  draft next{target_of(path)};
  next.write(text);
  next.move_to_place();
}

}  // namespace rowlock::command
