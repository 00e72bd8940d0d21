#include "command/words.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <ctime>
#include <ratio>

namespace rowlock::command {

namespace {

using namespace std::chrono_literals;

struct unit {
  std::string_view name;
  duration length;
};

constexpr unit units[] = {{"w", 7 * 24h}, {"d", 24h}, {"h", 1h}, {"m", 1min}, {"s", 1s}, {"ms", 1ms}, {"us", 1us}};

struct part {
  double number = 0;
  std::string_view unit{};
  std::string_view rest{};
};

// The first part of a text: 30m of 30m5s.
std::optional<part> first_part(std::string_view text) {
  part out;
  const auto* const end = text.data() + text.size();
  const auto [behind, failure] = std::from_chars(text.data(), end, out.number, std::chars_format::fixed);
  if (failure != std::errc{} || std::signbit(out.number) || !std::isfinite(out.number)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(behind - text.data()));
  const auto length = std::min(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz"), text.size());
  out.unit = text.substr(0, length);
  out.rest = text.substr(length);
  return out;
}

duration times(double number, duration unit) {
  return detail::saturate(number * std::chrono::duration<double, duration::period>{unit});
}

}  // namespace

std::optional<duration> parse_duration(std::string_view text) {
  auto next = first_part(text);
  if (next && next->unit.empty() && next->rest.empty()) return times(next->number, 1s);
  duration sum{};
  for (const auto& [name, length] : units) {
    if (!next || next->unit != name) continue;
    sum += std::min(times(next->number, length), duration::max() - sum);
    if (next->rest.empty()) return sum;
    next = first_part(next->rest);
  }
  return std::nullopt;
}

std::optional<std::chrono::minutes> parse_time_of_day(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.size() != 5 || text[2] != ':' || std::count_if(text.begin(), text.end(), is_digit) != 4) return std::nullopt;
  const auto number = [&](std::size_t at) { return 10 * (text[at] - '0') + (text[at + 1] - '0'); };
  if (number(0) > 23 || number(3) > 59) return std::nullopt;
  return std::chrono::hours{number(0)} + std::chrono::minutes{number(3)};
}

std::string format_duration(duration d) {
  d = std::clamp<duration>(d, duration::min() + 1s, duration::max() - 1s);  // rows may contain any value
  const auto milliseconds = std::chrono::round<std::chrono::milliseconds>(d).count();
  if (milliseconds < 1000) return fmt::format("{}ms", milliseconds);
  const auto tenths = std::chrono::round<std::chrono::duration<std::int64_t, std::deci>>(d).count();
  if (tenths < 100) return fmt::format("{}.{}s", tenths / 10, tenths % 10);
  const auto seconds = std::chrono::round<std::chrono::seconds>(d).count();
  if (seconds < 60) return fmt::format("{}s", seconds);
  const auto minutes = seconds / 60;
  if (minutes < 60) return fmt::format("{}m{:02}s", minutes, seconds % 60);
  const auto hours = minutes / 60;
  if (hours < 24) return fmt::format("{}h{:02}m", hours, minutes % 60);
  return fmt::format("{}d{:02}h", hours / 24, hours % 24);
}

std::string format_time(std::chrono::sys_time<duration> at) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count();
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

std::string bound_in_words(duration d) {
  for (const auto& [name, length] : units)
    if (d >= length && d % length == duration::zero()) return fmt::format("{}{}", d / length, name);
  return "0";
}

std::string counted(std::uint64_t number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string duration_or_dash(const std::optional<duration>& d) { return d ? format_duration(*d) : "-"; }

}  // namespace rowlock::command
