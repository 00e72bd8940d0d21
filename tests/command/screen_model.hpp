#pragma once

#include <vterm.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rowlock::test {

/// What somebody sees who sits at a terminal that was sent certain bytes.
class screen_model {
 public:
  screen_model(int columns, int lines);

  void feed(std::string_view bytes);
  void resize(int columns, int lines);

  int columns() const noexcept { return columns_; }
  /// In UTF-8, each without the spaces at its end.
  std::vector<std::string> lines() const;
  /// All of them, each with its end.
  std::string text() const;
  /// The first that has it; empty: none has.
  std::string line_with(std::string_view text) const;
  /// The first whose first letter is shown in reverse, below the first line of all.
  std::string reversed_line() const;

 private:
  struct release {
    void operator()(VTerm* all) const noexcept { vterm_free(all); }
  };
  std::string line(int number) const;

  int columns_;
  int lines_;
  std::unique_ptr<VTerm, release> all_;
  VTermScreen* screen_;
};

}  // namespace rowlock::test
