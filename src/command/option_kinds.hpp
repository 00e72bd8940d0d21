#pragma once

#include <CLI/CLI.hpp>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "command/options.hpp"
#include "command/words.hpp"

// The kinds of values that options take.
namespace rowlock::command {

using namespace std::chrono_literals;

/// A kind of value: its name in help, its parser, and the complaint about text that the parser refuses. If there are
/// few values, words_for(name) lists them, and the complaint does.
template <class T>
struct kind {
  std::string_view name;
  std::optional<T> (*parse)(std::string_view text);
  std::string_view complaint;
};

template <class Number, Number Least, Number Most>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto* const end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, number);
  const bool is_one = failure == std::errc{} && rest == end && number >= Least && number <= Most;
  return is_one ? std::optional{number} : std::nullopt;
}

template <class T>
using word = std::pair<std::string_view, T>;
inline constexpr word<strategy> strategies[] = {{"unique_index", strategy::unique_index},
                                                {"for_update", strategy::for_update},
                                                {"version_cas", strategy::version_cas}};
inline constexpr word<top_order> orders[] = {
    {"name", top_order::name}, {"age", top_order::age}, {"lease", top_order::lease}, {"queue", top_order::queue}};
inline constexpr word<std::string_view> shells[] = {{"bash", "bash"}, {"zsh", "zsh"}, {"fish", "fish"}};

template <auto& Words, class T = decltype(Words[0].second)>
std::optional<std::remove_const_t<T>> parse_word(std::string_view text) {
  for (const auto& [each, value] : Words)
    if (text == each) return value;
  return std::nullopt;
}

/// All values of a kind; empty: they cannot be listed.
inline std::vector<std::string> words_for(std::string_view kind) {
  std::vector<std::string> out;
  const auto add = [&](const auto& words) {
    for (const auto& each : words) out.emplace_back(each.first);
  };
  if (kind == "STRATEGY") add(strategies);
  if (kind == "SHELL") add(shells);
  if (kind == "KEY") add(orders);
  return out;
}

inline constexpr kind<duration> a_duration{"DURATION", parse_duration, "is no duration; write 5s, 100ms, 1m30s or 90"};
inline constexpr kind<int> a_status{"STATUS", parse_number<int, 0, 255>,
                                    "is no exit status; write a number from 0 to 255"};
inline constexpr kind<std::size_t> a_count{"NUMBER", parse_number<std::size_t, 1, 10000>,
                                           "is no number of rows; write one from 1 to 10000"};
inline constexpr kind<std::size_t> some_runs{"NUMBER", parse_number<std::size_t, 0, 1'000'000>,
                                             "is no number of runs; write one from 0 to 1000000"};
inline constexpr kind<int> some_retries{"NUMBER", parse_number<int, 0, 1'000'000>,
                                        "is no number of retries; write one from 0 to 1000000"};
inline constexpr kind<std::chrono::minutes> a_time_of_day{"HH:MM", parse_time_of_day,
                                                          "is no time of day; write one like 03:00"};
inline constexpr kind<std::int64_t> some_permits{"NUMBER", parse_number<std::int64_t, 1, 1'000'000>,
                                                 "is no number of permits; write one from 1 to 1000000"};
inline constexpr kind<std::int64_t> a_token{"TOKEN",
                                            parse_number<std::int64_t, 1, std::numeric_limits<std::int64_t>::max()>,
                                            "is no fencing token; write the number that rowlock show prints"};
inline constexpr kind<strategy> a_strategy{"STRATEGY", parse_word<strategies>, "is no strategy"};
inline constexpr kind<top_order> an_order{"KEY", parse_word<orders>, "is no key to sort by"};
inline constexpr kind<std::string_view> a_shell{"SHELL", parse_word<shells>, "is no shell that rowlock knows"};

/// "; there are a, b and c".
inline std::string listed(const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i)
    out += (i == 0 ? "; there are " : i + 1 == words.size() ? " and " : ", ") + words[i];
  return out;
}

inline std::string refusal(const std::string& text, std::string_view complaint) {
  return base::quoted(text) + ' ' + std::string{complaint};
}

/// Does not use CLI11's parser of numbers, which accepts "-1" and "0x4B".
template <class T, class To>
CLI::Option& add(CLI::App& app, const std::string& flags, const kind<T>& of, To& to, const std::string& explanation) {
  const auto flag = flags.substr(flags.find("--"));
  const auto read = [flag, &of, &to](const std::string& text) {
    const auto value = of.parse(text);
    if (!value) throw CLI::ValidationError{flag, refusal(text, of.complaint) + listed(words_for(of.name))};
    to = *value;
  };
  return *app.add_option_function<std::string>(flags, read, explanation)->type_name(std::string{of.name});
}

struct bounds {
  duration least;
  duration most;
};

inline constexpr bounds up_to_ten_years{duration::zero(), 24h * 3650};
inline constexpr bounds length_of_a_lease{100ms, 24h * 30};
inline constexpr bounds length_of_a_period{1s, 24h * 366};
inline constexpr bounds up_to_half_a_year{duration::zero(), 24h * 183};
inline constexpr bounds up_to_a_day{duration::zero(), 24h};
inline constexpr bounds up_to_thirty_days{duration::zero(), 24h * 30};

/// The library checks bounds too, but its messages are in microseconds.
template <class To>
CLI::Option& add(CLI::App& app, const std::string& flags, bounds within, To& to, const std::string& explanation) {
  const auto check = [within](const std::string& text) {
    const auto value = parse_duration(text);
    if (!value || (*value >= within.least && *value <= within.most)) return std::string{};
    return *value < within.least ? refusal(text, "is too short; the least is " + bound_in_words(within.least))
                                 : refusal(text, "is too long; the most is " + bound_in_words(within.most));
  };
  return *add(app, flags, a_duration, to, explanation).check(check);
}

}  // namespace rowlock::command
