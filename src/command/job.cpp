#include "command/job.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <system_error>
#include <thread>

#include "base/text.hpp"
#include "command/exit_status.hpp"

namespace rowlock::command {

namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (auto& each : texts) out.push_back(each.data());
  out.push_back(nullptr);
  return out;
}

[[noreturn]] void become(char* const* argv, const signals& taken, pid_t group, pid_t parent, job::outputs to,
                         int failures) noexcept {
  if (to.out >= 0) ::dup2(to.out, STDOUT_FILENO);
  if (to.err >= 0) ::dup2(to.err, STDERR_FILENO);
  ::setpgid(0, group);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  taken.restore();
  if (::getppid() != parent) ::raise(SIGTERM);  // the parent died before the line above
  ::execvp(argv[0], argv);
  const int code = errno;
  [[maybe_unused]] const auto written = ::write(failures, &code, sizeof code);
  ::_exit(exit_status::not_found);
}

// 0: exec succeeded, and closed the other end.
int code_from(int failures) {
  int code = 0;
  ssize_t size = -1;
  while ((size = ::read(failures, &code, sizeof code)) < 0 && errno == EINTR) {
  }
  return size == static_cast<ssize_t>(sizeof code) ? code : 0;
}

std::string why_not_started(const std::string& program, int code) {
  const auto reason = "cannot run " + base::quoted(program) + ": " + std::generic_category().message(code);
  if (code == ENOENT)
    return reason + (program.find('/') == std::string::npos ? "; check the name, and PATH" : "; check the path");
  return code == EACCES ? reason + "; it must be a file, and executable (chmod +x)" : reason;
}

namespace fs = std::filesystem;

/// Parses "12 (name) S 1 12 12 …"; a name may contain any character. nullopt: the process has ended.
std::optional<process> parsed(const std::string& stat) {
  const auto open = stat.find('(');
  const auto close = stat.rfind(')');
  if (open == std::string::npos || close == std::string::npos) return std::nullopt;
  process out{.name = stat.substr(open + 1, close - open - 1)};
  char state = 'X';
  std::istringstream{stat} >> out.id;
  std::istringstream{stat.substr(close + 1)} >> state >> out.parent >> out.group >> out.session;
  return state == 'Z' || state == 'X' ? std::nullopt : std::optional{out};
}

std::vector<process> all_processes() {
  std::vector<process> out;
  std::error_code failure;
  for (fs::directory_iterator each{"/proc", failure}; !failure && each != fs::directory_iterator{};
       each.increment(failure)) {
    if (std::isdigit(static_cast<unsigned char>(each->path().filename().c_str()[0])) == 0) continue;
    if (auto one = process_in(each->path() / "stat")) out.push_back(std::move(*one));
  }
  return out;
}

/// All live descendants of this process, except those that `is_left_out` and their descendants.
std::vector<process> descendants(const std::function<bool(const process&)>& is_left_out) {
  const auto all = all_processes();
  std::vector<process> out;
  const auto add_children_of = [&](pid_t parent) {
    std::copy_if(all.begin(), all.end(), std::back_inserter(out),
                 [&](const process& each) { return each.parent == parent && !is_left_out(each); });
  };
  add_children_of(::getpid());
  for (std::size_t next = 0; next < out.size();) add_children_of(out[next++].id);
  return out;
}

