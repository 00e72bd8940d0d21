#pragma once

#include <fuzzer/FuzzedDataProvider.h>
#include <rowlock/duration.hpp>
#include <rowlock/error.hpp>

#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>

namespace rowlock::fuzz {

/// What libFuzzer has made up, in parts. A text ends at a backslash that no other follows.
using input = FuzzedDataProvider;

/// Each program has one: checks what holds for every input, and throws nothing.
void feed(input& from);

/// libFuzzer keeps the input of a program that ends so.
inline void expect(bool holds, std::string_view what, std::string_view seen = {}) {
  if (holds) return;
  std::cerr << "Does not hold: " << what << (seen.empty() ? "" : ": ") << seen << std::endl;
  std::abort();
}

inline constexpr std::size_t longest_text = 600;
inline std::string text(input& from) { return from.ConsumeRandomLengthString(longest_text); }
inline duration any_duration(input& from) { return duration{from.ConsumeIntegral<duration::rep>()}; }
inline bool is_between(duration d, duration least, duration most) { return d >= least && d <= most; }

/// A password that nothing may show.
inline constexpr const char* secret = "8oFz61secret";

inline std::string percent_encoded(const std::string& text) {
  constexpr std::string_view digits = "0123456789aBcDeF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out.append({'%', digits[byte >> 4U], digits[byte & 15U]});
  }
  return out;
}

/// What it throws as an error of the library's; others end the program.
template <class Do>
std::optional<error> error_of(Do act) try {
  static_cast<void>(act());
  return std::nullopt;
} catch (const error& e) {
  return e;
}

}  // namespace rowlock::fuzz
