#include "command/top_screen.hpp"

#include <fmt/format.h>
#include <wchar.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "base/text.hpp"
#include "command/cells.hpp"
#include "command/words.hpp"

namespace rowlock::command {

namespace {

using look = screen_line::look;

std::wstring cells(std::string_view text) { return to_cells(base::printable(text)); }

std::string holder_of(const top_row& row) {
  if (!row.holder) return "-";
  if (is_released(*row.holder)) return row.holder->owner + " (released)";
  if (!row.holder->owner.empty()) return row.holder->owner;
  return row.holder->held_by_transaction ? "a transaction" : "-";
}

std::string token_of(const top_row& row) { return row.holder ? token_or_dash(*row.holder) : "-"; }

struct column {
  std::wstring_view title;
  std::size_t width = 0;
  bool is_number = false;
  std::function<std::wstring(const top_row&)> text{};
};

column number(std::wstring_view title, std::size_t width, std::string (*text)(const top_row&)) {
  return {title, width, true, [text](const top_row& row) { return to_cells(text(row)); }};
}

constexpr std::size_t graph_columns = top_history::depth;

/// Those between the name and the holder; a wide screen has more.
std::vector<column> columns_in_the_middle(std::size_t screen) {
  std::vector<column> out;
  if (screen >= 130) out.push_back(number(L"TOKEN", 16, token_of));
  out.push_back(number(
      L"HELD", 7, [](const top_row& r) { return duration_or_dash(r.holder ? r.holder->held_for : std::nullopt); }));
  out.push_back(number(
      L"LEASE", 7, [](const top_row& r) { return duration_or_dash(r.holder ? r.holder->expires_in : std::nullopt); }));
  out.push_back(number(L"GRANTS/S", 8, [](const top_row& r) { return text_of(r.grants); }));
  out.push_back(number(L"WAIT", 4, [](const top_row& r) { return std::to_string(r.waiting); }));
  if (screen >= 100)
    out.push_back(number(L"LONGEST", 7, [](const top_row& r) { return duration_or_dash(r.longest_wait); }));
  if (screen >= 70)
    out.push_back(
        {L"QUEUE", graph_columns, false, [](const top_row& r) { return graph_of(r.lengths, graph_columns); }});
  return out;
}

std::size_t width_of(const std::vector<column>& all) {
  std::size_t out = 0;
  for (const auto& each : all) out += each.width + 1;
  return out;
}

/// The name, the holder and the note share what the others leave.
std::vector<column> columns_for(const std::vector<top_row>& rows, std::size_t screen) {
  auto out = columns_in_the_middle(screen);
  const auto used = width_of(out);
  const auto left = screen > used ? screen - used : 0;
  std::size_t longest = 12;
  for (const auto& row : rows) longest = std::max(longest, columns_of(cells(row.name)));
  const bool has_note = screen >= 150;
  const auto name = std::min(longest, left * 2 / (has_note ? 5 : 4) + 1);
  auto rest = left > name + 1 ? left - name - 1 : 0;
  out.insert(out.begin(), {L"NAME", name, false, [](const top_row& r) { return cells(r.name); }});
  const auto note = has_note ? rest / 3 : 0;
  out.push_back(
      {L"HOLDER", rest - (has_note ? note + 1 : 0), false, [](const top_row& r) { return cells(holder_of(r)); }});
  if (has_note)
    out.push_back({L"NOTE", note, false, [](const top_row& r) { return r.holder ? cells(r.holder->note) : L""; }});
  return out;
}

template <class Text>
std::wstring joined(const std::vector<column>& all, std::size_t screen, Text text) {
  std::wstring out;
  for (const auto& each : all) {
    if (!out.empty()) out += L' ';
    out += each.is_number ? fitted_right(text(each), each.width) : fitted(text(each), each.width);
  }
  return fitted(out, screen);
}

/// In lines of so many columns, parted at spaces where there are any.
std::vector<std::wstring> wrapped(std::wstring_view text, std::size_t columns) {
  std::vector<std::wstring> out;
  while (columns > 0 && !text.empty()) {
    std::size_t end = 0;
    std::size_t used = 0;
    std::size_t space = 0;
    for (; end < text.size(); ++end) {
      used += columns_of(text.substr(end, 1));
      if (used > columns) break;
      if (text[end] == L' ') space = end + 1;
    }
    if (end < text.size() && space > 0) end = space;
    out.emplace_back(text.substr(0, std::max<std::size_t>(end, 1)));
    text.remove_prefix(std::max<std::size_t>(end, 1));
  }
  return out;
}

std::string question_about(const lock_info& lock) {
  auto out = "Free \"" + std::string{lock.name.view()} + "\"? It is held by " +
             (lock.owner.empty() ? "a transaction" : lock.owner);
  if (lock.held_for) out += " for " + format_duration(*lock.held_for);
  if (const auto token = known_token(lock))
    out += ", with the token " + std::to_string(token->value());
  else
    out += ", with a token that is not known: whoever has it by then loses it";
  if (!lock.note.empty()) out += ", note: " + lock.note;
  return out + ". Its holder is not stopped. [y/N]";
}

bool is_character(key typed, wchar_t c) { return typed.what == key::kind::character && typed.character == c; }

struct order_key {
  wchar_t key;
  top_order by;
  std::wstring_view label;
};
constexpr order_key order_keys[] = {{L'n', top_order::name, L"n name"},
                                    {L'a', top_order::age, L"a age"},
                                    {L'l', top_order::lease, L"l lease"},
                                    {L'w', top_order::queue, L"w queue"},
                                    {L'r', top_order::rate, L"r rate"}};

}  // namespace

// One step for each who waits; the highest is for eight and more.
std::wstring graph_of(const std::vector<std::size_t>& lengths, std::size_t columns) {
  const bool has_blocks = ::wcwidth(L'\u2581') == 1;
  const std::wstring_view steps = has_blocks ? L"\u00b7\u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588" : L"_.,-~:+*#";
  std::wstring out;
  const auto first = lengths.size() > columns ? lengths.size() - columns : 0;
  for (auto i = first; i < lengths.size(); ++i) out += steps[std::min(lengths[i], steps.size() - 1)];
  return fitted_right(out, columns);
}

// --- what happens ----------------------------------------------------------------------------------------------------

void top_screen::show(const top_history& seen) {
  all_ = seen.rows();
  grants_ = seen.grants();
  failure_.clear();
  arrange();
}

void top_screen::show_failure(const std::string& sentence) { failure_ = sentence; }

void top_screen::arrange() {
  const auto filter = to_utf8(filter_);
  rows_.clear();
  std::copy_if(all_.begin(), all_.end(), std::back_inserter(rows_),
               [&](const top_row& each) { return matches(each, filter); });
  sort_rows(rows_, how_.by, is_reversed_);
  selected_at_ = index_of_selected();
  if (selected_at_ < rows_.size()) selected_ = rows_[selected_at_].name;
}

std::size_t top_screen::index_of_selected() const {
  const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const top_row& r) { return r.name == selected_; });
  if (found != rows_.end()) return static_cast<std::size_t>(found - rows_.begin());
  return rows_.empty() ? 0 : std::min(selected_at_, rows_.size() - 1);
}

