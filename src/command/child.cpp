#include "command/child.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

#include "command/exit_status.hpp"

namespace rowlock::command {

namespace {

[[noreturn]] void fail(const char* what) { throw std::system_error{errno, std::generic_category(), what}; }

std::vector<std::string> environment_with(const child::variables& more) {
  std::vector<std::string> out;
  const auto is_replaced = [&](std::string_view variable) {
    return std::any_of(more.begin(), more.end(), [&](const auto& each) {
      return variable.starts_with(each.first) && variable.substr(each.first.size()).starts_with('=');
    });
  };
  for (char** each = environ; *each != nullptr; ++each)
    if (!is_replaced(*each)) out.emplace_back(*each);
  for (const auto& [name, value] : more) out.emplace_back(name).append(1, '=').append(value);
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (auto& each : texts) out.push_back(each.data());
  out.push_back(nullptr);
  return out;
}

// In the child of a process with threads: nothing but what is async-signal-safe.
[[noreturn]] void become(char* const* argv, char* const* envp, const signals& taken, bool in_own_group, pid_t parent,
                         int told) noexcept {
  if (in_own_group) ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  taken.restore();
  if (::getppid() != parent) ::raise(SIGTERM);  // it died before it was asked for
  ::execvpe(argv[0], argv, envp);
  const int code = errno;
  [[maybe_unused]] const auto written = ::write(told, &code, sizeof code);
  ::_exit(exit_status::not_found);
}

// 0: exec closed the other end.
int code_from(int told) {
  int code = 0;
  ssize_t size = -1;
  while ((size = ::read(told, &code, sizeof code)) < 0 && errno == EINTR) {
  }
  return size == static_cast<ssize_t>(sizeof code) ? code : 0;
}

std::string why_not_started(const std::string& program, int code) {
  const auto reason = "cannot run \"" + program + "\": " + std::generic_category().message(code);
  if (code == ENOENT)
    return reason + (program.find('/') == std::string::npos ? "; check the name, and PATH" : "; check the path");
  return code == EACCES ? reason + "; it must be a file, and executable (chmod +x)" : reason;
}

}  // namespace

child::child(const std::vector<std::string>& words, const variables& more, const signals& taken, bool in_own_group)
    : has_group_{in_own_group} {
  auto arguments = words;
  auto environment = environment_with(more);
  const auto argv = pointers(arguments);
  const auto envp = pointers(environment);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe2");
  const descriptor told{ends[0]};
  descriptor telling{ends[1]};
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) fail("fork");
  if (pid_ == 0) become(argv.data(), envp.data(), taken, in_own_group, parent, telling.number());
  telling = descriptor{};
  if (const int code = code_from(told.number()); code != 0) {
    ::waitpid(pid_, nullptr, 0);
    throw not_started{why_not_started(words[0], code),
                      code == ENOENT ? exit_status::not_found : exit_status::not_executable};
  }
}

std::optional<int> child::status() {
  int raw = 0;
  if (!status_ && ::waitpid(pid_, &raw, WNOHANG) == pid_)
    status_ = WIFEXITED(raw) ? WEXITSTATUS(raw) : exit_status::killed_by + WTERMSIG(raw);
  return status_;
}

void child::signal(int number) const noexcept {
  if (!status_) ::kill(has_group_ ? -pid_ : pid_, number);
}

// While a group has members its number is given to nobody else.
bool child::is_gone() { return status().has_value() && (!has_group_ || ::kill(-pid_, 0) != 0); }

void child::signal_rest(int number) const noexcept {
  if (!has_group_) return signal(number);
  ::kill(-pid_, number);
}

}  // namespace rowlock::command
