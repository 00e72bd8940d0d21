#include "page_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "testkit/file_descriptor.hpp"

namespace flash_sale {
namespace {

namespace test = rowlock::test;
namespace fs = std::filesystem;

[[noreturn]] void refuse_file(const std::string& file, const char* why) {
  throw std::runtime_error{fmt::format("{}: {}", file, why)};
}

fs::path folder_of(const std::string& file) {
  const auto parent = fs::path{file}.parent_path();
  return parent.empty() ? fs::path{"."} : parent;
}

/// A new file beside the one that is to be replaced. Removed with this object, unless it took that one's place.
class file_beside {
 public:
  explicit file_beside(const std::string& file)
      : target_{file}, name_{file + ".XXXXXX"}, descriptor_{::mkostemp(name_.data(), O_CLOEXEC)} {
    if (descriptor_.get() < 0) refuse_file(target_, std::strerror(errno));
  }
  file_beside(const file_beside&) = delete;
  file_beside& operator=(const file_beside&) = delete;
  ~file_beside() {
    if (!is_in_place_) ::unlink(name_.c_str());
  }

  void write(std::string_view content) {
    while (!content.empty()) {
      const auto count = ::write(descriptor_.get(), content.data(), content.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) refuse_file(target_, std::strerror(errno));
      content.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  void move_in_place() {
    const auto mask = ::umask(0);
    ::umask(mask);
    const bool is_done = ::fchmod(descriptor_.get(), 0666 & ~mask) == 0 && ::fsync(descriptor_.get()) == 0 &&
                         ::rename(name_.c_str(), target_.c_str()) == 0;
    if (!is_done) refuse_file(target_, std::strerror(errno));
    is_in_place_ = true;
  }

 private:
  std::string target_;
  std::string name_;
  test::file_descriptor descriptor_;
  bool is_in_place_ = false;
};

}  // namespace

void check_page_file(const std::string& file) {
  std::error_code ignored;
  const auto folder = folder_of(file);
  const auto there = fs::status(file, ignored);
  if (!fs::is_directory(folder, ignored)) refuse_file(file, "its folder does not exist");
  if (fs::exists(there) && !fs::is_regular_file(there)) refuse_file(file, "is no regular file");
  if (::access(folder.c_str(), W_OK) != 0) refuse_file(file, "its folder is not writable");
}

void replace_page_file(const std::string& file, std::string_view content) {
  file_beside fresh{file};
  fresh.write(content);
  fresh.move_in_place();
}

}  // namespace flash_sale
