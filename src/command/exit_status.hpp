#pragma once

#include <rowlock/error.hpp>

#include <sys/wait.h>

#include <stdexcept>
#include <string>

namespace rowlock::command {

/// rowlock's own exit statuses: the numbers of sysexits.h, and those of shells for a command that cannot be run.
namespace exit_status {
inline constexpr int done = 0;
inline constexpr int none = 1;  // there is none, or nothing was changed
inline constexpr int usage = 64;
inline constexpr int out_of_reach = 69;
inline constexpr int internal = 70;
inline constexpr int lost = 70;
inline constexpr int not_written = 74;  // a file, or standard output
inline constexpr int busy = 75;
inline constexpr int no_permission = 77;
inline constexpr int schema = 78;
inline constexpr int timed_out = 124;  // as timeout(1)
inline constexpr int not_executable = 126;
inline constexpr int not_found = 127;
inline constexpr int killed_by = 128;  // plus the signal's number
}  // namespace exit_status

/// A shell's form of the status that wait(2) reports.
inline int status_of_end(int raw) { return WIFEXITED(raw) ? WEXITSTATUS(raw) : exit_status::killed_by + WTERMSIG(raw); }

inline int status_of(const error& e) {
  if (e.code().category() != error_category()) return exit_status::internal;
  switch (static_cast<errc>(e.code().value())) {
    case errc::invalid_name:
    case errc::invalid_option:
    case errc::invalid_url:
    case errc::unsupported:
      return exit_status::usage;
    case errc::timed_out:
      return exit_status::busy;
    case errc::lock_lost:
      return exit_status::lost;
    case errc::permission_denied:
      return exit_status::no_permission;
    case errc::schema_missing:
    case errc::schema_older:
    case errc::schema_newer:
      return exit_status::schema;
    default:
      return exit_status::out_of_reach;
  }
}

/// A failure with its own exit status.
class failure : public std::runtime_error {
 public:
  failure(const std::string& sentence, int status) : std::runtime_error{sentence}, exit_status_{status} {}
  int exit_status() const noexcept { return exit_status_; }

 private:
  int exit_status_;
};

/// The command line, or what it refers to, is wrong.
struct usage_error : failure {
  explicit usage_error(const std::string& sentence) : failure{sentence, exit_status::usage} {}
};

}  // namespace rowlock::command
