#include "command/wait_report.hpp"

#include <rowlock/rowlock.hpp>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "base/waits.hpp"
#include "command/database.hpp"
#include "command/situation.hpp"
#include "command/words.hpp"

namespace rowlock::command {

namespace {

using namespace std::chrono_literals;

constexpr auto before_the_first_look = 300ms;  // most locks are free, or soon will be
constexpr auto between_looks = 1s;
constexpr auto between_unwatched_looks = 5s;

std::size_t width_of_terminal() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1U : 79U;
}

bool is_inside_a_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

// At most `width` characters.
std::string clipped(const std::string& text, std::size_t width) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (!is_inside_a_character(text[i]) && characters++ == width) return text.substr(0, i);
  return text;
}

// In the background it would write into what is typed for others, or be stopped.
void write_to_terminal(const std::string& text) {
  if (const pid_t foreground = ::tcgetpgrp(STDERR_FILENO); foreground > 0 && foreground != ::getpgrp()) return;
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

std::string holder_in(const situation& seen) {
  if (!seen.holder) return "which is " + not_held_in_words(seen.quarantine);
  const auto since = seen.holder->held_for ? " for " + format_duration(*seen.holder->held_for) : std::string{};
  return "held" + since + " by " + holder_in_words(*seen.holder);
}

}  // namespace

wait_report::wait_report(const options& given) : given_{given}, is_watched_{::isatty(STDERR_FILENO) == 1} {}

wait_report::~wait_report() { end(); }

void wait_report::connected(client& locks) {
  if (given_.run.is_quiet || (!is_watched_ && !given_.run.is_verbose)) return;
  const std::lock_guard lock{mutex_};
  if (has_ended_ || watcher_.joinable()) return;
  watcher_ = std::jthread{[this, &locks](const std::stop_token& stop) { watch(locks, stop); }};
}

void wait_report::database_is_away(const error& why) {
  if (given_.run.is_quiet) return;
  is_away_ = true;
  report("away", fmt::format("the database is away, and is tried again: {}", why.what()));
}

void wait_report::database_is_back() {
  if (std::exchange(is_away_, false)) report("back", "the database is there again");
}

void wait_report::end() {
  {
    const std::lock_guard lock{mutex_};
    has_ended_ = true;
    remove_line();
  }
  watcher_.request_stop();
}

void wait_report::join() {
  end();
  if (watcher_.joinable()) watcher_.join();
}

void wait_report::granted(fencing_token token) {
  if (given_.run.is_verbose)
    say(fmt::format("acquired {} after {}, token {}", base::quoted(given_.name), waited(), token.value()));
}

void wait_report::watch(client& locks, const std::stop_token& stop) {
  duration pause = before_the_first_look;
  for (;;) {
    base::rest(base::now() + pause, stop);
    if (stop.stop_requested()) return;
    pause = is_watched_ ? between_looks : between_unwatched_looks;
    try {
      look(locks);
    } catch (const error&) {  // the thread that waits for the lock reports it
    }
  }
}

void wait_report::look(client& locks) {
  const auto seen = look_at(locks, given_.name);
  const auto name = base::quoted(given_.name);
  const auto holder = holder_in(seen);
  if (given_.run.is_verbose) {
    const auto who = seen.holder ? seen.holder->owner + std::to_string(seen.holder->token.value()) : "none";
    report(who, fmt::format("waiting for {}, {}", name, holder));
  }
  const auto others = seen.queue.size() > 1 ? fmt::format(" with {} others", seen.queue.size() - 1) : std::string{};
  overwrite(fmt::format("waiting for {} for {}{}, {}", name, waited(), others, holder));
}

void wait_report::report(const std::string& about, const std::string& sentence) {
  const std::lock_guard lock{mutex_};
  if (has_ended_ || reported_ == about) return;
  reported_ = about;
  remove_line();
  say(sentence);
}

void wait_report::overwrite(const std::string& line) {
  const std::lock_guard lock{mutex_};
  if (!is_watched_ || has_ended_) return;
  has_line_ = true;
  write_to_terminal('\r' + clipped("rowlock: " + base::printable(line), width_of_terminal()) + "\x1b[K");
}

void wait_report::remove_line() {
  if (has_line_) write_to_terminal("\r\x1b[K");
  has_line_ = false;
}

std::string wait_report::waited() const {
  return format_duration(std::chrono::duration_cast<duration>(clock::now() - begin_));
}

}  // namespace rowlock::command
