#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "server/fake_machine.hpp"
#include "support/database.hpp"
#include "support/server_database.hpp"
#include "testkit/temp_folder.hpp"

namespace rowlock::test {

/// A server that one test has to itself, in a temporary folder: it may be stopped, crashed and frozen. It ends with
/// this object, or with this process.
class private_server {
 public:
  private_server(const private_server&) = delete;
  private_server& operator=(const private_server&) = delete;
  virtual ~private_server() { crash(); }

  /// As an administrator.
  virtual server_address address() const = 0;
  /// A place there.
  virtual std::unique_ptr<server_database> open() const = 0;

  /// Returns when it answers.
  void start();
  void start_if_ended() {
    if (has_ended()) start();
  }
  /// Its sessions are ended, and everything is written to disk.
  void stop() { end(stop_signal_); }
  /// Its processes end at once, and write nothing.
  void crash() { end(crash_signal_); }
  /// Before it starts again: it has the data of that one, which has ended and is of the same kind.
  void take_data_of(const private_server& other) const;
  /// While the obstacle is there, all its processes are stopped.
  [[nodiscard]] std::unique_ptr<obstacle> freeze();

 protected:
  using words = std::vector<std::string>;

  /// Root must not run servers: for root that user does.
  private_server(const char* user, int stop_signal, int crash_signal, const fake_machine* machine);

  /// Nobody listens there, and the system hands it out to nobody.
  static std::uint16_t free_port();

  std::filesystem::path folder() const { return folder_.path(); }
  /// Makes folder() / "data": a copy of the fresh data folder that the environment names, or else by a program.
  void make_data(const char* variable, const words& otherwise) const;
  /// Makes certificate.pem, for the host db.example, and key.pem in the folder, authority.pem, which has signed it, and
  /// stranger.pem, which has not.
  void make_certificate() const;
  /// Runs a program to its end, in the folder.
  void run(const words& command) const;
  void end(int signal);
  /// So that it starts no others.
  void stop_first_process() const;
  /// Its own, the first of which has started the others.
  std::vector<pid_t> processes() const;

 private:
  virtual words command() const = 0;
  virtual bool answers() const = 0;

  pid_t spawn(const words& command) const;
  bool has_ended();

  temp_folder folder_;
  std::string user_;
  int stop_signal_;
  int crash_signal_;
  const fake_machine* machine_;
  pid_t pid_ = -1;
};

/// A base of a test whose server outlives everything else in it.
struct with_private_server {
  std::unique_ptr<private_server> server;
};

}  // namespace rowlock::test
