#include "base/time_zone.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace rowlock::inline v1::base {

using std::chrono::sys_seconds;

#ifdef ROWLOCK_HAS_STD_ZONES

std::optional<time_zone> time_zone::find(const std::string& name) try {
  time_zone out;
  if (name != "UTC") out.zone_ = std::chrono::locate_zone(name);
  return out;
} catch (const std::runtime_error&) {  // unknown, or no rules on this machine
  return std::nullopt;
}

time_zone::stretch time_zone::at(sys_seconds t) const {
  if (zone_ == nullptr) return {};
  const auto found = zone_->get_info(t);
  return {.begin = found.begin, .end = found.end, .offset = found.offset};
}

#else

namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::hours;
using std::chrono::January;
using std::chrono::last;
using std::chrono::minutes;
using std::chrono::month;
using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::weekday;
using std::chrono::year;
using std::chrono::year_month_day;

struct malformed {};

void require(bool fine) {
  if (!fine) throw malformed{};
}

/// Cuts a text into what it is made of.
class reader {
 public:
  explicit reader(std::string_view text) : rest_{text} {}

  std::string_view take(std::size_t size) {
    require(size <= rest_.size());
    const auto out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return out;
  }
  /// Big-endian, two's complement.
  std::int64_t integer(std::size_t bytes) {
    std::uint64_t out = 0;
    for (const char c : take(bytes)) out = out << 8U | static_cast<unsigned char>(c);
    const auto unused = 64 - 8 * bytes;
    return static_cast<std::int64_t>(out << unused) >> unused;
  }
  bool is_at_end() const { return rest_.empty(); }
  bool skip(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string_view until(char c) { return take(rest_.find(c)); }
  int number() {
    const auto end = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    require(end >= 1 && end <= 3);
    int out = 0;
    for (const char c : take(end)) out = 10 * out + (c - '0');
    return out;
  }
  void skip_letters() {
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    while (!rest_.empty() && is_letter(rest_.front())) take(1);
  }

 private:
  std::string_view rest_;
};

using stretches = std::vector<time_zone::stretch>;

/// From `begin` on, clocks are `offset` ahead of UTC.
void append(stretches& to, sys_seconds begin, seconds offset) {
  if (begin <= to.back().begin) return;
  to.back().end = begin;
  to.push_back({.begin = begin, .end = sys_seconds::max(), .offset = offset});
}

// The rule for the time after the last change of the file, in the notation of POSIX's variable TZ: "CET-1CEST,M3.5.0,
// M10.5.0/3". RFC 8536, section 3.3.

void skip_abbreviation(reader& from) {
  if (!from.skip('<')) return from.skip_letters();
  from.until('>');
  from.skip('>');
}

/// [+-]hours[:minutes[:seconds]]
seconds read_time(reader& from) {
  const bool is_negative = from.skip('-');
  if (!is_negative) from.skip('+');
  seconds out = hours{from.number()};
  if (from.skip(':')) out += minutes{from.number()};
  if (from.skip(':')) out += seconds{from.number()};
  return is_negative ? -out : out;
}

/// The day of a year, and the local time, of a change. Local times are written as if they were of UTC.
class yearly {
 public:
  explicit yearly(reader& from) {
    if (from.skip('M')) {
      month_ = from.number();
      from.skip('.');
      week_ = from.number();
      from.skip('.');
      day_ = from.number();
      require(month_ >= 1 && month_ <= 12 && week_ >= 1 && week_ <= 5 && day_ <= 6);
    } else {
      skips_leap_day_ = from.skip('J');
      day_ = from.number() - (skips_leap_day_ ? 1 : 0);
    }
    if (from.skip('/')) time_ = read_time(from);
  }

  sys_seconds in(year y) const { return day_in(y) + time_; }

