#include "driver/sqlite/liveness_files.hpp"

#include <rowlock/error.hpp>

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <random>
#include <system_error>
#include <utility>

namespace rowlock::inline v1::driver {

namespace {

constexpr std::string_view digits = "0123456789abcdef";
constexpr std::size_t digit_count = 32;
constexpr std::string_view unfinished = ".new-";  // no prefix begins with this

// Guards everything that changes in all objects. A fork waits for it, so that every open file is recorded, and no
// operation is half done in the child.
constinit std::mutex mutex;
constinit liveness_files* first = nullptr;

std::string unique_name(std::string_view prefix) {
  std::random_device device;
  std::string out{prefix};
  for (std::size_t i = 0; i < digit_count; ++i) out.push_back(digits[device() % digits.size()]);
  return out;
}

// Compares exactly: the prefix of other tables may begin with this one.
bool is_unique_name(std::string_view name, std::string_view prefix) noexcept {
  return name.size() == prefix.size() + digit_count && name.starts_with(prefix) &&
         name.find_first_not_of(digits, prefix.size()) == std::string_view::npos;
}

// Locks of the open file, not of the process: another client of the same process can test them, and closing another
// descriptor of the file releases none of them.
struct flock whole_file() noexcept {
  struct flock out {};
  out.l_type = F_WRLCK;
  out.l_whence = SEEK_SET;
  return out;
}

bool is_linked(int descriptor) noexcept {
  struct stat about {};
  return fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) && about.st_nlink > 0;
}

// In this order: a client that makes a removed file anew closes the old one, which then has no name any more.
bool is_free(int descriptor) noexcept {
  struct flock asked = whole_file();
  return fcntl(descriptor, F_OFD_GETLK, &asked) == 0 && asked.l_type == F_UNLCK && is_linked(descriptor);
}

bool is_abandoned(const std::filesystem::path& file) noexcept {
  // If it is not a regular file, open() must not wait.
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) return false;
  const bool out = is_free(descriptor);
  close(descriptor);
  return out;
}

// Answers the descriptor, or -1 and errno if the file cannot be made.
int make_locked(const std::filesystem::path& file, const std::filesystem::path& before) noexcept {
  const int descriptor = open(before.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (descriptor < 0) return -1;
  struct flock wanted = whole_file();
  if (fcntl(descriptor, F_OFD_SETLK, &wanted) == 0 && std::rename(before.c_str(), file.c_str()) == 0) return descriptor;
  const int failure = errno;
  unlink(before.c_str());
  close(descriptor);
  errno = failure;
  return -1;
}

[[noreturn]] void fail(const std::filesystem::path& file, int failure) {
  const bool is_about_permission = failure == EACCES || failure == EPERM || failure == EROFS;
  throw error{is_about_permission ? errc::permission_denied : errc::database_error,
              "the file " + file.string() + ", which shows other clients that this one is alive, cannot be created: " +
                  std::generic_category().message(failure) +
                  (is_about_permission ? "; give this user write permission in the folder of the SQLite file" : "")};
}

int make_in(const std::filesystem::path& folder, const std::string& name) {
  constexpr int attempts = 10;
  const auto file = folder / name;
  for (int i = 0; i < attempts; ++i) {
    const int descriptor = make_locked(file, folder / unique_name(unfinished));
    if (descriptor >= 0) return descriptor;
    // There is no folder yet, or another client has just removed the folder or the unfinished file.
    if (errno != ENOENT || (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST)) fail(file, errno);
  }
  fail(file, ENOENT);
}

}  // namespace

const int liveness_files::registered = pthread_atfork([] { mutex.lock(); }, [] { mutex.unlock(); }, in_child);

// The child shares a lock while it has the descriptor open, and the lock would outlive its holder.
void liveness_files::in_child() noexcept {
  for (auto* each = first; each != nullptr; each = each->next_) {
    each->close_own();
    each->is_foreign_ = true;
  }
  first = nullptr;  // some may be on the stacks of threads that do not exist here
  mutex.unlock();
}

liveness_files::liveness_files(std::filesystem::path folder, std::string prefix)
    : folder_{std::move(folder)}, prefix_{std::move(prefix)} {
  const std::lock_guard lock{mutex};
  next_ = std::exchange(first, this);
}

liveness_files::~liveness_files() {
  const std::lock_guard lock{mutex};
  if (is_foreign_) return;
  auto** at = &first;
  while (*at != this) at = &(*at)->next_;
  *at = next_;
  close_own();
}

void liveness_files::close_own() noexcept {
  if (descriptor_ >= 0) close(std::exchange(descriptor_, -1));
}

std::string liveness_files::own() {
  const std::lock_guard lock{mutex};
  if (is_foreign_)
    throw error{errc::used_after_fork,
                "this rowlock client belongs to the parent process; connect a new one in the child"};
  if (descriptor_ >= 0 && is_linked(descriptor_)) return name_;
  if (name_.empty()) name_ = unique_name(prefix_);
  const int made = make_in(folder_, name_);
  close_own();
  descriptor_ = made;
  return name_;
}

bool liveness_files::is_alive(std::string_view name) const noexcept {
  return !is_unique_name(name, prefix_) || !is_abandoned(folder_ / name);
}

std::vector<std::string> liveness_files::dead() const {
  std::vector<std::string> out;
  std::error_code failure;
  for (std::filesystem::directory_iterator at{folder_, failure}, end; !failure && at != end; at.increment(failure)) {
    auto name = at->path().filename().string();
    const bool is_ours = is_unique_name(name, prefix_);
    if ((!is_ours && !is_unique_name(name, unfinished)) || !is_abandoned(at->path())) continue;
    if (is_ours)
      out.push_back(std::move(name));
    else
      unlink(at->path().c_str());
  }
  return out;
}

void liveness_files::abandon() noexcept {
  const std::lock_guard lock{mutex};
  if (is_foreign_) return;
  close_own();
  name_.clear();
}

void liveness_files::remove(const std::string& name) noexcept {
  if (!is_unique_name(name, prefix_)) return;
  const auto file = folder_ / name;
  {
    const std::lock_guard lock{mutex};
    if (is_foreign_ || (unlink(file.c_str()) != 0 && errno != ENOENT)) return;
    if (name == name_) {
      close_own();
      name_.clear();
    }
  }
  rmdir(folder_.c_str());
}

}  // namespace rowlock::inline v1::driver
