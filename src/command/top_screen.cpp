#include "command/top_screen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.hpp"
#include "command/cells.hpp"
#include "command/words.hpp"

namespace rowlock::command {

namespace {

using look = screen_line::look;

std::wstring cells(std::string_view text) { return to_cells(base::printable(text)); }

// --- rows ------------------------------------------------------------------------------------------------------------

/// The greatest is first. ~ reverses the order, and does not overflow as - does.
std::optional<std::int64_t> rank_of(const top_row& row, top_order by) {
  const auto& lock = row.holder;
  if (by == top_order::queue) return static_cast<std::int64_t>(row.waiting);
  if (by == top_order::age && lock && lock->held_for) return lock->held_for->count();
  if (by == top_order::lease && lock && lock->expires_in) return ~lock->expires_in->count();
  return std::nullopt;
}

// --- columns ---------------------------------------------------------------------------------------------------------

constexpr top_column all_columns[] = {
    {"NAME", 12, false, 8, [](const top_row& r) { return r.name; }},
    {"TOKEN", 16, true, 1, [](const top_row& r) { return r.holder ? token_or_dash(*r.holder) : "-"; }},
    {"HELD", 7, true, 6,
     [](const top_row& r) { return duration_or_dash(r.holder ? r.holder->held_for : std::nullopt); }},
    {"LEASE", 7, true, 4,
     [](const top_row& r) { return duration_or_dash(r.holder ? r.holder->expires_in : std::nullopt); }},
    {"WAIT", 4, true, 5, [](const top_row& r) { return std::to_string(r.waiting); }},
    {"LONGEST", 7, true, 2, [](const top_row& r) { return duration_or_dash(r.longest_wait); }},
    {"HOLDER", 20, false, 7, [](const top_row& r) { return r.holder ? owner_of(*r.holder) : "-"; }},
    {"NOTE", 12, false, 3, [](const top_row& r) { return r.holder ? r.holder->note : std::string{}; }}};

std::size_t width_of(const std::vector<top_column>& all) {
  std::size_t out = all.empty() ? 0 : all.size() - 1;  // spaces between them
  for (const auto& each : all) out += each.width;
  return out;
}

/// Each text column in turn grows to its longest text, by at most half of the remaining space. The last one takes the
/// rest.
void widen(std::vector<top_column>& all, const std::vector<top_row>& rows, std::size_t screen) {
  auto left = screen - std::min(screen, width_of(all));
  top_column* last = nullptr;
  for (auto& each : all) {
    if (each.is_number) continue;
    std::size_t longest = each.width;
    for (const auto& row : rows) longest = std::max(longest, columns_of(cells(each.text(row))));
    const auto more = std::min(longest - each.width, left / 2);
    each.width += more;
    left -= more;
    last = &each;
  }
  if (last != nullptr) last->width += left;
}

template <class Text>
std::wstring joined(const std::vector<top_column>& all, std::size_t screen, Text text) {
  std::wstring out;
  for (const auto& each : all) {
    if (!out.empty()) out += L' ';
    out += each.is_number ? fitted_right(cells(text(each)), each.width) : fitted(cells(text(each)), each.width);
  }
  return fitted(out, screen);
}

// --- sentences -------------------------------------------------------------------------------------------------------

/// Breaks the text into lines of at most so many columns, at spaces if there are any.
std::vector<std::wstring> wrapped(const std::wstring& text, std::size_t columns) {
  std::vector<std::wstring> out;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    end = begin + 1;
    while (end < text.size() && columns_of(text.substr(begin, end + 1 - begin)) <= columns) ++end;
    const auto space = text.rfind(L' ', end - 1);
    if (end < text.size() && space != std::wstring::npos && space >= begin) end = space + 1;
    out.push_back(text.substr(begin, end - begin));
  }
  return out;
}

std::string question_about(const lock_info& lock) {
  const auto since = lock.held_for ? " for " + format_duration(*lock.held_for) : "";
  const auto token = token_or_dash(lock);
  return fmt::format("Free {}? It is held by {}{}, {}. Its holder is not stopped. [y/N]",
                     base::quoted(lock.name.view()), holder_in_words(lock), since,
                     token != "-" ? "token " + token : "with an unknown token: a later holder would lose it too");
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
                                    {L'w', top_order::queue, L"w queue"}};

/// The keys that the last line does not show.
constexpr auto* other_keys =
    "arrows, j, k, page up and down, home, end: select; space: look now; a sort key again: reverse the order; "
    "rowlock top --help has more";

}  // namespace

std::vector<top_row> rows_of(const overview& seen) {
  std::map<std::string, top_row, std::less<>> by_name;
  const auto row_of = [&](const lock_name& name) -> top_row& {
    auto& row = by_name[std::string{name.view()}];
    row.name = name.view();
    return row;
  };
  for (const auto& lock : seen.held) row_of(lock.name).holder = lock;
  for (const auto& waiter : seen.queue) {
    auto& row = row_of(waiter.name);
    ++row.waiting;
    row.longest_wait = std::max(row.longest_wait.value_or(waiter.age), waiter.age);
  }
  std::vector<top_row> out;
  for (auto& [name, row] : by_name) out.push_back(std::move(row));
  return out;
}

void sort_rows(std::vector<top_row>& rows, top_order by, bool is_reversed) {
  std::stable_sort(rows.begin(), rows.end(),
                   [by](const top_row& a, const top_row& b) { return rank_of(a, by) > rank_of(b, by); });
  if (is_reversed) std::reverse(rows.begin(), rows.end());
}

bool matches(const top_row& row, std::string_view filter) {
  const auto name = base::printable(row.name);
  if (filter.starts_with('^')) return name.starts_with(filter.substr(1));
  return name.find(filter) != std::string::npos;
}

