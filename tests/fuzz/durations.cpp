// Durations as people write them, and as they are shown.

#include <chrono>

#include "command/words.hpp"
#include "fuzz/fuzz.hpp"

namespace rowlock::fuzz {

namespace {

using namespace std::chrono_literals;
using command::parse_duration;

/// How much of it people are not told.
duration fineness(duration d) {
  if (d < 1s) return 500us;
  if (d < 10s) return 50ms;
  if (d < 1h) return 500ms;
  return d < 24h ? 60s + 500ms : 1h + 500ms;
}

void check_shown(duration d) {
  const auto shown = command::format_duration(d);
  const auto read = parse_duration(shown);
  expect(read.has_value(), "what is shown can be read", shown);
  expect(*read <= d ? d - *read <= fineness(d) : *read - d <= fineness(d), "what is shown is near", shown);
  expect(command::format_duration(*read) == shown, "what is shown is shown again as the same", shown);
  const auto bound = command::bound_in_words(d);
  const auto exact = parse_duration(bound);
  expect(exact.has_value(), "a bound can be read", bound);
  expect(d % 1ms != duration::zero() || *exact == d, "a bound is told exactly", bound);
}

// Parts in this order, each without a sign, are their sum.
void check_parts(input& from) {
  constexpr std::pair<const char*, duration> units[] = {{"w", 168h}, {"d", 24h},  {"h", 1h},  {"m", 1min},
                                                        {"s", 1s},   {"ms", 1ms}, {"us", 1us}};
  std::string written;
  duration sum{};
  for (const auto& [name, length] : units) {
    if (!from.ConsumeBool()) continue;
    const auto number = from.ConsumeIntegralInRange<int>(0, 1000);
    written += std::to_string(number) + name;
    sum += number * length;
  }
  if (!written.empty()) expect(parse_duration(written) == sum, "parts are added", written);
}

}  // namespace

void feed(input& from) {
  check_parts(from);
  // Exactly, as long as a double tells microseconds.
  check_shown(duration{from.ConsumeIntegralInRange<duration::rep>(0, std::int64_t{1} << 52U)});
  expect(!command::format_duration(any_duration(from)).empty(), "any can be shown: a row may say anything");
  const auto written = text(from);
  const auto read = parse_duration(written);
  if (!read) return;
  expect(*read >= duration::zero(), "no duration is negative", written);
  if (*read < duration{std::int64_t{1} << 52U}) check_shown(*read);
}

}  // namespace rowlock::fuzz
