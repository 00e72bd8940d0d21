#include "command/curses_screen.hpp"

#include <curses.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wctype.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "base/text.hpp"
#include "command/database.hpp"

namespace rowlock::command {

namespace {

constexpr int escape_milliseconds = 50;  // after an escape without a following byte, it is the Escape key
constexpr wint_t escape = 27;
constexpr wint_t del = 127;

struct function_key {
  wint_t code;
  key::kind what;
};
constexpr function_key function_keys[] = {{KEY_UP, key::kind::up},         {KEY_DOWN, key::kind::down},
                                          {KEY_PPAGE, key::kind::page_up}, {KEY_NPAGE, key::kind::page_down},
                                          {KEY_HOME, key::kind::first},    {KEY_END, key::kind::last},
                                          {KEY_ENTER, key::kind::enter},   {KEY_BACKSPACE, key::kind::backspace}};

key key_of_function(wint_t code) {
  for (const auto& each : function_keys)
    if (each.code == code) return {each.what};
  return {};
}

key key_of_character(wint_t c) {
  if (c == L'\n' || c == L'\r') return {key::kind::enter};
  if (c == escape) return {key::kind::escape};
  if (c == L'\b' || c == del) return {key::kind::backspace};
  if (::iswprint(c) == 0) return {key::kind::other};
  return {key::kind::character, static_cast<wchar_t>(c)};
}

/// For each screen_line::look.
constexpr attr_t attributes[] = {A_NORMAL, A_BOLD, A_REVERSE, A_BOLD | A_REVERSE};

}  // namespace

bool curses_screen::is_possible() {
  const auto type = variable("TERM");
  return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1 && !type.empty() && type != "dumb";
}

curses_screen::curses_screen() : at_{::newterm(nullptr, stdout, stdin)} {
  if (at_ == nullptr)
    throw std::runtime_error{"the type of this terminal, " + base::quoted(variable("TERM")) +
                             ", is not known; rowlock top --once prints a table"};
  ::set_escdelay(escape_milliseconds);
  ::cbreak();
  ::noecho();
  ::keypad(stdscr, TRUE);
  ::nodelay(stdscr, TRUE);
  ::curs_set(0);
}

curses_screen::~curses_screen() {
  ::endwin();
  ::delscreen(at_);
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
    ::wattrset(stdscr, static_cast<int>(attributes[static_cast<std::size_t>(lines[i].how)]));
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
  return what == KEY_CODE_YES ? key_of_function(typed) : key_of_character(typed);
}

void curses_screen::suspend() { ::endwin(); }

void curses_screen::resume() {
  resize();
  ::wrefresh(stdscr);
}

}  // namespace rowlock::command