 private:
  sys_days day_in(year y) const {
    const weekday day{static_cast<unsigned>(day_)};
    const auto within = y / month{static_cast<unsigned>(month_)};
    if (month_ != 0 && week_ == 5) return within / day[last];
    if (month_ != 0) return within / day[static_cast<unsigned>(week_)];
    return sys_days{y / January / 1} + days{day_ + (skips_leap_day_ && y.is_leap() && day_ >= 59 ? 1 : 0)};
  }

  int month_ = 0;  // 0: day_ counts from the first of January
  int week_ = 0;   // of the month; 5: the last
  int day_ = 0;
  bool skips_leap_day_ = false;
  seconds time_ = hours{2};
};

/// Appends the changes that the rule makes, for as many years as a program may meet.
void append_by_rule(stretches& to, std::string_view rule) {
  reader from{rule};
  if (from.is_at_end()) return;
  skip_abbreviation(from);
  const auto standard = -read_time(from);
  if (from.is_at_end()) return;
  skip_abbreviation(from);
  const auto summer = from.skip(',') ? standard + hours{1} : -read_time(from);
  from.skip(',');
  const yearly begin{from};
  require(from.skip(','));
  const yearly end{from};
  const auto first = year_month_day{floor<days>(std::max(to.back().begin, sys_seconds{}))}.year();
  for (auto y = first; y <= year{2400}; ++y) {
    const std::pair<sys_seconds, seconds> changes[] = {{begin.in(y)-standard, summer}, {end.in(y)-summer, standard}};
    const auto earlier = changes[0] < changes[1] ? 0U : 1U;
    for (const auto& [when, offset] : {changes[earlier], changes[1 - earlier]}) append(to, when, offset);
  }
}

struct counts {
  std::size_t isut, isstd, leap, time, type, character;
};

counts read_header(reader& from) {
  require(from.take(4) == "TZif");
  require(from.take(1) >= "2");  // since 2006, with times of 64 bits
  from.take(15);
  const auto count = [&] { return static_cast<std::size_t>(from.integer(4)); };
  return {count(), count(), count(), count(), count(), count()};
}

std::size_t size_of_rest(const counts& n, std::size_t time_size) {
  return n.character + n.leap * (time_size + 4) + n.isstd + n.isut;
}

stretches read(std::string_view file) {
  reader from{file};
  const auto old = read_header(from);
  from.take(old.time * 5 + old.type * 6 + size_of_rest(old, 4));
  const auto n = read_header(from);
  reader times{from.take(n.time * 8)};
  reader types{from.take(n.time)};
  reader infos{from.take(n.type * 6)};
  from.take(size_of_rest(n, 8));

  std::vector<seconds> offsets;
  for (std::size_t i = 0; i < n.type; ++i) {
    offsets.emplace_back(infos.integer(4));
    infos.take(2);
  }
  require(!offsets.empty());
  stretches out{{.offset = offsets[0]}};
  for (std::size_t i = 0; i < n.time; ++i) {
    const sys_seconds when{seconds{times.integer(8)}};
    append(out, when, offsets.at(static_cast<std::size_t>(types.integer(1))));
  }
  require(from.skip('\n'));
  append_by_rule(out, from.until('\n'));
  return out;
}

bool is_file_name(std::string_view zone) {
  constexpr std::string_view allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/";
  return !zone.empty() && zone.front() != '/' && zone.find_first_not_of(allowed) == std::string_view::npos;
}

}  // namespace

std::optional<time_zone> time_zone::find(const std::string& name) try {
  time_zone out;
  if (name == "UTC") return out;
  if (!is_file_name(name)) return std::nullopt;
  std::ifstream file{"/usr/share/zoneinfo/" + name, std::ios::binary};
  std::ostringstream text;
  text << file.rdbuf();
  out.stretches_ = read(text.str());
  return out;
} catch (const malformed&) {  // also an empty text, for want of a file
  return std::nullopt;
} catch (const std::out_of_range&) {
  return std::nullopt;
}

time_zone::stretch time_zone::at(sys_seconds t) const {
  return *std::prev(std::ranges::upper_bound(stretches_, t, {}, &stretch::begin));
}

#endif

}  // namespace rowlock::inline v1::base
