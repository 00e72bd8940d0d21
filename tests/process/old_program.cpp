#include "process/old_program.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "process/roles.hpp"
#include "sql/sheet.hpp"
#include "support/errors.hpp"
#include "testkit/eventually.hpp"

namespace rowlock::test {

using store::release_outcome;
using store::standing;
using strategies::verdict;

namespace {

constexpr std::string_view owner = "old:host:1:0123456789abcdef";

template <class Try>
void insist(Try once) {
  static_cast<void>(eventually([&] {
    bool is_done = false;
    const auto e = error_of([&] { return is_done = once(); });
    if (e && !e->is_retryable()) throw error{*e};
    return is_done;
  }));
}

// A program of a schema without shares knows of no floor for the versions of new rows.
std::string without_floor(std::string text) {
  constexpr std::pair<std::string_view, std::string_view> floors[] = {
      {"(SELECT token FROM rowlock_share WHERE name = '' AND acquisition = '')", "NULL::bigint"},  // PostgreSQL
      {"(SELECT COALESCE(MAX(token), 0) AS swept FROM rowlock_share WHERE name = '' AND acquisition = '')",
       "(SELECT 0 AS swept)"},                                                                  // MySQL, MariaDB
      {"(SELECT token + 1 FROM rowlock_share WHERE name = '' AND acquisition = '')", "NULL"}};  // SQLite
  for (const auto& [floor, none] : floors) text = sheets::replaced(text, floor, none);
  return text;
}

// All that is between the two, and these.
std::string without(std::string text, std::string_view first, std::string_view last) {
  for (auto at = text.find(first); at != std::string::npos; at = text.find(first)) {
    const auto end = text.find(last, at);
    if (end == std::string::npos) throw std::logic_error{"not in the text: " + std::string{last}};
    text.erase(at, end + last.size() - at);
  }
  return text;
}

std::string without(std::string text, std::span<const std::string_view> words) {
  for (const auto& each : words) text = sheets::replaced(text, each, "");
  return text;
}

// A program that knows of no sets takes what is free, whether somebody waits or not.
std::string that_asks_for_no_waiters(const std::string& text) {
  static constexpr std::string_view of_waiters[] = {
      // PostgreSQL
      " AND NOT waiting", " AND NOT r.waiting", " OR waiting", ", l.waiting", ", waiting",
      // MySQL, MariaDB
      "NOT waiting AND ", "NOT l.waiting AND ", "NOT rowlock_lock.waiting AND ", "l.waiting\n  OR ", "waiting OR ",
      // SQLite
      " AND NOT EXISTS (SELECT 1 FROM rowlock_waiter q WHERE q.name = ?1 AND q.room < -1)",
      " OR EXISTS (SELECT 1 FROM rowlock_waiter q WHERE q.name = ?1 AND q.room < -1)",
      ", EXISTS (SELECT 1 FROM rowlock_waiter q WHERE q.name = ?1 AND q.room < -1)"};
  return without(text, of_waiters);
}

// It waits behind sets as behind all others, and passes over none.
std::string that_knows_no_sets(std::string text) {
  constexpr std::string_view of_sets[] = {"AND (b.room IS DISTINCT FROM -2 OR ", "AND (q.room IS DISTINCT FROM -2 OR ",
                                          "AND (COALESCE(room, -1) <> -2 OR ", "AND (q.room IS NOT -2 OR "};
  for (const auto& which : of_sets) text = without(std::move(text), which, "< 1000000)))");
  text = without(std::move(text), "UNION ALL SELECT * FROM (", "lets_others_pass LIMIT 1");
  return without(std::move(text), "AND CASE WHEN", "END");  // nor does it pass those that have waited less
}

void forget_sets(sheets::step& each) {
  using enum sheets::verb;
  const bool acquires = each.verb == acquire || each.verb == inspect;
  const bool looks =
      each.verb == turn || each.verb == refresh_ticket || each.verb == release || each.verb == first_in_turn;
  if (!acquires && !looks) return;
  sheets::change_texts(each, [&](std::string& text) {
    text = acquires ? that_asks_for_no_waiters(text) : that_knows_no_sets(std::move(text));
    for (const auto* word : {acquires ? "waiting" : "room < -1", "rowlock_waiter q WHERE q.name = ?1 AND q.room"})
      if (text.find(word) != std::string::npos) throw std::logic_error{"an old program asks for that: " + text};
  });
}

}  // namespace

sheets::sheet revised(const sheets::sheet& ours, const std::function<void(sheets::step&)>& change) {
  std::vector<sheets::step> all;
  for (std::size_t v = 0; v < sheets::sheet::size; ++v) {
    auto& each = all.emplace_back(ours[static_cast<sheets::verb>(v)]);
    each.verb = static_cast<sheets::verb>(v);  // also of one that this database does not need
    sheets::change_texts(each, [](std::string& text) {
      text = without_floor(sheets::replaced(sheets::replaced(text, sheets::place_mark, ""), "main.", ""));
    });
    forget_sets(each);
    change(each);
  }
  return {all, {.prefix = "rowlock_", .place = ""}, ours.can()};
}

// In the answer of PostgreSQL to a refreshed ticket.
constexpr const char* mark_of_ticket = ",\n  EXISTS (SELECT FROM rowlock_lock l WHERE l.name = w.name AND l.waiting)";

sheets::sheet with_old_release(const sheets::sheet& ours, std::string_view telling) {
  return revised(ours, [&](sheets::step& each) {
    const auto& alone = ours[sheets::verb::release_alone];
    if (each.verb == sheets::verb::release_alone) each = {.verb = each.verb};
    const bool asks_for_mark = alone.write && alone.write->find("NOT waiting") != std::string::npos;
    if (each.verb == sheets::verb::turn || each.verb == sheets::verb::refresh_ticket)
      for (auto* text : {&each.read, &each.write, &each.batch})
        if (*text)
          for (const auto* mark : {", l.waiting", mark_of_ticket}) *text = sheets::replaced(**text, mark, "");
    if (each.verb != sheets::verb::release || !asks_for_mark) return;
    each.write = sheets::replaced(*alone.write, " AND NOT waiting", "");
    if (each.write->find("RETURNING") != std::string::npos) each.write->append(telling);
  });
}

sheets::sheet table_of_fifth_schema(const sheets::sheet& ours) {
  static constexpr std::string_view has_room_in_a_file =
      "OR owner = '(shared)' AND (SELECT coalesce(sum(permits), 0) FROM rowlock_share s "
      "WHERE s.name = ?1 AND s.since = acquisition AND s.expires_at > clock_us()) <= ?3";
  static constexpr std::string_view not_yet[] = {
      // PostgreSQL
      ", $8::bigint", "AND (b.room IS DISTINCT FROM 9223372036854775807 OR $3::bigint <> 9223372036854775807)",
      "OR (l.owner = '(shared)' AND l.sharers <= $3::bigint)",
      "AND (b.room IS DISTINCT FROM 9223372036854775807 OR w.room IS DISTINCT FROM 9223372036854775807)",
      "OR EXISTS (SELECT FROM rowlock_lock l WHERE l.name = w.name AND l.owner = '(shared)' AND l.sharers <= w.room)",
      // MySQL, MariaDB
      "AND (COALESCE(b.room, -1) <> 9223372036854775807 OR ?3 <> 9223372036854775807)",
      "OR (l.owner = '(shared)' AND l.sharers <= ?3)",
      // SQLite
      "AND (q.room IS NOT 9223372036854775807 OR ?3 <> 9223372036854775807)", has_room_in_a_file,
      // all
      ", room", ", ?8"};
  return revised(ours, [](sheets::step& each) {
    const auto of = each.verb;
    if (of != sheets::verb::enqueue && of != sheets::verb::turn && of != sheets::verb::refresh_ticket) return;
    if (of == sheets::verb::turn) each.batch.reset();
    for (auto* text : {&each.read, &each.write, &each.batch})
      for (const auto& words : not_yet)
        if (*text) *text = sheets::replaced(**text, words, "");
  });
}

sheets::sheet table_of_first_schema(const sheets::sheet& ours) {
  return with_old_release(table_of_fifth_schema(ours), {});
}

fencing_token old_program::acquire(const std::string& name) {
  std::optional<fencing_token> out;
  insist([&] { return (out = try_acquire(name)).has_value(); });
  return out.value();
}

fencing_token old_program::acquire_in_turn(const std::string& name) {
  const auto attempt = new_attempt();
  store::ticket_ref own{.name = name, .attempt = attempt};
  insist([&] {
    own.number = steps_.enqueue({.name = name, .owner = owner, .thread = "1", .attempt = attempt});
    return true;
  });
  std::optional<fencing_token> out;
  insist([&] {
    if (!steps_.refresh_tickets({&own, 1}).at(0).has_ticket) throw std::runtime_error{"a ticket has gone"};
    return !steps_.look_at_queues({&own, 1}).at(0).is_behind && (out = try_acquire(name)).has_value();
  });
  insist([&]() -> bool { return steps_.leave({&own, 1}).at(0); });
  return out.value();
}

std::optional<fencing_token> old_program::try_acquire(const std::string& name) {
  acquisition_ = new_attempt();
  const strategies::acquire_args one{
      .name = name, .owner = owner, .thread = "1", .acquisition = acquisition_, .note = {}, .lease = lease_};
  const auto answer = steps_.acquire({&one, 1}).at(0);
  return answer.what == verdict::granted ? std::optional{answer.token} : std::nullopt;
}

bool old_program::renew(const std::string& name) {
  auto what = standing::inconclusive;
  insist([&] {
    const auto one = mine(name);
    what = steps_.renew({&one, 1}).at(0).what;
    return what != standing::inconclusive;
  });
  return what == standing::kept;
}

bool old_program::release(const std::string& name) {
  auto what = release_outcome::pinned;
  insist([&] {
    const auto one = mine(name);
    what = steps_.release({&one, 1}).at(0);
    return what != release_outcome::pinned;
  });
  return store::is_released(what);
}

std::string old_program::new_attempt() {
  return "old/" + std::to_string(lasting_number()) + "/" + std::to_string(++attempts_);
}

store::lease_ref old_program::mine(const std::string& name) const {
  return {.name = name, .acquisition = acquisition_, .lease = lease_};
}

}  // namespace rowlock::test
