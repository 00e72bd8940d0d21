#pragma once

#include <rowlock/rowlock.hpp>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include "base/text.hpp"
#include "base/waits.hpp"
#include "command/database.hpp"
#include "command/options.hpp"
#include "command/situation.hpp"
#include "command/words.hpp"

namespace rowlock::command {

/// Prints the progress of a wait: on a terminal one line, which is overwritten every second and removed at the end;
/// with --verbose a line whenever the holder has changed; with --quiet nothing. Thread-safe.
class wait_report {
 public:
  explicit wait_report(const options& given) : given_{given} {}
  wait_report(const wait_report&) = delete;
  wait_report& operator=(const wait_report&) = delete;
  ~wait_report() { end(); }

  /// Starts a thread that looks up the holder until end().
  void connected(client& locks) {
    if (given_.run.is_quiet || (!is_watched_ && !given_.run.is_verbose)) return;
    const std::lock_guard lock{mutex_};
    if (has_ended_ || watcher_.joinable()) return;
    watcher_ = std::jthread{[this, &locks](const std::stop_token& stop) { watch(locks, stop); }};
  }

  /// Reports that the database cannot be reached and is tried again.
  void database_is_away(const error& why) {
    if (given_.run.is_quiet) return;
    is_away_ = true;
    report("away", fmt::format("the database is away, and is tried again: {}", why.what()));
  }

  bool said_away() const noexcept { return is_away_; }

  /// Reports that it answers again.
  void database_is_back() {
    if (std::exchange(is_away_, false)) report("back", "the database is there again");
  }

  /// Removes the line. Nothing is printed afterwards.
  void end() {
    {
      const std::lock_guard lock{mutex_};
      has_ended_ = true;
      remove_line();
    }
    watcher_.request_stop();
  }

  /// The same, and waits until the client is no longer used.
  void join() {
    end();
    if (watcher_.joinable()) watcher_.join();
  }

  /// With --verbose, reports how long the wait took.
  void granted(fencing_token token) {
    if (given_.run.is_verbose)
      say(fmt::format("acquired {} after {}, token {}", base::quoted(given_.name), waited(), token.value()));
  }

 private:
  using clock = std::chrono::steady_clock;

  void watch(client& locks, const std::stop_token& stop) {
    using namespace std::chrono_literals;
    duration pause = 300ms;  // most locks are free, or soon will be
    for (;;) {
      base::rest(base::now() + pause, stop);
      if (stop.stop_requested()) return;
      pause = is_watched_ ? 1s : 5s;
      try {
        look(locks);
      } catch (const error&) {  // the thread that waits for the lock reports it
      }
    }
  }

  void look(client& locks) {
    const auto seen = look_at(locks, given_.name);
    const auto name = base::quoted(given_.name);
    const auto holder = holder_in(seen);
    if (given_.run.is_verbose) {
      const auto who = seen.holder ? seen.holder->owner + std::to_string(seen.holder->token.value()) : "none";
      report(who, fmt::format("waiting for {}, {}", name, holder));
    }
    const auto others = seen.queue.size() > 1 ? " with " + counted(seen.queue.size() - 1, "other") : std::string{};
    overwrite(fmt::format("waiting for {} for {}{}, {}", name, waited(), others, holder));
  }

  /// Prints a line that remains, unless the last one had the same `about`.
  void report(const std::string& about, const std::string& sentence) {
    const std::lock_guard lock{mutex_};
    if (has_ended_ || reported_ == about) return;
    reported_ = about;
    remove_line();
    say(sentence);
  }

  void overwrite(const std::string& line) {
    const std::lock_guard lock{mutex_};
    if (!is_watched_ || has_ended_) return;
    has_line_ = true;
    write_to_terminal('\r' + clipped("rowlock: " + base::printable(line), width_of_terminal()) + "\x1b[K");
  }

  void remove_line() {
    if (has_line_) write_to_terminal("\r\x1b[K");
    has_line_ = false;
  }

  std::string waited() const { return format_duration(std::chrono::duration_cast<duration>(clock::now() - begin_)); }

  static std::string holder_in(const situation& seen) {
    if (!seen.holder) return "which is " + not_held_in_words(seen.quarantine);
    const auto since = seen.holder->held_for ? " for " + format_duration(*seen.holder->held_for) : std::string{};
    return "held" + since + " by " + holder_in_words(*seen.holder);
  }

  static std::size_t width_of_terminal() {
    winsize size{};
    return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1U : 79U;
  }

  // At most `width` characters.
  static std::string clipped(const std::string& text, std::size_t width) {
    std::size_t characters = 0;
    for (std::size_t i = 0; i < text.size(); ++i)
      if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U && characters++ == width) return text.substr(0, i);
    return text;
  }

  // In the background it would write into what is typed for others, or be stopped.
  static void write_to_terminal(const std::string& text) {
    if (const pid_t foreground = ::tcgetpgrp(STDERR_FILENO); foreground > 0 && foreground != ::getpgrp()) return;
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
  }

  const options& given_;
  const bool is_watched_ = ::isatty(STDERR_FILENO) == 1;  // standard error is a terminal
  const clock::time_point begin_ = clock::now();
  std::mutex mutex_;
  bool has_ended_ = false;
  bool has_line_ = false;
  std::string reported_;
  bool is_away_ = false;  // used by the waiting thread only
  std::jthread watcher_;
};

}  // namespace rowlock::command
