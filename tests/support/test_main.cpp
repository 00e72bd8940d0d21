#include "support/test_main.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/seed.hpp"

namespace rowlock::test {

namespace {

std::string environment(const char* variable) {
  const char* found = std::getenv(variable);
  return found == nullptr ? "" : found;
}

std::string full_name(const testing::TestInfo& test) { return std::string{test.test_suite_name()} + "." + test.name(); }

template <class Use>
void for_each_test(Use use) {
  const auto& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const auto& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) use(*suite.GetTestInfo(j));
  }
}

// --- which test was running ----------------------------------------------------------------------------------------

char running[1024];  // for a signal handler

void write_all(std::string_view text) noexcept {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

void tell_which(std::string_view what_it_did) noexcept {
  write_all(what_it_did);
  write_all(running);
  write_all("\n");
}

/// Also after an exception that a thread did not catch.
class last_words : public testing::EmptyTestEventListener {
 public:
  last_words() {
    static std::terminate_handler before{};
    before = std::set_terminate([] {
      tell_which("[TERMINATED] ");
      before();
    });
  }
  void OnTestStart(const testing::TestInfo& test) override {
    std::strncpy(running, full_name(test).c_str(), sizeof running - 1);
  }
};

// --- the limit of time ---------------------------------------------------------------------------------------------

constexpr int most_frames = 64;
void* frames[most_frames];
std::atomic<int> depth{0};

extern "C" void note_own_stack(int /*signal*/) { depth = ::backtrace(frames, most_frames); }

// nullptr: the address is not in this program.
const char* in_program(const void* address) noexcept {
  Dl_info own{};
  Dl_info found{};
  ::dladdr(reinterpret_cast<const void*>(&note_own_stack), &own);
  if (::dladdr(address, &found) == 0 || found.dli_fbase != own.dli_fbase) return nullptr;
  return static_cast<const char*>(own.dli_fbase);
}

// With the names of functions, if the machine has addr2line.
void write_stack() noexcept {
  char addresses[most_frames][20];
  char program[32];
  std::snprintf(program, sizeof program, "/proc/%d/exe", ::getpid());
  const char* arguments[most_frames + 4] = {"addr2line", "-Cfspe", program};
  int last = 3;
  for (int i = 0; i < depth; ++i) {
    const auto* const begin = in_program(frames[i]);
    if (begin == nullptr) continue;
    std::snprintf(addresses[i], sizeof addresses[i], "%#tx", static_cast<const char*>(frames[i]) - begin);
    arguments[last++] = addresses[i];
  }
  ::backtrace_symbols_fd(frames, depth, STDERR_FILENO);
  if (const auto child = ::fork(); child == 0) {
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    ::execvp(arguments[0], const_cast<char**>(arguments));
    ::_exit(127);
  } else if (child > 0) {
    ::waitpid(child, nullptr, 0);
  }
}

// SIGTRAP: no thread blocks it, not even in a call of a driver.
void write_stack_of(pid_t thread) noexcept {
  write_all("-- thread:\n");
  depth = 0;
  if (::syscall(SYS_tgkill, ::getpid(), thread, SIGTRAP) != 0) return;
  for (int i = 0; i < 200 && depth == 0; ++i) ::usleep(1000);
  write_stack();
}

// Runs in a signal handler, so it must not allocate memory.
void write_all_stacks() noexcept {
  const int tasks = ::open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  alignas(dirent64) char entries[4096];
  for (long size = 0; (size = ::syscall(SYS_getdents64, tasks, entries, sizeof entries)) > 0;)
    for (long at = 0; at < size;) {
      const auto* each = reinterpret_cast<const dirent64*>(entries + at);
      if (const auto thread = std::atoi(each->d_name); thread > 0) write_stack_of(thread);
      at += each->d_reclen;
    }
}

extern "C" void end_late_test(int /*signal*/) {
  tell_which("[ TIMED OUT] ");
  write_all_stacks();
  std::abort();
}

/// Uses an alarm, not a thread, so that tests that fork have no extra thread. A child does not inherit the alarm.
class limit : public testing::EmptyTestEventListener {
 public:
  explicit limit(unsigned seconds) : seconds_{seconds} {
    void* frame{};
    ::backtrace(&frame, 1);  // loads its library now, and not in the handler
    ::signal(SIGTRAP, note_own_stack);
    ::signal(SIGALRM, end_late_test);
  }
  void OnTestStart(const testing::TestInfo& /*test*/) override { ::alarm(seconds_); }
  void OnTestEnd(const testing::TestInfo& /*test*/) override { ::alarm(0); }

 private:
  unsigned seconds_;
};

// --- the report of a failed test ------------------------------------------------------------------------------------

/// A file that others append to.
class log_file {
 public:
  explicit log_file(std::string path) : path_{std::move(path)} {}

  void mark() { begin_ = size(); }
  /// The last whole lines that were written since mark().
  std::string news() const {
    constexpr std::streamoff most = 2000;
    std::ifstream in{path_};
    const auto from = std::max(begin_, size() - most);
    in.seekg(from);
    std::string out;
    if (from > begin_) std::getline(in, out);
    std::ostringstream rest;
    rest << in.rdbuf();
    return rest.str();
  }
  const std::string& path() const noexcept { return path_; }

 private:
  std::streamoff size() const {
    std::ifstream in{path_, std::ios::ate};
    return in ? static_cast<std::streamoff>(in.tellg()) : 0;
  }

  std::string path_;
  std::streamoff begin_ = 0;
};

class explanation : public testing::EmptyTestEventListener {
 public:
  explanation() {
    std::istringstream paths{environment("ROWLOCK_TEST_LOGS")};
    for (std::string path; std::getline(paths, path, ':');) logs_.emplace_back(path);
  }
  void OnTestStart(const testing::TestInfo& /*test*/) override {
    for (auto& each : logs_) each.mark();
  }
  void OnTestEnd(const testing::TestInfo& test) override {
    if (test.result()->Passed() || test.result()->Skipped()) return;
    for (const auto& each : logs_)
      if (const auto news = each.news(); !news.empty()) std::cout << "In " << each.path() << ":\n" << news;
    std::cout << "To run it alone: ";
    if (is_seed_used()) std::cout << "ROWLOCK_TEST_SEED=" << seed() << ' ';
    if (const auto tier = environment("ROWLOCK_TEST_TIER"); !tier.empty())
      std::cout << "./test.sh --" << tier;
    else
      std::cout << "./test.sh";
    std::cout << " '^" << full_name(test) << "$'" << std::endl;
  }

 private:
  std::vector<log_file> logs_;
};

// --- once more -----------------------------------------------------------------------------------------------------

std::vector<const testing::TestInfo*> failed_tests() {
  std::vector<const testing::TestInfo*> out;
  for_each_test([&](const testing::TestInfo& each) {
    if (each.result()->Failed()) out.push_back(&each);
  });
  return out;
}

/// Replaces this process, because the failed tests may have left anything behind in it.
void run_again(const std::vector<const testing::TestInfo*>& tests, const std::string& told_in, char** argv) {
  std::ofstream report{told_in, std::ios::app};
  std::string names;
  for (const auto* each : tests) {
    const auto name = full_name(*each);
    names += (names.empty() ? "" : ":") + name;
    report << "failed once: " << name << '\n';
    for (int i = 0; i < each->result()->total_part_count(); ++i)
      if (const auto& part = each->result()->GetTestPartResult(i); part.failed()) {
        if (part.file_name() != nullptr) report << part.file_name() << ':' << part.line_number() << ": ";
        report << part.message() << '\n';
      }
  }
  report.close();
  std::cout << "Once more, these alone: " << names << std::endl;
  for (const char* each : {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX", "ROWLOCK_TEST_REGEX", "ROWLOCK_TEST_AGAIN"})
    ::unsetenv(each);
  auto filter = "--gtest_filter=" + names;
  auto brief = std::string{"--gtest_brief=1"};
  char* const arguments[] = {argv[0], brief.data(), filter.data(), nullptr};
  ::execv("/proc/self/exe", arguments);
}

// --- which tests ---------------------------------------------------------------------------------------------------

// Tests that GoogleTest's filter excludes remain excluded.
void keep_matching(const std::regex& wanted) {
  const auto before = GTEST_FLAG_GET(filter);
  std::string names;
  for_each_test([&](const testing::TestInfo& each) {
    const auto name = full_name(each);
    if (std::regex_search(name, wanted)) names += name + ":";
  });
  const auto without = before.find('-');
  GTEST_FLAG_SET(filter,
                 (names.empty() ? "none." : names) + (without == std::string::npos ? "" : before.substr(without)));
}

}  // namespace

int run_all_tests(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (const auto wanted = environment("ROWLOCK_TEST_REGEX"); !wanted.empty())
    keep_matching(std::regex{wanted, std::regex::extended});
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  listeners.Append(new last_words);
  listeners.Append(new explanation);
  if (const auto seconds = environment("ROWLOCK_TEST_LIMIT"); !seconds.empty())
    listeners.Append(new limit{static_cast<unsigned>(std::stoul(seconds))});
  const auto result = RUN_ALL_TESTS();
  if (const auto told_in = environment("ROWLOCK_TEST_AGAIN"); !told_in.empty())
    if (const auto failed = failed_tests(); !failed.empty()) run_again(failed, told_in, argv);
  return result;
}

}  // namespace rowlock::test
