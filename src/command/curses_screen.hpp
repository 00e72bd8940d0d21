#pragma once

#include <optional>
#include <vector>

#include "command/top_screen.hpp"

struct screen;  // SCREEN of curses.h

namespace rowlock::command {

/// The terminal of standard input and output, in the mode of curses while this object exists. Ctrl-C and Ctrl-Z remain
/// signals; the owner of this object handles them.
class curses_screen {
 public:
  /// Throws std::runtime_error if the type of the terminal is unknown.
  curses_screen();
  curses_screen(const curses_screen&) = delete;
  curses_screen& operator=(const curses_screen&) = delete;
  ~curses_screen();

  /// Whether standard input and output are a terminal that can move its cursor.
  static bool is_possible();

  extent size() const;
  /// Adopts the terminal's new size.
  void resize();
  void draw(const std::vector<screen_line>& lines);
  /// nullopt: no key is pending.
  std::optional<key> read();

  /// Restores the terminal until resume().
  void suspend();
  void resume();

 private:
  screen* at_;
};

}  // namespace rowlock::command