bool has_children() {
  siginfo_t ignored{};
  return ::waitid(P_ALL, 0, &ignored, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/// The processes that earlier commands left running.
std::set<pid_t> earlier_ones() {
  std::set<pid_t> out;
  if (has_children())
    for (const auto& each : descendants([](const process&) { return false; })) out.insert(each.id);
  return out;
}

}  // namespace

// If the process has ended since its file was opened, getline() reads nothing, where a read by the stream's buffer
// would throw.
std::optional<process> process_in(const std::filesystem::path& stat) {
  std::ifstream file{stat};
  std::string text;
  std::getline(file, text, '\0');
  return parsed(text);
}

not_started::not_started(const std::string& program, int code)
    : failure{why_not_started(program, code), code == ENOENT ? exit_status::not_found : exit_status::not_executable} {}

job::job(const std::vector<std::string>& words, const signals& taken, pid_t group, outputs to)
    : is_on_terminal_{static_cast<bool>(open_terminal())}, earlier_{earlier_ones()} {
  auto arguments = words;
  const auto argv = pointers(arguments);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe2");
  const descriptor failures{ends[0]};
  descriptor reporting{ends[1]};
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) fail("fork");
  if (pid_ == 0) become(argv.data(), taken, is_on_terminal_ ? group : 0, parent, to, reporting.number());
  reporting = descriptor{};
  if (const int code = code_from(failures.number()); code != 0) {
    ::waitpid(pid_, nullptr, 0);
    throw std::system_error{code, std::generic_category(), "exec"};
  }
}

void job::signal(int number) const {
  if (status_) return;
  if (!is_on_terminal_) return signal_all(number);
  const pid_t group = ::getpgid(pid_);
  for (const auto& each : members(false))
    if (each.group == group) ::kill(each.id, number);
}

// Another guard passes the signal on to its own descendants, but cannot pass on SIGKILL.
void job::signal_all(int number) const {
  if (is_on_terminal_)
    for (const auto& each : members(number == SIGKILL)) ::kill(each.id, number);
  else
    ::kill(-pid_, number);
}

std::vector<process> job::members(bool with_guards) const {
  return descendants([&](const process& p) { return !is_ours(p) || (!with_guards && p.name == guard_name); });
}

// A daemon begins a session of its own, and so may the command itself.
bool job::is_ours(const process& each) const {
  return !earlier_.contains(each.id) &&
         (each.id == pid_ || each.session == ::getsid(0) || (!status_ && each.session == ::getsid(pid_)));
}

void job::end(clock::duration grace) {
  end_later(grace);
  is_ending_ = true;
  signal_all(SIGTERM);
  signal_all(SIGCONT);
}

void job::end_later(clock::duration grace) {
  if (!kill_at_) kill_at_ = clock::now() + std::min<clock::duration>(grace, std::chrono::hours{24 * 365});
}

std::optional<int> job::status() {
  reap();
  // Repeatedly: on a terminal, a process that was just forked may have been missed.
  if (kill_at_ && clock::now() >= *kill_at_) signal_all(SIGKILL);
  if (!status_ || (is_ending_ && is_anything_left())) return std::nullopt;
  reap();  // an unreaped process keeps the number of its group
  return status_;
}

void job::reap() {
  int raw = 0;
  for (pid_t ended = 0; (ended = ::waitpid(-1, &raw, WNOHANG)) > 0; earlier_.erase(ended))
    if (ended == pid_) status_ = raw;
}

// The number of a group is not reused while the group has members. A killed process that does not end is stuck in the
// kernel.
bool job::is_anything_left() const {
  if (clock::now() >= *kill_at_ + std::chrono::seconds{1}) return false;
  if (!is_on_terminal_) return ::kill(-pid_, 0) == 0;
  return !members(true).empty();
}

// The end of the command's children is not reported to this process, so it polls.
std::optional<std::chrono::milliseconds> job::patience() const {
  using namespace std::chrono_literals;
  if (!kill_at_) return std::nullopt;
  return std::clamp(std::chrono::ceil<std::chrono::milliseconds>(*kill_at_ - clock::now()), 10ms, 50ms);
}

// Gives up after a second: some may be stuck in the kernel, or belong to another user.
void kill_all_descendants() {
  using namespace std::chrono_literals;
  const auto is_elsewhere = [](const process& each) { return each.session != ::getsid(0); };
  const auto end = job::clock::now() + 1s;
  for (auto left = descendants(is_elsewhere); !left.empty() && job::clock::now() < end;) {
    for (const auto& each : left) ::kill(each.id, SIGKILL);
    std::this_thread::sleep_for(1ms);
    left = descendants(is_elsewhere);
  }
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {  // an unreaped process keeps the number of its group
  }
}

}  // namespace rowlock::command
