#include "store/inspection.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "base/text.hpp"

namespace rowlock::inline v1::store {

std::optional<core::lock_owner> find_lock_owner(const access& db, std::string_view name) {
  const auto row = look_at(db, name);
  if (!row) return std::nullopt;
  core::lock_owner out{.committed = row->token, .is_committed = !row->is_free()};
  const auto blockers = find_blockers(db, name, !row->is_vacant);
  if (blockers.empty() && !out.is_committed) return std::nullopt;
  for (const auto& each : blockers) {
    if (!out.session) {
      out.session = each.session;
      out.session_name = each.info.owner;
    } else if (each.session) {
      out.other_sessions.push_back(*each.session);
    }
  }
  if (out.is_committed) out.acquisition = row->acquisition;
  out.token = out.is_committed ? row->token : blockers[0].info.token;
  return out;
}

bool free(const access& db, std::string_view name, fencing_token version) {
  return !db.run(sheets::verb::free, {{field::name, name}, {field::version, version.value()}}).empty();
}

namespace {

// nullopt: all holders of the shared name are dead. Its row remains until the next client asks for it.
std::optional<lock_info> amended(const record& r, const row_reader& amend) {
  auto out = info_of(r);
  const auto acquisition = r.text(field::acquisition);
  if (core::is_shared(acquisition) && out.sharers == 0) return std::nullopt;
  if (amend) amend(out, acquisition);
  return out;
}

// A row may have been written by hand, with an invalid name.
bool is_valid(const record& r, std::vector<std::string>& invalid_names) {
  auto name = r.text(field::name);
  if (!name.empty() && name.size() <= 255 && base::is_plain_text(name)) return true;
  invalid_names.push_back(std::move(name));
  return false;
}

waiter_info waiter_of(const record& r) {
  return {.name = r.text(field::name),
          .ticket = r.integer(field::ticket),
          .owner = r.text(field::owner),
          .thread = r.text(field::thread),
          .age = std::max(duration{r.integer(field::age)}, duration::zero()),
          .note = r.text(field::note)};
}

/// The names from `first` on that come before `end`.
struct range {
  std::string first;
  std::optional<std::string> end{};

