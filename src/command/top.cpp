#include "command/subcommands.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <clocale>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.hpp"
#include "command/curses_screen.hpp"
#include "command/database.hpp"
#include "command/output.hpp"
#include "command/signals.hpp"
#include "command/situation.hpp"
#include "command/top_looker.hpp"
#include "command/top_screen.hpp"
#include "command/words.hpp"

namespace rowlock::command {

namespace {

using namespace std::chrono_literals;

// --- as a table ------------------------------------------------------------------------------------------------------

table_line line_of(const top_row& row) {
  const auto& lock = row.holder;
  return {base::printable(row.name),
          duration_or_dash(lock ? lock->held_for : std::nullopt),
          duration_or_dash(lock ? lock->expires_in : std::nullopt),
          text_of(row.grants),
          std::to_string(row.waiting),
          duration_or_dash(row.longest_wait),
          lock ? base::printable(owner_of(*lock)) : "-",
          lock ? base::printable(lock->note) : ""};
}

void print(const top_history& history, top_order by) {
  auto rows = history.rows();
  sort_rows(rows, by, false);
  std::vector<table_line> lines{{"NAME", "HELD", "LEASE", "GRANTS/S", "WAIT", "LONGEST", "HOLDER", "NOTE"}};
  for (const auto& row : rows) lines.push_back(line_of(row));
  write_table(std::cout, lines);
}

/// The first signal that would end a program that only waits; nullopt: the time is over.
std::optional<int> wait_for_end(const signals& taken, duration time) {
  const bell nobody;
  const auto end = std::chrono::steady_clock::now() + time;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left <= 0ms) return std::nullopt;
    const auto arrived = taken.wait(nobody, left);
    if (arrived && signals::ends_a_wait(arrived->number)) return arrived->number;
  }
}

/// A failure after the first look is said, and the next look may fare better.
void look_again(client& locks, const options& given, top_history& history) {
  try {
    history.add(look_at_all(locks, given.prefix), top_history::clock::now());
  } catch (const error& e) {
    return say(e.what());
  }
  std::cout << '\n';
  print(history, given.top.by);
}

int print_tables(const options& given) {
  const signals taken;
  auto locks = connect(given);
  top_history history;
  history.add(look_at_all(locks, given.prefix), top_history::clock::now());
  print(history, given.top.by);
  while (!given.top.is_once && std::cout.flush()) {
    if (const auto number = wait_for_end(taken, given.top.every)) return *number;
    look_again(locks, given, history);
  }
  return 0;
}

// --- on a terminal ---------------------------------------------------------------------------------------------------

void stop_until_continued(curses_screen& on) {
  on.suspend();
  sigset_t only{};
  sigset_t before{};
  sigemptyset(&only);
  sigaddset(&only, SIGTSTP);
  ::signal(SIGTSTP, SIG_DFL);
  ::raise(SIGTSTP);
  ::pthread_sigmask(SIG_UNBLOCK, &only, &before);  // here it stops
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  on.resume();
}

/// The screen, what it shows and who looks for it.
class top_session {
 public:
  top_session(client& locks, const options& given, const signals& taken, top_mailbox& mail)
      : taken_{taken},
        mail_{mail},
        shown_{{.prefix = given.prefix, .every = given.top.every, .by = given.top.by}},
        history_{},
        looker_{locks, given.prefix, given.top.every, mail} {}

  /// 0, or the signal that ended it.
  int show(const overview& first) {
    history_.add(first, top_history::clock::now());
    shown_.show(history_);
    on_.emplace();
    while (!is_over_) {
      on_->draw(shown_.lines(on_->size()));
      wait();
      answer_signals();
      read_mail();
      read_keys();
    }
    return died_of_;
  }

 private:
  void wait() {
    std::array<pollfd, 3> readable{{{.fd = taken_.number(), .events = POLLIN, .revents = 0},
                                    {.fd = mail_.arrival().number(), .events = POLLIN, .revents = 0},
                                    {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0}}};
    ::poll(readable.data(), readable.size(), -1);
    mail_.arrival().silence();
    is_hung_up_ = (readable[2].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
  }

  // Ctrl-C is a way to leave it; all else that ends a program does so with its own status.
  void answer_signals() {
    if (is_hung_up_) end(SIGHUP);
    while (const auto arrived = taken_.next()) {
      if (arrived->number == SIGWINCH)
        on_->resize();
      else if (arrived->number == SIGTSTP)
        stop_until_continued(*on_);
      else if (arrived->number == SIGINT)
        end(0);
      else if (signals::ends_a_wait(arrived->number))
        end(arrived->number);
    }
  }

  void read_mail() {
    for (auto& each : mail_.take()) std::visit([this](auto& news) { learn(news); }, each);
  }
  void learn(const top_mailbox::seen& news) {
    history_.add(news.what, news.when);
    shown_.show(history_);
  }
  void learn(const top_mailbox::failed& news) { shown_.show_failure(in_words_of_the_shell(news.sentence)); }
  void learn(const top_mailbox::told& news) { shown_.show_message(in_words_of_the_shell(news.sentence)); }

  void read_keys() {
    while (!is_over_) {
      const auto typed = on_->read();
      if (!typed) return;
      carry_out(shown_.press(*typed));
    }
  }

  void carry_out(top_screen::request wanted) {
    using kind = top_screen::request::kind;
    if (wanted.what == kind::quit) end(0);
    if (wanted.what == kind::look) looker_.look();
    if (wanted.what == kind::free) looker_.free(std::move(*wanted.shown));
  }

  void end(int died_of) {
    is_over_ = true;
    died_of_ = died_of;
  }

  const signals& taken_;
  top_mailbox& mail_;
  top_screen shown_;
  top_history history_;
  bool is_hung_up_ = false;
  bool is_over_ = false;
  int died_of_ = 0;
  top_looker looker_;
  std::optional<curses_screen> on_{};  // the last: the terminal is given back before anything is waited for
};

/// Warnings would be written into the screen.
std::function<void(const event&)> observer_to(const std::shared_ptr<top_mailbox>& mail) {
  return [mail](const event& e) {
    if (const auto* warning = std::get_if<events::warning>(&e.what))
      mail->put(top_mailbox::told{"warning: " + warning->sentence});
  };
}

int show_on_terminal(const options& given) {
  const signals taken{SIGWINCH, SIGTSTP};
  const auto mail = std::make_shared<top_mailbox>();
  auto locks = connect(given, observer_to(mail));
  const auto first = look_at_all(locks, given.prefix);
  top_session session{locks, given, taken, *mail};
  return session.show(first);
}

}  // namespace

int top(const options& given) {
  std::setlocale(LC_CTYPE, "");  // NOLINT(concurrency-mt-unsafe): before there is any other thread
  const bool is_live = !given.top.is_once && curses_screen::is_possible();
  const int died_of = is_live ? show_on_terminal(given) : print_tables(given);
  if (died_of != 0) signals::die_of(died_of);
  return exit_status::done;
}

}  // namespace rowlock::command
