#include "command/signals.hpp"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <system_error>
#include <utility>

namespace rowlock::command {

namespace {

constexpr int answered[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT, SIGCHLD, SIGXCPU};

int checked(int result, const char* what) {
  if (result < 0) fail(what);
  return result;
}

bool is_ignored(int number) {
  struct sigaction now {};
  return ::sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;  // NOLINT: the C interface is a union
}

struct sigaction replace(int number, void (*handler)(int)) {
  struct sigaction next {};
  struct sigaction before {};
  next.sa_handler = handler;  // NOLINT: as above
  checked(::sigaction(number, &next, &before), "sigaction");
  return before;
}

struct sigaction file_size_before {};

}  // namespace

void survive_file_size_limit() { file_size_before = replace(SIGXFSZ, SIG_IGN); }

void fail(const char* what) { throw std::system_error{errno, std::generic_category(), what}; }

descriptor open_terminal() { return descriptor{::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)}; }

bool write_all(int to, std::string_view text) {
  while (!text.empty()) {
    const auto size = ::write(to, text.data(), text.size());
    if (size < 0 && errno != EINTR) return false;
    if (size > 0) text.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

// poll() counts in 32 bits.
int milliseconds_until(std::chrono::steady_clock::time_point when) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(when - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<decltype(left)>(left, 0, std::numeric_limits<int>::max()));
}

descriptor::descriptor(descriptor&& other) noexcept : number_{std::exchange(other.number_, -1)} {}

descriptor& descriptor::operator=(descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

descriptor::~descriptor() {
  if (number_ >= 0) ::close(number_);
}

bell::bell() : event_{checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")} {}

void bell::ring() const noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(event_.number(), &one, sizeof one);
}

void bell::silence() const noexcept {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto size = ::read(event_.number(), &count, sizeof count);
}

// If SIGCHLD were ignored, the command's exit status would be lost. A closed standard error must not end this process
// by SIGPIPE.
signals::signals(std::initializer_list<int> more)
    : child_before_{replace(SIGCHLD, SIG_DFL)}, pipe_before_{replace(SIGPIPE, SIG_IGN)} {
  sigset_t ours{};
  sigemptyset(&ours);
  for (const int number : answered)
    if (!is_ignored(number)) sigaddset(&ours, number);
  for (const int number : more)
    if (!is_ignored(number)) sigaddset(&ours, number);
  if (const int code = ::pthread_sigmask(SIG_BLOCK, &ours, &mask_before_); code != 0)
    throw std::system_error{code, std::generic_category(), "pthread_sigmask"};
  incoming_ = descriptor{checked(::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd")};
}

std::optional<signals::arrival> signals::wait(const bell& other, time_limit limit, pollfd more) const {
  std::array<pollfd, 3> readable{{{.fd = incoming_.number(), .events = POLLIN, .revents = 0},
                                  {.fd = other.number(), .events = POLLIN, .revents = 0},
                                  more}};
  while (::poll(readable.data(), readable.size(), limit ? static_cast<int>(limit->count()) : -1) < 0)
    if (errno != EINTR) fail("poll");
  if (const auto arrived = next()) return arrived;  // the bell rings on until the next wait
  other.silence();
  return std::nullopt;
}

std::optional<int> signals::wait_for_end(const bell& other, time_limit limit, pollfd more) const {
  const auto end = std::chrono::steady_clock::now() + limit.value_or(std::chrono::milliseconds{0});
  const auto left = [&] { return limit ? std::chrono::milliseconds{milliseconds_until(end)} : limit; };
  while (const auto arrived = wait(other, left(), more))
    if (ends_a_wait(arrived->number)) return arrived->number;
  return std::nullopt;
}

std::optional<signals::arrival> signals::next() const {
  signalfd_siginfo info{};
  if (::read(incoming_.number(), &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return std::nullopt;
  return arrival{.number = static_cast<int>(info.ssi_signo), .is_from_kernel = info.ssi_code == SI_KERNEL};
}

bool signals::ends_a_wait(int number) noexcept {
  constexpr int others[] = {SIGCONT, SIGCHLD, SIGTSTP, SIGTTIN, SIGTTOU, SIGWINCH};
  return std::find(std::begin(others), std::end(others), number) == std::end(others);
}

void signals::restore() const noexcept {
  ::sigaction(SIGCHLD, &child_before_, nullptr);
  ::sigaction(SIGPIPE, &pipe_before_, nullptr);
  ::sigaction(SIGXFSZ, &file_size_before, nullptr);
  ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

void signals::die_of(int number) noexcept {
  const rlimit no_core{};
  ::setrlimit(RLIMIT_CORE, &no_core);
  sigset_t only{};
  sigemptyset(&only);
  sigaddset(&only, number);
  ::signal(number, SIG_DFL);
  ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
  ::raise(number);
  std::_Exit(128 + number);  // reached only if the signal does not end a process by default
}

}  // namespace rowlock::command