  store::arguments arguments() const {
    store::arguments out{{field::prefix, std::string_view{first}}};
    if (end) out.push_back({field::prefix_end, std::string_view{*end}});
    return out;
  }
};
range all_with(std::string_view prefix) { return {.first = std::string{prefix}, .end = base::prefix_end(prefix)}; }
// No text comes between the two.
range only(std::string_view name) { return {.first = std::string{name}, .end = std::string{name} + '\x01'}; }

// A version that only a dirty read sees belongs to an open transaction, unless that one and perhaps others were
// committed between the reads. A program other than rowlock may not write the session that holds it.
records read_uncommitted(const access& db, sheets::verb what, const arguments& asked,
                         std::vector<bool>& tells_session) {
  const auto by_name = [](const records& rows) {
    std::map<std::string, record, std::less<>> out;
    for (const auto& r : rows) out.emplace(r.text(field::name), r);
    return out;
  };
  const auto rows_before = db.run(what, asked);
  auto dirty = db.run_dirty(what, asked);
  const auto rows_after = db.run(what, asked);
  const auto before = by_name(rows_before);
  const auto after = by_name(rows_after);
  dirty.keep_if([&](const record& r) {
    const auto was = before.find(r.text(field::name));
    if (was == before.end() || was->second.integer(field::version) == r.integer(field::version)) return false;
    const auto is = after.find(was->first);
    if (is == after.end() || is->second.integer(field::version) != was->second.integer(field::version)) return false;
    tells_session.push_back(r.at(field::transaction) != was->second.at(field::transaction));
    return true;
  });
  return dirty;
}

blocker blocker_of(const record& r, bool tells_session) {
  blocker out{.info = info_of(r)};
  const auto session = r.maybe_integer(field::session).value_or(0);
  if (session <= 0 || !tells_session) return out;
  out.session = core::session_number{session};
  out.info.thread = "session " + std::to_string(session);
  return out;
}

// Rows that look free but are held: other clients do not see what their transactions have not committed.
std::vector<blocker> held_by_transactions(const access& db, sheets::verb what, const arguments& asked,
                                          std::vector<std::string>& invalid_names) {
  std::vector<bool> tells_session;
  const bool is_dirty = db.sheet.can().reads_uncommitted && what != sheets::verb::find_pinning;
  const auto rows = is_dirty ? read_uncommitted(db, what, asked, tells_session) : db.run(what, asked);
  std::vector<blocker> out;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (is_valid(rows[i], invalid_names)) out.push_back(blocker_of(rows[i], !is_dirty || tells_session[i]));
  return out;
}

}  // namespace

lock_info info_of(const record& r) {
  const auto held_for = r.maybe_duration(field::age);
  return {.name = r.text(field::name),
          .token = fencing_token{r.integer(field::version)},
          .owner = r.text(field::owner),
          .thread = r.has(field::thread) ? r.text(field::thread) : std::string{},
          .held_for = held_for ? std::optional{std::max(*held_for, duration::zero())} : std::nullopt,
          .expires_in = r.maybe_duration(field::left),
          .held_by_transaction = r.is_true(field::without_lease),
          .note = r.text(field::note),
          .sharers = r.has(field::permits) ? r.maybe_integer(field::permits).value_or(0) : 0};
}

row_state row_state_of(const record& r) {
  return {.token = fencing_token{r.integer(field::version)},
          .acquisition = r.text(field::acquisition),
          .is_vacant = r.is_null(field::owner),
          .left = r.maybe_duration(field::left),
          .is_waited_for = r.is_true(field::waiting)};
}

std::optional<row_state> look_at(const access& db, std::string_view name) {
  const auto rows = db.run(sheets::verb::inspect, {{field::name, name}});
  return rows.empty() ? std::nullopt : std::optional{row_state_of(rows[0])};
}

std::optional<row_state> look_twice_at(const access& db, std::string_view name) {
  auto out = look_at(db, name);
  if (out || db.spare == nullptr) return out;
  out = look_at(db.elsewhere(), name);
  if (!out) db.spare->agrees();
  return out;
}

std::optional<lock_info> find(const access& db, std::string_view name, const row_reader& amend) {
  const auto rows = db.run(sheets::verb::list, only(name).arguments());
  if (!rows.empty()) return amended(rows[0], amend);
  auto by = find_blocker(db, name);
  return by ? std::optional{std::move(by->info)} : std::nullopt;
}

std::vector<blocker> find_blockers(const access& db, std::string_view name, bool has_owner) {
  if (!db.sheet.can().lists_transactions) return {};
  const bool asks_server = has_owner && db.sheet.can().finds_blockers;
  std::vector<std::string> invalid_names;
  if (asks_server) return held_by_transactions(db, sheets::verb::find_pinning, {{field::name, name}}, invalid_names);
  return held_by_transactions(db, sheets::verb::find_held, only(name).arguments(), invalid_names);
}

std::optional<blocker> find_blocker(const access& db, std::string_view name) {
  auto found = find_blockers(db, name, false);
  return found.empty() ? std::nullopt : std::optional{std::move(found[0])};
}

std::vector<lock_info> list(const access& db, std::string_view prefix, std::vector<std::string>& invalid_names,
                            const row_reader& amend) {
  const auto asked = all_with(prefix);
  std::vector<lock_info> out;
  for (const auto& r : db.run(sheets::verb::list, asked.arguments()))
    if (is_valid(r, invalid_names))
      if (auto info = amended(r, amend)) out.push_back(std::move(*info));
  if (db.sheet.can().lists_transactions)
    for (auto& each : held_by_transactions(db, sheets::verb::find_held, asked.arguments(), invalid_names))
      out.push_back(std::move(each.info));
  std::stable_sort(out.begin(), out.end(), [](const lock_info& a, const lock_info& b) { return a.name < b.name; });
  const auto rest =  // taken by a transaction between the two looks
      std::unique(out.begin(), out.end(), [](const lock_info& a, const lock_info& b) { return a.name == b.name; });
  out.erase(rest, out.end());
  return out;
}

namespace {

std::vector<waiter_info> waiters_in(const access& db, const range& asked, std::vector<std::string>& invalid_names) {
  std::vector<waiter_info> out;
  for (const auto& r : db.run(sheets::verb::waiters, asked.arguments()))
    if (is_valid(r, invalid_names)) out.push_back(waiter_of(r));
  return out;
}

}  // namespace

std::vector<waiter_info> waiters(const access& db, std::string_view name) {
  std::vector<std::string> invalid_names;
  return waiters_in(db, only(name), invalid_names);
}

std::vector<waiter_info> list_waiters(const access& db, std::string_view prefix,
                                      std::vector<std::string>& invalid_names) {
  return waiters_in(db, all_with(prefix), invalid_names);
}

database_statistics count(const access& db, std::vector<std::string>& invalid_names) {
  const auto rows = db.run(sheets::verb::count);
  const auto counted = rows[0];
  database_statistics out{.names = static_cast<std::uint64_t>(counted.integer(field::names)),
                          .waiters = static_cast<std::uint64_t>(counted.integer(field::waiters)),
                          .longest_wait = counted.maybe_duration(field::longest_wait)};
  for (const lock_info& each : list(db, {}, invalid_names)) {
    ++out.held;
    if (each.held_by_transaction) ++out.held_by_transaction;
    out.longest_hold = std::max(out.longest_hold, each.held_for);
  }
  return out;
}

}  // namespace rowlock::inline v1::store
