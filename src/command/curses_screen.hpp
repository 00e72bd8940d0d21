#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "command/top_screen.hpp"

namespace rowlock::command {

/// The terminal of standard input and output, taken over from its construction on, and given back as it was when this
/// object goes. Ctrl-C and Ctrl-Z are signals there as usual; whoever has this object answers them.
class curses_screen {
 public:
  /// Throws std::runtime_error where nothing is known of such a terminal.
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
  struct terminal;
  std::unique_ptr<terminal> at_;
};

}  // namespace rowlock::command
