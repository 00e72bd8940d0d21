#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command/options.hpp"
#include "command/situation.hpp"

namespace rowlock::command {

/// A name that is held or waited for.
struct top_row {
  std::string name{};
  std::optional<lock_info> holder{};
  std::size_t waiting = 0;
  std::optional<duration> longest_wait{};
};

/// In the order of the names.
std::vector<top_row> rows_of(const overview& seen);

/// By age and queue: the largest first. By lease: the one that ends first is the first. Rows whose value is not known
/// come last. Rows that are alike keep their order.
void sort_rows(std::vector<top_row>& rows, top_order by, bool is_reversed);

/// Whether the name has the text anywhere in it; where the text begins with "^", at its beginning. Both as they are
/// printed.
bool matches(const top_row& row, std::string_view filter);

/// A column of the table.
struct top_column {
  std::string_view title;
  std::size_t width;  ///< at least
  bool is_number;     ///< and stands on the right
  int leaves_as;      ///< on a narrow screen the columns with the smallest numbers are left out
  std::string (*text)(const top_row& row);
};
/// All of them, from left to right.
std::vector<top_column> top_columns();
/// Those for which the screen has room.
std::vector<top_column> top_columns(std::size_t screen);

/// What was typed.
struct key {
  enum class kind : std::uint8_t {
    character,
    up,
    down,
    page_up,
    page_down,
    first,
    last,
    enter,
    escape,
    backspace,
    other
  };
  kind what = kind::other;
  wchar_t character = 0;  ///< of that kind
};

struct extent {
  std::size_t columns = 0;
  std::size_t lines = 0;
};

/// A line of the screen: as many columns as the screen has.
struct screen_line {
  enum class look : std::uint8_t { plain, bright, reversed, alarming };
  std::wstring text{};
  look how = look::plain;
};

/// What the screen of `rowlock top` shows, and what keys do to it. It knows no terminal and no database.
///
///   browsing --/--> filtering --enter, escape--> browsing
///   browsing --f--> asking    --any key--------> browsing
class top_screen {
 public:
  explicit top_screen(const options& given);

  /// What the person who typed a key wants done.
  struct request {
    enum class kind : std::uint8_t { nothing, quit, look, free };
    kind what = kind::nothing;
    std::optional<lock_info> shown{};  ///< the lock to free, as it was when the question was asked
  };
  request press(key typed);

  void show(const overview& seen);
  /// A look failed: the rows are those of an earlier one.
  void show_failure(const std::string& sentence) { failure_ = sentence; }
  /// Until the next key.
  void show_message(const std::string& sentence) { message_ = sentence; }

  /// Exactly as many lines as the screen has.
  std::vector<screen_line> lines(extent of);

 private:
  enum class mode : std::uint8_t { browsing, filtering, asking };

  request browse(key typed);
  request answer(key typed);
  void edit_filter(key typed);
  void sort_by(top_order by);
  void ask();
  void move(std::ptrdiff_t by);
  void arrange();
  std::wstring title(std::size_t columns) const;
  std::vector<screen_line> notices(std::size_t columns) const;
  screen_line key_line(std::size_t columns) const;
  std::vector<screen_line> table(extent of);

  std::string prefix_;
  duration every_;
  top_order by_;
  mode mode_ = mode::browsing;
  bool is_reversed_ = false;
  std::wstring filter_{};
  std::string failure_{};
  std::string message_{};
  std::optional<lock_info> asked_about_{};
  std::vector<top_row> all_{};
  std::vector<top_row> rows_{};  ///< those that match the filter, sorted
  std::string selected_{};       ///< the name
  std::size_t selected_at_ = 0;  ///< its row: the selection remains there when the name is gone
  std::size_t first_ = 0;        ///< the first row on the screen
  std::size_t page_ = 1;         ///< the number of rows on the screen
};

}  // namespace rowlock::command
