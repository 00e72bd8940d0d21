#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "support/database.hpp"
#include "support/temp_folder.hpp"

namespace rowlock::test {

/// A PostgreSQL server that one test has to itself, in a temporary folder: it may be stopped, crashed and frozen. It
/// listens on a socket in that folder only, and ends with this object, or with this process.
class private_server {
 public:
  private_server();
  private_server(const private_server&) = delete;
  private_server& operator=(const private_server&) = delete;
  ~private_server();

  /// For client::connect, as a superuser.
  std::string url() const;

  /// Returns when it answers.
  void start();
  /// Its sessions are ended, and everything is written to disk.
  void stop();
  /// Its processes end at once, and write nothing.
  void crash();
  /// While the obstacle is there, all its processes are stopped.
  [[nodiscard]] std::unique_ptr<obstacle> freeze();

 private:
  void end(int signal);
  bool answers() const;
  std::vector<pid_t> processes() const;

  temp_folder folder_;
  pid_t pid_ = -1;
};

}  // namespace rowlock::test
