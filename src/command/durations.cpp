#include "command/durations.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cmath>

namespace rowlock::command {

namespace {

using namespace std::chrono_literals;

struct unit {
  std::string_view name;
  duration length;
};

constexpr unit units[] = {{"us", 1us}, {"ms", 1ms}, {"s", 1s}, {"", 1s}, {"m", 1min}, {"h", 1h}, {"d", 24h}};

}  // namespace

std::optional<duration> parse_duration(std::string_view text) {
  double number = 0;
  const auto* const end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (failure != std::errc{} || std::signbit(number) || !std::isfinite(number)) return std::nullopt;
  for (const auto& [name, length] : units)
    if (name == std::string_view{rest, static_cast<std::size_t>(end - rest)})
      return detail::saturate(number * std::chrono::duration<double, duration::period>{length});
  return std::nullopt;
}

std::string format_duration(duration d) {
  const auto seconds = std::chrono::round<std::chrono::seconds>(d).count();
  if (d < 1s) return fmt::format("{}ms", std::chrono::round<std::chrono::milliseconds>(d).count());
  if (d < 10s) return fmt::format("{:.1f}s", std::chrono::duration<double>{d}.count());
  if (seconds < 60) return fmt::format("{}s", seconds);
  const auto minutes = seconds / 60;
  if (minutes < 60) return fmt::format("{}m{:02}s", minutes, seconds % 60);
  const auto hours = minutes / 60;
  if (hours < 24) return fmt::format("{}h{:02}m", hours, minutes % 60);
  return fmt::format("{}d{:02}h", hours / 24, hours % 24);
}

}  // namespace rowlock::command
