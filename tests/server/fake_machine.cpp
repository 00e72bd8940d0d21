#include "server/fake_machine.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace rowlock::test {

// The library is copied, because the server is another user's, who may not enter the folder of the build.
fake_machine::fake_machine() : library_{folder_ / "machine.so"}, file_{folder_ / "state"} {
  namespace fs = std::filesystem;
  fs::permissions(folder_.path(), fs::perms{0755});
  fs::copy_file(ROWLOCK_FAKE_MACHINE_LIBRARY, library_);
  fs::permissions(library_, fs::perms{0755});
  step({});
  make_room();
  fs::permissions(file_, fs::perms{0644});
}

void fake_machine::step(std::chrono::seconds by) { set(seconds_ahead, seconds_ += by.count()); }

std::vector<std::string> fake_machine::environment(const std::filesystem::path& disk) const {
  return {"LD_PRELOAD=" + library_.string(), "ROWLOCK_FAKE_MACHINE=" + file_.string(),
          "ROWLOCK_FAKE_DISK=" + disk.string()};
}

// In one write of eight bytes, which no reader sees half done.
void fake_machine::set(entry which, std::int64_t value) {
  const int descriptor = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  const auto at = static_cast<off_t>(which * sizeof value);
  const bool is_done = descriptor >= 0 && ::pwrite(descriptor, &value, sizeof value, at) == sizeof value;
  ::close(descriptor);
  if (!is_done) throw std::system_error{errno, std::generic_category(), file_.string()};
}

}  // namespace rowlock::test