void top_screen::move(std::ptrdiff_t by) {
  if (rows_.empty()) return;
  const auto last = static_cast<std::ptrdiff_t>(rows_.size()) - 1;
  selected_at_ =
      static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(selected_at_) + by, 0, last));
  selected_ = rows_[selected_at_].name;
}

void top_screen::sort_by(top_order by) {
  is_reversed_ = how_.by == by && !is_reversed_;
  how_.by = by;
  arrange();
}

void top_screen::ask() {
  if (selected_at_ >= rows_.size()) return;
  const top_row& row = rows_[selected_at_];
  if (!row.holder) return show_message("nobody holds \"" + row.name + '"');
  asked_about_ = row.holder;
  mode_ = mode::asking;
}

top_screen::request top_screen::press(key typed) {
  message_.clear();
  switch (mode_) {
    case mode::browsing:
      return browse(typed);
    case mode::asking:
      return answer(typed);
    case mode::filtering:
      edit_filter(typed);
      break;
  }
  return {};
}

// Beside those of the last line.
constexpr auto* other_keys =
    "arrows, j, k, page up and down, home, end: select; space: look now; a key of sorting again: the other way round; "
    "rowlock top --help has more";

top_screen::request top_screen::browse(key typed) {
  const auto page = static_cast<std::ptrdiff_t>(page_);
  const auto all = static_cast<std::ptrdiff_t>(rows_.size());
  using kind = key::kind;
  if (is_character(typed, L'q')) return {.what = request::kind::quit};
  if (is_character(typed, L' ')) return {.what = request::kind::look};
  if (is_character(typed, L'f')) ask();
  if (is_character(typed, L'?')) show_message(other_keys);
  if (is_character(typed, L'/')) mode_ = mode::filtering;
  for (const auto& each : order_keys)
    if (is_character(typed, each.key)) sort_by(each.by);
  if (typed.what == kind::up || is_character(typed, L'k')) move(-1);
  if (typed.what == kind::down || is_character(typed, L'j')) move(1);
  if (typed.what == kind::page_up) move(-page);
  if (typed.what == kind::page_down) move(page);
  if (typed.what == kind::first) move(-all);
  if (typed.what == kind::last) move(all);
  if (typed.what == kind::escape) {
    filter_.clear();
    arrange();
  }
  return {};
}

