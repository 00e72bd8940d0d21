#include "support/program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "testkit/eventually.hpp"

namespace rowlock::test {

namespace {

constexpr int could_not_start = 125;

/// The strings and the array of pointers for exec.
class pointers {
 public:
  explicit pointers(std::vector<std::string> words) : words_{std::move(words)} {
    for (auto& word : words_) pointers_.push_back(word.data());
    pointers_.push_back(nullptr);
  }
  char* const* get() const noexcept { return pointers_.data(); }

 private:
  std::vector<std::string> words_;
  std::vector<char*> pointers_;
};

std::vector<std::string> environment_with(const std::vector<std::string>& changes) {
  std::map<std::string, std::string> all;
  const auto name_of = [](const std::string& entry) { return entry.substr(0, entry.find('=')); };
  for (char** entry = environ; *entry != nullptr; ++entry) all[name_of(*entry)] = *entry;
  for (const auto& change : changes) {
    if (change.find('=') == std::string::npos)
      all.erase(change);
    else
      all[name_of(change)] = change;
  }
  std::vector<std::string> out;
  for (auto& [name, entry] : all) out.push_back(std::move(entry));
  return out;
}

void put(int descriptor, const char* file, int flags) {
  const int opened = ::open(file, flags | O_CLOEXEC, 0600);
  if (opened < 0 || ::dup2(opened, descriptor) < 0) ::_exit(could_not_start);
}

pid_t start(const launch& how, const temp_folder& folder) {
  const auto input = folder / "in";
  const auto output = folder / "out";
  const auto errors = folder / "err";
  std::ofstream{input} << how.input;
  const pointers words{how.words};
  const pointers environment{environment_with(how.environment)};
  const pid_t pid = ::fork();
  if (pid < 0) throw std::system_error{errno, std::generic_category(), "fork"};
  if (pid > 0) return pid;
  ::setsid();
  reset_signals();
  put(STDIN_FILENO, input.c_str(), O_RDONLY);
  put(STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_APPEND);
  put(STDERR_FILENO, errors.c_str(), O_WRONLY | O_CREAT | O_APPEND);
  if (how.before_exec) how.before_exec();
  ::execvpe(words.get()[0], words.get(), environment.get());
  ::_exit(could_not_start);
}

}  // namespace

void reset_signals() {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) ::sigaction(number, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

program::program(const launch& how) : child_{start(how, folder_)} {}

std::string program::out() const { return contents_of(folder_ / "out"); }

std::string program::err() const { return contents_of(folder_ / "err"); }

bool program::says(std::string_view text) const {
  return eventually([&] { return out().find(text) != std::string::npos; });
}

std::string own_path() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

// In memory, and open for reading only: a file that is open for writing cannot be executed.
copy_for_everybody::copy_for_everybody(const std::string& program) {
  const int written = ::memfd_create("program", MFD_CLOEXEC);
  if (written < 0) throw std::system_error{errno, std::generic_category(), "memfd_create"};
  const auto within = [](int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); };
  std::ofstream{within(written), std::ios::binary} << std::ifstream{program, std::ios::binary}.rdbuf();
  descriptor_ = ::open(within(written).c_str(), O_RDONLY);
  ::close(written);
  if (descriptor_ < 0) throw std::system_error{errno, std::generic_category(), "a copy of " + program};
  path_ = within(descriptor_);
}

copy_for_everybody::~copy_for_everybody() { ::close(descriptor_); }

std::string contents_of(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, std::istreambuf_iterator<char>{}};
}

int occurrences(std::string_view text, std::string_view what) {
  int found = 0;
  for (auto at = text.find(what); at != std::string_view::npos; at = text.find(what, at + what.size())) ++found;
  return found;
}

std::optional<long> number_after(std::string_view text, std::string_view word) {
  const auto at = text.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  const auto rest = text.substr(at + word.size());
  const auto end = rest.find('\n');
  if (end == std::string_view::npos) return std::nullopt;  // the line is not complete yet
  return std::stol(std::string{rest.substr(0, end)});
}

}  // namespace rowlock::test
