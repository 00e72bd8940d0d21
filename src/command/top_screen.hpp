#pragma once

#include <rowlock/fencing_token.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command/top_rows.hpp"

namespace rowlock::command {

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
  struct appearance {
    std::string prefix{};  ///< of the names that are looked at
    duration every = std::chrono::seconds{1};
    top_order by = top_order::name;
  };
  explicit top_screen(appearance how) : how_{std::move(how)} {}

  /// What somebody who has typed a key wants done.
  struct request {
    enum class kind : std::uint8_t { nothing, quit, look, free };
    kind what = kind::nothing;
    std::optional<lock_info> shown{};  ///< to be freed, as it was shown when it was asked for
  };
  request press(key typed);

  void show(const top_history& seen);
  /// A look failed: what is shown is old.
  void show_failure(const std::string& sentence);
  /// Until the next key.
  void show_message(const std::string& sentence) { message_ = sentence; }

  /// Exactly so many lines.
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
  std::size_t index_of_selected() const;
  std::wstring title(std::size_t columns) const;
  std::vector<screen_line> notices(std::size_t columns) const;
  screen_line key_line(std::size_t columns) const;
  std::vector<screen_line> table(extent of);

  appearance how_;
  mode mode_ = mode::browsing;
  bool is_reversed_ = false;
  std::wstring filter_{};
  std::string failure_{};
  std::string message_{};
  std::optional<lock_info> asked_about_{};
  std::vector<top_row> all_{};
  std::vector<top_row> rows_{};  ///< those that match the filter, in their order
  std::optional<grant_rate> grants_{};
  std::string selected_{};       ///< the name
  std::size_t selected_at_ = 0;  ///< where it was: the selection stays there when the name goes
  std::size_t first_ = 0;        ///< the first row on the screen
  std::size_t page_ = 1;         ///< how many there are
};

/// A column for each length, the latest last, in `columns` columns.
std::wstring graph_of(const std::vector<std::size_t>& lengths, std::size_t columns);

}  // namespace rowlock::command
