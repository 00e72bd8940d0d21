#include "command/command.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <system_error>

namespace rowlock::test {

namespace fs = std::filesystem;

namespace {

std::vector<pid_t> children() {
  std::vector<pid_t> out;
  for (const auto& entry : fs::directory_iterator{"/proc"}) {
    const auto name = entry.path().filename().string();
    if (!std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; })) continue;
    if (const auto pid = static_cast<pid_t>(std::stol(name)); parent_of(pid) == ::getpid()) out.push_back(pid);
  }
  return out;
}

}  // namespace

void end_all_children() {
  for (auto left = children(); !left.empty(); left = children())
    for (const auto pid : left) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
}

std::ostream& operator<<(std::ostream& stream, const outcome& result) {
  if (result.end)
    stream << *result.end;
  else
    stream << "still running";
  return stream << "; it said '" << result.out << "', and on standard error '" << result.err << "'";
}

command::command() { locks_.migrate(); }

command::~command() { end_all_children(); }

std::string command::path() { return ROWLOCK_COMMAND; }

launch command::rowlock(const words& arguments) const {
  return {.words = words{path(), "--database", database_.url()} + arguments,
          .environment = {"ROWLOCK_DATABASE", "ROWLOCK_DATABASE_FILE"}};
}

outcome command::finish(const launch& how) {
  program started{how};
  auto end = started.wait();
  return {.end = end, .out = started.out(), .err = started.err()};
}

words command::watcher(const words& arguments) { return words{own_path(), "--command", "watcher"} + arguments; }

command::watched_run::watched_run(const command& test, const words& options, const words& signals)
    : program{test.run(options + words{"--"} + watcher(signals))} {
  EXPECT_TRUE(says("started")) << err();
}

pid_t command::pid_from(const program& started) {
  std::optional<long> pid;
  EXPECT_TRUE(eventually([&] { return (pid = number_after(started.out(), "started ")).has_value(); }));
  return static_cast<pid_t>(pid.value_or(0));
}

bool command::is_waiting(pid_t pid) const {
  const auto process = "/proc/" + std::to_string(pid);
  std::error_code gone;
  // Between fork and exec it has the connections of this process.
  if (!fs::equivalent(process + "/exe", path(), gone)) return false;
  int connections = 0;
  fs::directory_iterator entries{process + "/fd", gone};
  for (; !gone && entries != fs::directory_iterator{}; entries.increment(gone)) {
    std::error_code closed;
    if (fs::read_symlink(entries->path(), closed) == database_.file()) ++connections;
  }
  return connections >= 2;
}

bool command::is_queued(pid_t pid) {
  const auto queue = locks_.waiters("job");
  return std::any_of(queue.begin(), queue.end(), [&](const waiter_info& each) {
    return each.owner.find(':' + std::to_string(pid) + ':') != std::string::npos;
  });
}

void command::queue_stranger(const std::string& owner, const std::string& thread) const {
  const auto quoted = [](const std::string& text) {
    std::string hex;
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      hex += {"0123456789ABCDEF"[byte >> 4U], "0123456789ABCDEF"[byte & 15U]};
    }
    return "CAST(x'" + hex + "' AS TEXT)";
  };
  const auto sql =
      "INSERT INTO rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at) "
      "SELECT 'job', " +
      quoted(owner) + ", " + quoted(thread) +
      ", hex(randomblob(16)), now - 90000000, now + 86400000000 "
      "FROM (SELECT CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER) AS now)";
  const auto added = finish({.words = {"sqlite3", database_.file().string(), sql}});
  ASSERT_EQ(added.end, exited(0)) << added;
}

bool is_messages(std::string_view text) {
  if (text.empty() || text.back() != '\n') return false;
  std::istringstream lines{std::string{text}};
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("rowlock: ") || line.size() == std::string_view{"rowlock: "}.size()) return false;
  return true;
}

testing::AssertionResult refused(const outcome& result, int status) {
  if (result.end == exited(status) && result.out.empty() && is_messages(result.err)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "expected the exit status " << status << " and nothing but messages, but it "
                                     << result;
}

}  // namespace rowlock::test
