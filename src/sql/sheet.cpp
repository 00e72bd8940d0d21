#include "sql/sheet.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <utility>

namespace rowlock::inline v1::sql {

namespace {

constexpr const char* otherwise = "migrating";

struct activity {
  sql::verb verb;
  const char* words;
};
constexpr activity activities[] = {
    {verb::acquire, "acquiring"},
    {verb::compare_and_set, "acquiring"},
    {verb::hold, "acquiring"},
    {verb::hold_while_alive, "acquiring"},
    {verb::make, "acquiring"},
    {verb::vacate_expired, "acquiring"},
    {verb::touch, "acquiring"},
    {verb::pinned_by, "acquiring"},
    {verb::acquire_in_turn, "acquiring"},
    {verb::share, "acquiring"},
    {verb::acquire_any, "acquiring"},
    {verb::acquire_all, "acquiring"},
    {verb::upgrade_share, "upgrading"},
    {verb::downgrade, "downgrading"},
    {verb::renew_share, "renewing"},
    {verb::extend_share, "extending"},
    {verb::release_share, "releasing"},
    {verb::reap_shares, "releasing"},
    {verb::purge_shares, "sweeping"},
    {verb::find_dead_shares, "sweeping"},
    {verb::sharers, "listing locks"},
    {verb::enqueue, "waiting in turn"},
    {verb::declare_held, "looking for deadlocks"},
    {verb::forget_held, "looking for deadlocks"},
    {verb::waiting_holders, "looking for deadlocks"},
    {verb::purge_held, "sweeping"},
    {verb::refresh_ticket, "waiting in turn"},
    {verb::leave, "waiting in turn"},
    {verb::withdraw, "waiting in turn"},
    {verb::mark_waiting, "waiting in turn"},
    {verb::turn, "waiting in turn"},
    {verb::ring, "waiting in turn"},
    {verb::tell_next, "telling who is next"},
    {verb::first_waiter, "telling who is next"},
    {verb::clear_waiting, "telling who is next"},
    {verb::notify_waiters, "telling who is next"},
    {verb::find_unused, "sweeping"},
    {verb::raise_floor, "sweeping"},
    {verb::sweep, "sweeping"},
    {verb::find_dead, "sweeping"},
    {verb::purge_tickets, "sweeping"},
    {verb::waiters, "listing those who wait"},
    {verb::list_waiters, "listing those who wait"},
    {verb::names_liveness, "tidying up after clients that are gone"},
    {verb::vacate_dead, "tidying up after clients that are gone"},
    {verb::renew, "renewing"},
    {verb::extend, "extending"},
    {verb::reserve, "handing over"},
    {verb::release, "releasing"},
    {verb::release_alone, "releasing"},
    {verb::first_in_turn, "releasing"},
    {verb::grant, "releasing"},
    {verb::defer_release, "releasing"},
    {verb::free, "freeing"},
    {verb::end_session, "ending another session"},
    {verb::inspect, "listing locks"},
    {verb::list, "listing locks"},
    {verb::find_pinning, "listing locks"},
    {verb::find_held, "listing locks"},
    {verb::list_held, "listing locks"},
    {verb::beat, "keeping the transaction open"},
    {verb::installation, "reading which database this is"},
    {verb::schema, "reading the schema's version"},
    {verb::settings, "reading the settings"},
    {verb::connection, "reading the settings"},
    {verb::count, "counting"},
    {verb::probe, "checking for permission to write"},
};

constexpr auto words_of_verbs = [] {
  std::array<const char*, sheet::size> out{};
  out.fill(otherwise);
  for (const activity& each : activities) out[static_cast<std::size_t>(each.verb)] = each.words;
  return out;
}();

bool is_there(const step& s) { return s.read || s.write || s.batch; }

// Channels for notifications begin with the prefix, too, and are in no place.
std::string named(std::string text, const sheet::naming& by) {
  for (const auto* each : {"rowlock_lock", "rowlock_waiter", "rowlock_share", "rowlock_edge", "rowlock_migration"})
    text = replaced(text, each, std::string{by.place}.append(each));
  return with_prefix(text, by.prefix);
}

}  // namespace

sheet::sheet(std::span<const step> steps, const naming& names, const capabilities& declared) : can_{declared} {
  for (const step& given : steps) {
    step& s = steps_[static_cast<std::size_t>(given.verb)] = given;
    change_texts(s, [&](std::string& text) { text = named(std::move(text), names); });
  }
  const auto has = [&](auto... verbs) { return (is_there((*this)[verbs]) && ...); };
  can_.acquires_in_turn = has(verb::acquire_in_turn);
  can_.grants_to_a_ticket = has(verb::first_in_turn, verb::grant);
  can_.notifies_waiters = has(verb::tell_next, verb::ring, verb::notify_waiters);
  can_.marks_waiting = has(verb::mark_waiting, verb::clear_waiting, verb::first_waiter);
  can_.finds_blockers = has(verb::find_pinning);
  can_.lists_transactions = has(verb::find_held, verb::list_held);
  can_.shows_locked_rows = has(verb::touch);
}

const char* doing(verb v) noexcept {
  const auto at = static_cast<std::size_t>(v);
  return at < words_of_verbs.size() ? words_of_verbs[at] : otherwise;
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

}  // namespace rowlock::inline v1::sql