std::vector<top_column> top_columns(std::size_t screen) {
  std::vector<top_column> out{std::begin(all_columns), std::end(all_columns)};
  for (int next = 1; out.size() > 1 && width_of(out) > screen; ++next)
    std::erase_if(out, [next](const top_column& each) { return each.leaves_as == next; });
  return out;
}

// --- what happens ----------------------------------------------------------------------------------------------------

top_screen::top_screen(const options& given) : prefix_{given.prefix}, every_{given.top.every}, by_{given.top.by} {}

void top_screen::show(const overview& seen) {
  all_ = rows_of(seen);
  quarantine_ = seen.quarantine;
  failure_.clear();
  arrange();
}

void top_screen::arrange() {
  const auto filter = to_utf8(filter_);
  rows_.clear();
  std::copy_if(all_.begin(), all_.end(), std::back_inserter(rows_),
               [&](const top_row& each) { return matches(each, filter); });
  sort_rows(rows_, by_, is_reversed_);
  const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const top_row& r) { return r.name == selected_; });
  if (found != rows_.end()) selected_at_ = static_cast<std::size_t>(found - rows_.begin());
  move(0);
}

void top_screen::move(std::ptrdiff_t by) {
  const auto last = std::max<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(rows_.size()) - 1, 0);
  const auto wanted = static_cast<std::ptrdiff_t>(selected_at_) + by;
  selected_at_ = static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(wanted, 0, last));
  if (!rows_.empty()) selected_ = rows_[selected_at_].name;
}

void top_screen::sort_by(top_order by) {
  is_reversed_ = by_ == by && !is_reversed_;
  by_ = by;
  arrange();
}

void top_screen::ask() {
  if (rows_.empty()) return;
  const top_row& row = rows_[selected_at_];
  if (!row.holder) return show_message(base::quoted(row.name) + " is not held");
  asked_about_ = row.holder;
  mode_ = mode::asking;
}

top_screen::request top_screen::press(key typed) {
  message_.clear();
  if (mode_ == mode::browsing) return browse(typed);
  if (mode_ == mode::asking) return answer(typed);
  edit_filter(typed);
  return {};
}

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
  show_message(base::quoted(shown->name.view()) + " was not freed");
  return {};
}

void top_screen::edit_filter(key typed) {
  using kind = key::kind;
  if (typed.what == kind::character) filter_ += typed.character;
  if (typed.what == kind::backspace && !filter_.empty()) filter_.pop_back();
  if (typed.what == kind::escape) filter_.clear();
  if (typed.what == kind::escape || typed.what == kind::enter) mode_ = mode::browsing;
  arrange();
}

// --- what is shown ---------------------------------------------------------------------------------------------------

std::wstring top_screen::title(std::size_t columns) const {
  const auto held = std::count_if(all_.begin(), all_.end(), [](const top_row& row) { return row.holder.has_value(); });
  std::size_t waiting = 0;
  for (const auto& row : all_) waiting += row.waiting;
  const auto about = prefix_.empty() ? "" : ", names that begin with " + prefix_;
  const auto left = cells(fmt::format("rowlock top: {} held, {} waiting{}", held, waiting, about));
  const auto right = L" every " + cells(format_duration(every_));
  if (columns_of(left) + columns_of(right) > columns) return fitted(left, columns);
  return fitted(left, columns - columns_of(right)) + right;
}

std::vector<screen_line> top_screen::notices(std::size_t columns) const {
  std::vector<screen_line> out;
  const auto add = [&](const std::wstring& text, look how) {
    for (const auto& line : wrapped(text, columns)) out.push_back({fitted(line, columns), how});
  };
  if (quarantine_ > duration::zero())
    add(cells("A quarantine is on: nothing is granted for " + format_duration(quarantine_)), look::alarming);
  if (!failure_.empty()) add(cells("Trying again: " + failure_), look::alarming);
  if (!message_.empty()) add(cells(message_), look::bright);
  if (mode_ == mode::filtering)
    add(L"Filter: " + filter_ + L"_  (^ for the beginning; enter, or escape for none)", look::bright);
  else if (!filter_.empty())
    add(L"Filter: " + filter_, look::bright);
  if (mode_ == mode::asking) add(cells(question_about(*asked_about_)), look::alarming);
  return out;
}

screen_line top_screen::key_line(std::size_t columns) const {
  std::wstring text = L"q quit  ? keys  / filter  f free  sort:";
  for (const auto& each : order_keys) {
    const bool is_it = each.by == by_;
    text += std::wstring{L" "} + (is_it ? L"[" : L"") + std::wstring{each.label} + (is_it ? L"]" : L"");
  }
  return {fitted(text, columns), look::reversed};
}

std::vector<screen_line> top_screen::table(extent of) {
  std::vector<screen_line> out;
  if (of.lines == 0) return out;
  auto columns = top_columns(of.columns);
  widen(columns, rows_, of.columns);
  out.push_back({joined(columns, of.columns, [](const top_column& c) { return c.title; }), look::bright});
  page_ = std::max<std::size_t>(of.lines - 1, 1);
  first_ = std::min(first_, selected_at_);
  if (selected_at_ >= first_ + page_) first_ = selected_at_ - page_ + 1;
  if (first_ + page_ > rows_.size()) first_ = rows_.size() > page_ ? rows_.size() - page_ : 0;
  for (auto i = first_; i < rows_.size() && out.size() < of.lines; ++i)
    out.push_back({joined(columns, of.columns, [&](const top_column& c) { return c.text(rows_[i]); }),
                   i == selected_at_ ? look::reversed : look::plain});
  return out;
}

// The notices are shown whole; the table takes the remaining lines.
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
