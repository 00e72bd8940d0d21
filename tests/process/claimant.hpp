#pragma once

#include <rowlock/rowlock.hpp>

#include <chrono>
#include <filesystem>
#include <string>

#include "support/strategies.hpp"
#include "testkit/child_process.hpp"

namespace rowlock::test {

using namespace std::chrono_literals;

/// A process with a client and one lock, by a strategy, of which it does what it is told:
///
///   order       what it does                                    what it says
///   claim NAME  waits for the lock, and writes to its log;      the token
///               behind it the lease may stand, in milliseconds
///   share NAME  the same for a share
///   lost?       waits for the loss                              the reason
///   held?                                                       yes or no: whether it is not lost
///   release                                                     released, or what was wrong
///   try NAME    tries once, and lets go again                   granted or busy
///   fork        forks a child that lives on without it          forked
///   end         closes its client and ends
class claimant {
 public:
  /// Its log is a file that others may share: a line for each grant, with its process and its token.
  explicit claimant(const std::string& url, strategy by = strategy::unique_index, duration transaction_limit = 10s,
                    const std::filesystem::path& log = "/dev/null");

  pid_t pid() const noexcept { return process_.pid(); }
  strategy by() const noexcept { return by_; }

  void order(std::string_view what) const { process_.send(what); }
  std::string answer() { return process_.read_line(); }
  std::string ask(std::string_view what);
  std::int64_t token() { return std::stoll(answer()); }
  std::int64_t claim(const std::string& name);
  /// By a lease of that length, where the strategy has leases.
  std::int64_t claim(const std::string& name, std::chrono::milliseconds lease);
  std::int64_t share(const std::string& name, std::chrono::milliseconds lease);

  void pause() { process_.pause(); }
  void resume() { process_.resume(); }
  void kill() noexcept { process_.kill(); }
  /// Its exit status, when it was told to end.
  std::optional<int> wait() { return process_.wait(); }

 private:
  child_process process_;
  strategy by_;
};

}  // namespace rowlock::test
