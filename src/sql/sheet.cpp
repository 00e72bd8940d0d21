#include "sql/sheet.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <utility>

namespace rowlock::inline v1::sheets {

namespace {

bool is_there(const step& s) { return s.read || s.write || s.batch; }

// Channels for notifications begin with the prefix, too, but have no schema.
std::string named(std::string text, const sheet::naming& by) {
  for (const auto* each : {"rowlock_lock", "rowlock_waiter", "rowlock_share", "rowlock_edge", "rowlock_migration",
                           "rowlock_guard", "rowlock_witness", "rowlock_job_run"})
    text = replaced(text, each, std::string{by.place}.append(each));
  return with_prefix(text, by.prefix);
}

step skipping_alone(const step& of) {
  step out{.verb = of.verb, .signature = of.signature, .key = of.key};
  out.batch = of.batch_skipping;
  out.batch_then = of.batch_skipping_then ? of.batch_skipping_then : of.batch_then;
  out.batch_read_back = of.batch_read_back;
  return out;
}

}  // namespace

sheet::sheet(std::span<const step> steps, const naming& names, const capabilities& declared) : can_{declared} {
  for (const step& given : steps) {
    step& s = steps_[static_cast<std::size_t>(given.verb)] = given;
    change_texts(s, [&](std::string& text) { text = named(std::move(text), names); });
    if (s.batch_skipping) skipping_.emplace(s.verb, skipping_alone(s));
  }
  const auto has = [&](auto... verbs) { return (is_there((*this)[verbs]) && ...); };
  can_.acquires_in_turn = has(verb::acquire_in_turn);
  can_.grants_to_a_ticket = has(verb::first_in_turn, verb::grant);
  can_.notifies_waiters = has(verb::ring, verb::notify_waiters);
  can_.marks_waiting = has(verb::mark_waiting, verb::clear_waiting, verb::first_waiter);
  can_.finds_blockers = has(verb::find_pinning);
  can_.lists_transactions = has(verb::find_held);
  can_.guards_failovers = has(verb::see_guard, verb::incarnation, verb::set_guard, verb::serve_from);
  can_.notices_crashes = has(verb::see_witness, verb::await_relaxed);
  can_.shows_locked_rows = has(verb::touch);
}

const char* doing(verb v) noexcept {
  return v < verb::count_of_verbs ? activities[static_cast<std::size_t>(v)] : "ending a lost session";
}

std::string replaced(std::string_view text, std::string_view what, std::string_view by) {
  std::string out;
  for (;;) {
    const auto at = text.find(what);
    out.append(text.substr(0, at));
    if (at == std::string_view::npos) return out;
    out.append(by);
    text.remove_prefix(at + what.size());
  }
}

std::string with_prefix(std::string_view text, std::string_view prefix) { return replaced(text, "rowlock_", prefix); }

std::size_t find_parameter(std::string_view text, char sign, char quote, std::size_t from) noexcept {
  bool is_quoted = false;
  for (auto at = from; at < text.size(); ++at) {
    if (text[at] == quote) is_quoted = !is_quoted;
    if (text[at] == sign && !is_quoted) return at;
  }
  return std::string_view::npos;
}

}  // namespace rowlock::inline v1::sheets
