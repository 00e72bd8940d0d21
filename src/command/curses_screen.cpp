#include "command/curses_screen.hpp"

#include <curses.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wctype.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rowlock::command {

namespace {

constexpr int escape_milliseconds = 50;  // how long the rest of a key that begins with escape may take
constexpr wint_t escape = 27;
constexpr wint_t del = 127;

std::string terminal_type() {
  const char* const type = std::getenv("TERM");  // NOLINT(concurrency-mt-unsafe): nobody sets any
  return type != nullptr ? type : "";
}

key::kind kind_of_function(wint_t code) {
  switch (code) {
    case KEY_UP:
      return key::kind::up;
    case KEY_DOWN:
      return key::kind::down;
    case KEY_PPAGE:
      return key::kind::page_up;
    case KEY_NPAGE:
      return key::kind::page_down;
    case KEY_HOME:
      return key::kind::first;
    case KEY_END:
      return key::kind::last;
    case KEY_ENTER:
      return key::kind::enter;
    case KEY_BACKSPACE:
      return key::kind::backspace;
    default:
      return key::kind::other;
  }
}

key key_of_character(wint_t c) {
  if (c == L'\n' || c == L'\r') return {key::kind::enter};
  if (c == escape) return {key::kind::escape};
  if (c == L'\b' || c == del) return {key::kind::backspace};
  if (::iswprint(c) == 0) return {key::kind::other};
  return {key::kind::character, static_cast<wchar_t>(c)};
}

attr_t attributes_of(screen_line::look how) {
  switch (how) {
    case screen_line::look::plain:
      return A_NORMAL;
    case screen_line::look::bright:
      return A_BOLD;
    case screen_line::look::reversed:
      return A_REVERSE;
    case screen_line::look::alarming:
      return A_BOLD | A_REVERSE;
  }
  return A_NORMAL;
}

}  // namespace

struct curses_screen::terminal {
  SCREEN* screen;
};

bool curses_screen::is_possible() {
  const auto type = terminal_type();
  return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1 && !type.empty() && type != "dumb";
}

curses_screen::curses_screen() : at_{std::make_unique<terminal>(terminal{::newterm(nullptr, stdout, stdin)})} {
  if (at_->screen == nullptr)
    throw std::runtime_error{"nothing is known of a terminal of the type \"" + terminal_type() +
                             "\"; rowlock top --once prints a table"};
  ::set_escdelay(escape_milliseconds);
  ::cbreak();
  ::noecho();
  ::keypad(stdscr, TRUE);
  ::nodelay(stdscr, TRUE);
  ::curs_set(0);
}

curses_screen::~curses_screen() {
  ::endwin();
  ::delscreen(at_->screen);
}

extent curses_screen::size() const {
  return {static_cast<std::size_t>(std::max(::getmaxx(stdscr), 1)),
          static_cast<std::size_t>(std::max(::getmaxy(stdscr), 1))};
}

void curses_screen::resize() {
  winsize now{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &now) != 0 || now.ws_row == 0 || now.ws_col == 0) return;
  ::resizeterm(now.ws_row, now.ws_col);
  ::clearok(stdscr, TRUE);
}

void curses_screen::draw(const std::vector<screen_line>& lines) {
  ::werase(stdscr);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    ::wattrset(stdscr, static_cast<int>(attributes_of(lines[i].how)));
    ::wmove(stdscr, static_cast<int>(i), 0);
    ::waddnwstr(stdscr, lines[i].text.c_str(), static_cast<int>(lines[i].text.size()));
  }
  ::wattrset(stdscr, A_NORMAL);
  ::wrefresh(stdscr);
}

std::optional<key> curses_screen::read() {
  wint_t typed = 0;
  const int what = ::wget_wch(stdscr, &typed);
  if (what == ERR) return std::nullopt;
  return what == KEY_CODE_YES ? key{kind_of_function(typed)} : key_of_character(typed);
}

void curses_screen::suspend() { ::endwin(); }

void curses_screen::resume() {
  resize();
  ::wrefresh(stdscr);
}

}  // namespace rowlock::command
