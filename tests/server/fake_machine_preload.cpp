// To be preloaded into a program: the time of day is as far off, and the disk as full, as the file says that
// ROWLOCK_FAKE_MACHINE names. Clocks that only run are left alone, and waits to a time of day last as long as they
// would last without a step. On a full disk, too, what was written already can be written anew.

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

struct machine_state {
  std::atomic<std::int64_t> seconds_ahead;
  std::atomic<std::int64_t> disk_is_full;
};

const machine_state& state() {
  static const auto* const shared = [] {
    const char* file = std::getenv("ROWLOCK_FAKE_MACHINE");
    const int descriptor = file == nullptr ? -1 : ::open(file, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) std::abort();
    void* mapped = ::mmap(nullptr, sizeof(machine_state), PROT_READ, MAP_SHARED, descriptor, 0);
    ::close(descriptor);
    if (mapped == MAP_FAILED) std::abort();
    return static_cast<const machine_state*>(mapped);
  }();
  return *shared;
}

bool is_on_disk(int descriptor) {
  static const char* const disk = std::getenv("ROWLOCK_FAKE_DISK");
  std::array<char, 32> link{};
  std::array<char, 4096> path{};
  std::snprintf(link.data(), link.size(), "/proc/self/fd/%d", descriptor);
  if (::readlink(link.data(), path.data(), path.size() - 1) < 0 || disk == nullptr) return false;
  return std::strncmp(path.data(), disk, std::strlen(disk)) == 0;
}

bool has_room(int descriptor, off_t offset, std::size_t size) {
  if (state().disk_is_full.load() == 0 || size == 0) return true;
  struct stat file {};
  if (::fstat(descriptor, &file) != 0 || !S_ISREG(file.st_mode)) return true;
  if (offset < 0) offset = ::lseek(descriptor, 0, SEEK_CUR);
  if (offset + static_cast<off_t>(size) <= file.st_size || !is_on_disk(descriptor)) return true;
  errno = ENOSPC;
  return false;
}

std::size_t size_of(const iovec* pieces, int count) {
  std::size_t out = 0;
  for (int i = 0; i < count; ++i) out += pieces[i].iov_len;
  return out;
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

int clock_gettime(clockid_t which, timespec* to) noexcept {
  const auto result = static_cast<int>(::syscall(SYS_clock_gettime, which, to));
  if (result == 0 && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE))
    to->tv_sec += static_cast<time_t>(state().seconds_ahead.load());
  return result;
}

int gettimeofday(timeval* to, void* /*zone*/) noexcept {
  timespec now{};
  const int result = clock_gettime(CLOCK_REALTIME, &now);
  *to = {.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
  return result;
}

time_t time(time_t* to) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (to != nullptr) *to = now.tv_sec;
  return now.tv_sec;
}

// A condition's own clock may be one that only runs, which has come nowhere near the time of day.
int pthread_cond_timedwait(pthread_cond_t* on, pthread_mutex_t* with, const timespec* until) {
  static const auto real = reinterpret_cast<int (*)(pthread_cond_t*, pthread_mutex_t*, const timespec*)>(
      ::dlsym(RTLD_NEXT, "pthread_cond_timedwait"));
  timespec runs{};
  ::syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &runs);
  constexpr time_t years = 100'000'000;
  timespec at = *until;
  if (at.tv_sec > runs.tv_sec + years) at.tv_sec -= static_cast<time_t>(state().seconds_ahead.load());
  return real(on, with, &at);
}

ssize_t write(int descriptor, const void* from, size_t size) {
  return has_room(descriptor, -1, size) ? ::syscall(SYS_write, descriptor, from, size) : -1;
}

ssize_t writev(int descriptor, const iovec* pieces, int count) {
  return has_room(descriptor, -1, size_of(pieces, count)) ? ::syscall(SYS_writev, descriptor, pieces, count) : -1;
}

ssize_t pwrite64(int descriptor, const void* from, size_t size, off_t offset) {
  return has_room(descriptor, offset, size) ? ::syscall(SYS_pwrite64, descriptor, from, size, offset) : -1;
}
ssize_t pwrite(int descriptor, const void* from, size_t size, off_t offset) {
  return pwrite64(descriptor, from, size, offset);
}

ssize_t pwritev64(int descriptor, const iovec* pieces, int count, off_t offset) {
  return has_room(descriptor, offset, size_of(pieces, count))
             ? ::syscall(SYS_pwritev, descriptor, pieces, count, offset, 0L)
             : -1;
}
ssize_t pwritev(int descriptor, const iovec* pieces, int count, off_t offset) {
  return pwritev64(descriptor, pieces, count, offset);
}

int fallocate64(int descriptor, int mode, off_t offset, off_t size) {
  if (mode == 0 && !has_room(descriptor, offset, static_cast<std::size_t>(size))) return -1;
  return static_cast<int>(::syscall(SYS_fallocate, descriptor, mode, offset, size));
}
int fallocate(int descriptor, int mode, off_t offset, off_t size) {
  return fallocate64(descriptor, mode, offset, size);
}

int posix_fallocate64(int descriptor, off_t offset, off_t size) {
  return fallocate64(descriptor, 0, offset, size) == 0 ? 0 : errno;
}
int posix_fallocate(int descriptor, off_t offset, off_t size) { return posix_fallocate64(descriptor, offset, size); }

int ftruncate64(int descriptor, off_t size) noexcept {
  struct stat file {};
  const bool grows = ::fstat(descriptor, &file) == 0 && size > file.st_size;
  if (grows && !has_room(descriptor, file.st_size, static_cast<std::size_t>(size - file.st_size))) return -1;
  return static_cast<int>(::syscall(SYS_ftruncate, descriptor, size));
}
int ftruncate(int descriptor, off_t size) noexcept { return ftruncate64(descriptor, size); }

#pragma GCC visibility pop
}
