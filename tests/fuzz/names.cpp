// Names of locks and of holders, prefixes of names, and how they are shown.

#include <rowlock/holder.hpp>
#include <rowlock/lock_name.hpp>

#include <array>

#include "base/text.hpp"
#include "fuzz/fuzz.hpp"
#include "fuzz/utf8.hpp"

namespace rowlock::fuzz {

namespace {

void check_name(const std::string& text) {
  const bool is_fine = !text.empty() && text.size() <= 255 && is_plain(text);
  const auto refusal = error_of([&] {
    const lock_name name{text};
    expect(name.view() == text, "a name is the text that it was made of");
    return lock_name{name.view()} == name;
  });
  expect(refusal.has_value() != is_fine, "just 1 to 255 bytes of UTF-8 without NUL are a name");
  if (!refusal) return;
  expect(refusal->code() == errc::invalid_name, "the code of a refused name");
  expect(is_tame(refusal->what()), "a refusal can be shown", refusal->what());
}

void check_holder(const std::string& text) {
  const bool is_fine = !text.empty() && text.size() <= 200 && is_plain(text);
  const auto refusal = error_of([&] { return holder::named(text) == holder::named(text); });
  expect(refusal.has_value() != is_fine, "just 1 to 200 bytes of UTF-8 without NUL are a holder");
}

void check_prefix(const std::string& prefix, const std::string& name) {
  if (!is_plain(prefix) || !is_plain(name)) return;
  const auto end = base::prefix_end(prefix);
  const bool is_between = name >= prefix && (!end || name < *end);
  expect(is_between == name.starts_with(prefix), "what begins with a prefix is between it and its end");
  expect(!end || is_plain(*end), "the end of a prefix can be asked for");
}

void check_shown(const std::string& text) {
  const auto shown = base::printable(text);
  expect(is_tame(shown) && shown.find('\n') == std::string::npos, "a terminal obeys nothing in it", shown);
  expect(base::printable(shown) == shown, "what was escaped is shown as it is", shown);
  constexpr std::array<std::string_view, 3> known{"ssl-mode", "ssl-ca", "socket"};
  const auto hint = base::did_you_mean(text, known);
  expect(hint.empty() || std::any_of(known.begin(), known.end(),
                                     [&](auto word) { return hint == "; did you mean " + std::string{word} + "?"; }),
         "a hint is one of the known words", hint);
}

void check_percent(const std::string& text) {
  expect(base::percent_decoded(percent_encoded(text)) == text, "%XX gives the bytes back");
  const auto decoded = base::percent_decoded(text);
  expect(!decoded || text.find('%') != std::string::npos || *decoded == text, "without a % nothing changes");
}

}  // namespace

void feed(input& from) {
  const auto prefix = text(from);
  const auto name = prefix.substr(0, from.ConsumeIntegralInRange<std::size_t>(0, prefix.size())) + text(from);
  check_name(name);
  check_holder(name);
  check_prefix(prefix, name);
  check_shown(name);
  check_percent(name);
}

}  // namespace rowlock::fuzz
