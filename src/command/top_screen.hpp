#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
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

/// By age and queue: the largest first. By lease: the earliest end first. Rows without the value are last. The sort is
/// stable.
void sort_rows(std::vector<top_row>& rows, top_order by, bool is_reversed);

/// Whether the name as printed contains the filter; if the filter begins with "^", begins with it.
bool matches(const top_row& row, std::string_view filter);

/// A column of the table.
struct top_column {
  std::string_view title;
  std::size_t width;  ///< at least
  bool is_number;     ///< right-aligned
  int leaves_as;      ///< on a narrow screen the columns with the smallest numbers are left out
  std::string (*text)(const top_row& row);
};
/// The columns that fit on a screen of this width, from left to right; without one, all.
std::vector<top_column> top_columns(std::size_t screen = std::numeric_limits<std::size_t>::max());

/// A typed key.
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
  wchar_t character = 0;  ///< for kind::character
};

struct extent {
  std::size_t columns = 0;
  std::size_t lines = 0;
};

/// A line as wide as the screen.
struct screen_line {
  enum class look : std::uint8_t { plain, bright, reversed, alarming };
  std::wstring text{};
  look how = look::plain;
};

/// The content of the screen of `rowlock top`, and the effect of keys on it, without terminal and database.
///
///   browsing --/--> filtering --enter, escape--> browsing
///   browsing --f--> asking    --any key--------> browsing
class top_screen {
 public:
  explicit top_screen(const options& given);

  /// The action that a key requests of the caller.
  struct request {
    enum class kind : std::uint8_t { nothing, quit, look, free };
    kind what = kind::nothing;
    std::optional<lock_info> shown{};  ///< the lock to free, as it was when the question was asked
  };
  request press(key typed);

  void show(const overview& seen);
  /// Shows why a visit failed; the rows of an earlier one remain.
  void show_failure(const std::string& sentence) { failure_ = sentence; }
  /// Shows a message until the next key.
  void show_message(const std::string& sentence) { message_ = sentence; }

  /// As many lines as the screen has.
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
  duration quarantine_{};
  std::string message_{};
  std::optional<lock_info> asked_about_{};
  std::vector<top_row> all_{};
  std::vector<top_row> rows_{};  ///< the rows that match the filter, sorted
  std::string selected_{};       ///< a name
  std::size_t selected_at_ = 0;  ///< its row: if the name is gone, the selection remains here
  std::size_t first_ = 0;        ///< the first row on the screen
  std::size_t page_ = 1;         ///< the number of rows on the screen
};

}  // namespace rowlock::command
