#pragma once

#include <optional>
#include <vector>

#include "command/top_screen.hpp"

struct screen;  // SCREEN of curses.h

namespace rowlock::command {

/// The terminal of standard input and output. It is taken over while this object exists, and given back as it was.
/// Ctrl-C and Ctrl-Z remain signals there; the owner of this object answers them.
class curses_screen {
 public:
  /// Throws std::runtime_error where the type of the terminal is not known.
  curses_screen();
  curses_screen(const curses_screen&) = delete;
  curses_screen& operator=(const curses_screen&) = delete;
  ~curses_screen();

  /// Whether standard input and output are a terminal on which lines can be placed.
  static bool is_possible();

  extent size() const;
  /// The terminal has another size now.
  void resize();
  void draw(const std::vector<screen_line>& lines);
  /// nullopt: nothing more has been typed.
  std::optional<key> read();

  /// Gives the terminal back until resume().
  void suspend();
  void resume();

 private:
  screen* at_;
};

}  // namespace rowlock::command
