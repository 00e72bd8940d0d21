#pragma once

#include <gtest/gtest.h>
#include <rowlock/rowlock.hpp>

#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "support/program.hpp"
#include "support/recorder.hpp"
#include "support/sqlite_database.hpp"
#include "testkit/child.hpp"
#include "testkit/eventually.hpp"
#include "testkit/temp_folder.hpp"

namespace rowlock::test {

using namespace std::chrono_literals;

using words = std::vector<std::string>;

/// One after the other.
template <class Element>
std::vector<Element> operator+(std::vector<Element> first, const std::vector<Element>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// What came out of a program that has ended.
struct outcome {
  std::optional<ending> end{};  ///< nullopt: it did not end in time
  std::string out{};
  std::string err{};
};

std::ostream& operator<<(std::ostream& stream, const outcome& result);

/// What every test of the command has: a database with its tables, a client on it, and a folder for files. Whatever
/// its processes leave behind ends with it.
class command : public testing::Test {
 public:
  ~command() override;
  /// The path of the command.
  static std::string path();
  /// Starts it, and waits for its end.
  static outcome finish(const launch& how);

 protected:
  command();

  /// `rowlock --database URL arguments…`, to be started.
  launch rowlock(const words& arguments) const;
  /// `rowlock --database URL run job arguments…`
  launch run(const words& arguments) const { return rowlock(words{"run", "job"} + arguments); }

  /// The role `watcher` (see watcher.cpp) as a command line.
  static words watcher(const words& arguments = {});
  /// `rowlock run options… job -- watcher signals…`, whose command has started.
  class watched_run : public program {
   public:
    watched_run(const command& test, const words& options, const words& signals = {"15"});
  };
  /// The process id that a watcher says.
  static pid_t pid_from(const program& started);
  /// `test-folder/name`, for what commands leave.
  std::filesystem::path file(std::string_view name) const { return folder_ / name; }

  /// Whether that process waits for a lock. The library opens a second connection for as long as it does.
  bool is_waiting(pid_t pid) const;
  /// Whether it stands in the queue for "job".
  bool is_queued(pid_t pid);
  /// Puts somebody who is not there in the queue for "job", with a ticket that outlives the test.
  void queue_stranger(const std::string& owner, const std::string& thread = "1") const;
  /// Whether the lock can be had now.
  bool is_free(const lock_name& name) { return locks_.try_acquire(name).has_value(); }
  /// Whether nobody is down in the database as the owner of "job".
  bool is_vacant() { return !database_.row("job").value().owner.has_value(); }

  sqlite_database database_;
  temp_folder folder_;
  client locks_ = client::connect(database_.url(), {.observer = silent()});
};

/// Also their children, which become ours when they go: main makes this process the reaper.
void end_all_children();

/// Makes a test of each section of each transcript.
void add_transcripts();

/// Whether it ended so, said nothing on its standard output, and said why on its standard error: in lines that begin
/// with "rowlock: ".
testing::AssertionResult refused(const outcome& result, int status);
/// The same for lines only.
bool is_messages(std::string_view text);

}  // namespace rowlock::test
