#include "command/subcommands.hpp"

#include <rowlock/rowlock.hpp>

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <clocale>
#include <future>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "command/curses_screen.hpp"
#include "command/database.hpp"
#include "command/output.hpp"
#include "command/signals.hpp"
#include "command/situation.hpp"
#include "command/top_screen.hpp"

namespace rowlock::command {

namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

void print_table(const overview& seen, top_order by) {
  auto rows = rows_of(seen);
  sort_rows(rows, by, false);
  std::vector<table_line> lines(1);
  for (const auto& column : top_columns()) lines[0].emplace_back(column.title);
  for (const auto& row : rows) {
    auto& line = lines.emplace_back();
    for (const auto& column : top_columns()) line.push_back(column.text(row));
  }
  write_table(std::cout, lines);
}

std::string result_of_freeing(client& locks, const lock_info& shown) {
  const auto quoted = base::quoted(shown.name.view());
  try {
    const auto result = free_as_seen(locks, shown);
    return result == freeing::freed ? "freed " + quoted : why_not_freed(shown.name.view(), result);
  } catch (const error& e) {
    if (e.outcome_is_unknown()) return "it is not known whether " + quoted + " was freed: " + e.what();
    return quoted + " was not freed: " + e.what();
  }
}

/// The result of a visit to the database.
struct news {
  std::string message{};
  std::string failure{};  ///< why `seen` is empty
  overview seen{};
};

news visit(client& locks, const std::string& prefix, const std::vector<lock_info>& to_free) {
  news out;
  for (const auto& each : to_free) out.message = result_of_freeing(locks, each);
  try {
    out.seen = look_at_all(locks, prefix);
  } catch (const std::exception& e) {
    out.failure = e.what();
  }
  return out;
}

void stop_until_continued(curses_screen& on) {
  on.suspend();
  sigset_t only{};
  sigset_t before{};
  sigemptyset(&only);
  sigaddset(&only, SIGTSTP);
  ::signal(SIGTSTP, SIG_DFL);
  ::raise(SIGTSTP);
  ::pthread_sigmask(SIG_UNBLOCK, &only, &before);  // the process stops here
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  on.resume();
}

/// Visits the database on another thread, so that keys work while the database does not answer.
class session {
 public:
  session(client& locks, const options& given, const signals& taken)
      : locks_{locks}, given_{given}, taken_{taken}, shown_{given} {}

  /// 0, or the signal that ended the screen.
  int show(const overview& first) {
    shown_.show(first);
    on_.emplace();
    while (!end_) {
      on_->draw(shown_.lines(on_->size()));
      wait();
      answer_signals();
      read_keys();
      visit_when_due();
    }
    on_.reset();
    finish();
    return *end_;
  }

 private:
  void wait() {
    std::array<pollfd, 3> readable{{{.fd = taken_.number(), .events = POLLIN, .revents = 0},
                                    {.fd = is_back_.number(), .events = POLLIN, .revents = 0},
                                    {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0}}};
    ::poll(readable.data(), readable.size(), visit_.valid() ? -1 : milliseconds_until(next_visit_));
    if ((readable[1].revents & POLLIN) != 0) show_news(visit_.get());
    if ((readable[2].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) end_ = SIGHUP;
  }

  void show_news(const news& brought) {
    is_back_.silence();
    is_freeing_ = false;
    if (!brought.message.empty()) shown_.show_message(in_words_of_the_shell(brought.message));
    if (brought.failure.empty())
      shown_.show(brought.seen);
    else
      shown_.show_failure(in_words_of_the_shell(brought.failure));
  }

  // Ctrl-C quits with status 0. Any other signal that ends a program gives its own status.
  void answer_signals() {
    while (const auto arrived = taken_.next()) {
      if (arrived->number == SIGWINCH)
        on_->resize();
      else if (arrived->number == SIGTSTP)
        stop_until_continued(*on_);
      else if (signals::ends_a_wait(arrived->number))
        end_ = arrived->number == SIGINT ? 0 : arrived->number;
    }
  }

  void read_keys() {
    while (!end_) {
      const auto typed = on_->read();
      if (!typed) return;
      carry_out(shown_.press(*typed));
    }
  }

  void carry_out(const top_screen::request& wanted) {
    using kind = top_screen::request::kind;
    if (wanted.what == kind::quit) end_ = 0;
    if (wanted.what == kind::look || wanted.what == kind::free) next_visit_ = steady_clock::now();
    if (wanted.what == kind::free) to_free_.push_back(*wanted.shown);
  }

  void visit_when_due() {
    if (visit_.valid() || steady_clock::now() < next_visit_) return;
    next_visit_ = steady_clock::now() + given_.top.every;
    is_freeing_ = !to_free_.empty();
    visit_ = in_background(
        is_back_, [this, to_free = std::exchange(to_free_, {})] { return visit(locks_, given_.prefix, to_free); });
  }

  /// A look that is not answered is not waited for. A lock that is to be freed is freed.
  void finish() {
    const auto tell = [](const std::string& result) {
      if (!result.empty()) say(result);
    };
    const bool must_wait = is_freeing_ || !to_free_.empty();
    if (visit_.valid() && !must_wait && visit_.wait_for(200ms) != std::future_status::ready) leave();
    if (visit_.valid()) tell(visit_.get().message);
    for (const auto& each : to_free_) tell(result_of_freeing(locks_, each));
  }

  [[noreturn]] void leave() const {
    if (*end_ != 0) signals::die_of(*end_);
    ::_exit(exit_status::done);
  }

  client& locks_;
  const options& given_;
  const signals& taken_;
  top_screen shown_;
  std::optional<int> end_{};
  std::vector<lock_info> to_free_{};
  bool is_freeing_ = false;
  steady_clock::time_point next_visit_ = steady_clock::now() + given_.top.every;
  bell is_back_{};
  std::future<news> visit_{};
  std::optional<curses_screen> on_{};  // last: the terminal is restored before any destructor waits
};

int show_on_terminal(const options& given) {
  const signals taken{SIGWINCH, SIGTSTP};
  // A warning would disturb the screen.
  auto locks = interruptibly(taken, [&] { return connect(given, [](const event&) {}); });
  const auto first = interruptibly(taken, [&] { return look_at_all(locks, given.prefix); });
  return session{locks, given, taken}.show(first);
}

}  // namespace

int top(const options& given) {
  std::setlocale(LC_CTYPE, "");  // NOLINT(concurrency-mt-unsafe): before there is any other thread
  if (given.top.is_once || !curses_screen::is_possible()) {
    auto locks = connect(given);
    print_table(look_at_all(locks, given.prefix), given.top.by);
  } else if (const int died_of = show_on_terminal(given); died_of != 0) {
    signals::die_of(died_of);
  }
  return exit_status::done;
}

}  // namespace rowlock::command