top_screen::request top_screen::answer(key typed) {
  mode_ = mode::browsing;
  auto shown = std::exchange(asked_about_, std::nullopt);
  if (is_character(typed, L'y') || is_character(typed, L'Y'))
    return {.what = request::kind::free, .shown = std::move(shown)};
  show_message('"' + std::string{shown->name.view()} + "\" was not freed");
  return {};
}

void top_screen::edit_filter(key typed) {
  switch (typed.what) {
    case key::kind::character:
      filter_ += typed.character;
      break;
    case key::kind::backspace:
      if (!filter_.empty()) filter_.pop_back();
      break;
    case key::kind::escape:
      filter_.clear();
      mode_ = mode::browsing;
      break;
    case key::kind::enter:
      mode_ = mode::browsing;
      break;
    default:
      break;
  }
  arrange();
}

// --- what is shown ---------------------------------------------------------------------------------------------------

std::wstring top_screen::title(std::size_t columns) const {
  std::size_t held = 0;
  std::size_t waiting = 0;
  for (const auto& row : all_) {
    if (row.holder) ++held;
    waiting += row.waiting;
  }
  auto left = fmt::format("rowlock top: {} held, {} waiting, {} grants/s", held, waiting, text_of(grants_));
  if (!how_.prefix.empty()) left += ", names that begin with " + how_.prefix;
  const auto right = L" every " + cells(format_duration(how_.every));
  const auto begin = cells(left);
  if (columns_of(begin) + columns_of(right) > columns) return fitted(begin, columns);
  return fitted(begin, columns - columns_of(right)) + right;
}

std::vector<screen_line> top_screen::notices(std::size_t columns) const {
  std::vector<screen_line> out;
  const auto add = [&](std::wstring_view text, look how) {
    for (const auto& line : wrapped(text, columns)) out.push_back({fitted(line, columns), how});
  };
  if (!failure_.empty()) add(cells("Trying again: " + failure_), look::alarming);
  if (!message_.empty()) add(cells(message_), look::bright);
  if (mode_ == mode::filtering || !filter_.empty())
    add(L"Filter: " + filter_ +
            (mode_ == mode::filtering ? L"_  (^ for the beginning; enter, or escape for none)" : L""),
        look::bright);
  if (mode_ == mode::asking) add(cells(question_about(*asked_about_)), look::alarming);
  return out;
}

screen_line top_screen::key_line(std::size_t columns) const {
  std::wstring text = L"q quit  ? keys  / filter  f free  sort:";
  for (const auto& each : order_keys) {
    const bool is_it = each.by == how_.by;
    text += std::wstring{L" "} + (is_it ? L"[" : L"") + std::wstring{each.label} + (is_it ? L"]" : L"");
  }
  return {fitted(text, columns), look::reversed};
}

std::vector<screen_line> top_screen::table(extent of) {
  std::vector<screen_line> out;
  if (of.lines == 0) return out;
  const auto columns = columns_for(rows_, of.columns);
  out.push_back({joined(columns, of.columns, [](const column& c) { return c.title; }), look::bright});
  page_ = std::max<std::size_t>(of.lines - 1, 1);
  first_ = std::min(first_, selected_at_);
  if (selected_at_ >= first_ + page_) first_ = selected_at_ - page_ + 1;
  if (first_ + page_ > rows_.size()) first_ = rows_.size() > page_ ? rows_.size() - page_ : 0;
  for (auto i = first_; i < rows_.size() && out.size() < of.lines; ++i)
    out.push_back({joined(columns, of.columns, [&](const column& c) { return c.text(rows_[i]); }),
                   i == selected_at_ ? look::reversed : look::plain});
  return out;
}

// The notices keep their room before the table does.
std::vector<screen_line> top_screen::lines(extent of) {
  std::vector<screen_line> out;
  if (of.lines == 0) return out;
  out.push_back({title(of.columns), look::bright});
  const auto between = of.lines - std::min<std::size_t>(of.lines, 2);
  auto said = notices(of.columns);
  said.resize(std::min(said.size(), between));
  auto rows = table({of.columns, between - said.size()});
  rows.resize(between - said.size(), {std::wstring(of.columns, L' ')});
  out.insert(out.end(), rows.begin(), rows.end());
  out.insert(out.end(), said.begin(), said.end());
  if (of.lines > 1) out.push_back(key_line(of.columns));
  return out;
}

}  // namespace rowlock::command
