#pragma once

#include <rowlock/client.hpp>
#include <rowlock/held_lock.hpp>

#include <chrono>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

#include "command/options.hpp"

namespace rowlock::command {

/// Prints the progress of a wait: on a terminal one line, which is overwritten every second and removed at the end;
/// with --verbose a line whenever the holder has changed; with --quiet nothing. Thread-safe.
class wait_report {
 public:
  explicit wait_report(const options& given);
  wait_report(const wait_report&) = delete;
  wait_report& operator=(const wait_report&) = delete;
  ~wait_report();

  /// Starts a thread that looks up the holder until end().
  void connected(client& locks);
  /// Reports that the database cannot be reached and is tried again.
  void database_is_away(const error& why);
  bool said_away() const noexcept { return is_away_; }
  /// Reports that it answers again.
  void database_is_back();
  /// Removes the line. Nothing is printed afterwards.
  void end();
  /// The same, and waits until the client is no longer used.
  void join();
  /// With --verbose, reports how long the wait took.
  void granted(fencing_token token);

 private:
  using clock = std::chrono::steady_clock;

  void watch(client& locks, const std::stop_token& stop);
  void look(client& locks);
  /// Prints a line that remains, unless the last one had the same `about`.
  void report(const std::string& about, const std::string& sentence);
  void overwrite(const std::string& line);
  void remove_line();
  std::string waited() const;

  const options& given_;
  const bool is_watched_;  // standard error is a terminal
  const clock::time_point begin_ = clock::now();
  std::mutex mutex_;
  bool has_ended_ = false;
  bool has_line_ = false;
  std::string reported_;
  bool is_away_ = false;  // used by the waiting thread only
  std::jthread watcher_;
};

}  // namespace rowlock::command
