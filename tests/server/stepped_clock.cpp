#include "server/stepped_clock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace rowlock::test {

namespace {

// In one write of eight bytes, which no reader sees half done.
void store(const std::filesystem::path& file, std::int64_t seconds) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  const bool is_done = descriptor >= 0 && ::pwrite(descriptor, &seconds, sizeof seconds, 0) == sizeof seconds;
  ::close(descriptor);
  if (!is_done) throw std::system_error{errno, std::generic_category(), file.string()};
}

std::int64_t load(const std::filesystem::path& file) {
  std::int64_t out = 0;
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  const bool is_done = descriptor >= 0 && ::pread(descriptor, &out, sizeof out, 0) == sizeof out;
  ::close(descriptor);
  if (!is_done) throw std::system_error{errno, std::generic_category(), file.string()};
  return out;
}

}  // namespace

// A copy, because the server is another user's, who may not enter the folder of the build.
stepped_clock::stepped_clock() : library_{folder_ / "clock.so"}, file_{folder_ / "seconds"} {
  namespace fs = std::filesystem;
  fs::permissions(folder_.path(), fs::perms{0755});
  fs::copy_file(ROWLOCK_STEPPED_CLOCK_LIBRARY, library_);
  fs::permissions(library_, fs::perms{0755});
  store(file_, 0);
  fs::permissions(file_, fs::perms{0644});
}

void stepped_clock::step(std::chrono::seconds by) { store(file_, load(file_) + by.count()); }

std::vector<std::string> stepped_clock::environment() const {
  return {"LD_PRELOAD=" + library_.string(), "ROWLOCK_STEPPED_CLOCK=" + file_.string()};
}

}  // namespace rowlock::test
