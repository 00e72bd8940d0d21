#include <string>

#include "dialect/sqlite/parts.hpp"

namespace rowlock::inline v1::dialect::sqlite_parts {

namespace {

constexpr std::string_view look_for_holder =
    "SELECT ?4, NULL, iif(is_dead(expires_at, liveness), 0, expires_at - clock_us()), owner = '(shared)' "
    "FROM rowlock_lock WHERE name = ?1 AND (owner IS NOT NULL AND (expires_at > clock_us() OR expires_at IS NULL AND "
    "NOT is_dead(expires_at, liveness)){or_set})";

// A row that is free is not taken before the queue was seen, if a set waits for it.
constexpr std::string_view set_waits = "EXISTS (SELECT 1 FROM rowlock_waiter q WHERE q.name = ?1 AND q.room < -1)";

constexpr std::string_view acquire_one =
    "INSERT INTO rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note) "
    "VALUES (?1, tell(1, {first_token}), ?2, ?3, ?4, clock_us(), clock_us() + tell(2, ?5), ?6) "
    "ON CONFLICT (name) DO UPDATE SET version = tell(1, max(version + 1, clock_us())), owner = excluded.owner, "
    "thread = excluded.thread, acquisition = excluded.acquisition, acquired_at = excluded.acquired_at, "
    "expires_at = excluded.expires_at, note = excluded.note, liveness = NULL "
    "WHERE (owner IS NULL OR expires_at <= clock_us() OR is_dead(expires_at, liveness)) AND NOT {set_waits}";

constexpr std::string_view compare_and_set_one =
    "UPDATE rowlock_lock SET version = tell(1, max(version + 1, clock_us())), owner = ?2, thread = ?3, "
    "acquisition = ?4, acquired_at = clock_us(), expires_at = clock_us() + tell(2, ?5), note = ?6, liveness = NULL "
    "WHERE name = ?1 AND (version = ?7{or_any}) "
    "AND (owner IS NULL OR expires_at <= clock_us() OR is_dead(expires_at, liveness))";

constexpr std::string_view hold_while_alive_one =
    "INSERT INTO rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note, "
    "liveness) VALUES (?1, tell(1, {first_token}), ?2, ?3, ?4, clock_us(), tell(2, NULL), ?6, ?7) "
    "ON CONFLICT (name) DO UPDATE SET version = tell(1, max(version + 1, clock_us())), owner = excluded.owner, "
    "thread = excluded.thread, acquisition = excluded.acquisition, acquired_at = excluded.acquired_at, "
    "expires_at = NULL, note = excluded.note, liveness = excluded.liveness "
    "WHERE owner IS NULL OR expires_at <= clock_us() OR is_dead(expires_at, liveness)";

constexpr std::string_view make_one =
    "INSERT INTO rowlock_lock (name, version, expires_at) VALUES (?1, {first_token}, clock_us()) "
    "ON CONFLICT (name) DO NOTHING";

constexpr std::string_view renew_one =
    "UPDATE rowlock_lock SET expires_at = clock_us() + tell(1, max(expires_at - clock_us(), ?3)) "
    "WHERE name = ?1 AND acquisition = ?2 AND owner IS NOT NULL AND expires_at > clock_us()";

constexpr std::string_view extend_one =
    "UPDATE rowlock_lock SET expires_at = clock_us() + tell(1, ?3) "
    "WHERE name = ?1 AND acquisition = ?2 AND owner IS NOT NULL AND expires_at > clock_us()";

constexpr std::string_view reserve_one =
    "UPDATE rowlock_lock SET expires_at = clock_us() + tell(1, max(expires_at - clock_us(), ?3)), "
    "version = tell(2, max(version + ?4, clock_us())) + 0 * tell(3, EXISTS (SELECT 1 FROM rowlock_waiter w "
    "WHERE w.name = ?1 AND w.owner <> rowlock_lock.owner AND w.expires_at > clock_us() AND w.lease IS NOT 0)) "
    "WHERE name = ?1 AND acquisition = ?2 AND owner IS NOT NULL AND expires_at > clock_us()";

constexpr std::string_view release_one =
    "UPDATE rowlock_lock SET owner = NULL, thread = NULL, note = NULL, liveness = NULL, "
    "version = max(version + 1, clock_us()), expires_at = clock_us() "
    "WHERE name = ?1 AND acquisition = ?2 AND owner IS NOT NULL";

constexpr std::string_view and_nobody_to_grant_it =
    " AND NOT EXISTS (SELECT 1 FROM rowlock_waiter WHERE name = ?1 AND lease > 0)";

constexpr std::string_view first_in_turn_one =
    "SELECT q.owner, q.ticket, q.attempt, q.lease FROM rowlock_waiter q WHERE q.name = ?1 "
    "AND q.expires_at > clock_us() AND q.lease IS NOT 0 AND (q.room IS NOT -2 OR {insists}) ORDER BY q.ticket LIMIT 1";

// The lease does not end later than before: docs/protocol.md.
constexpr std::string_view grant_one =
    "UPDATE rowlock_lock AS l SET owner = q.owner, thread = q.thread, note = q.note, acquisition = q.attempt, "
    "version = max(l.version + 1, clock_us()), acquired_at = clock_us(), "
    "expires_at = min(l.expires_at, clock_us() + min(q.lease, 1000000)) FROM rowlock_waiter q "
    "WHERE l.name = ?1 AND l.acquisition = ?2 AND l.owner IS NOT NULL AND l.expires_at > clock_us() + 300000 "
    "AND q.ticket = ?3 AND q.attempt = ?4 AND q.lease > 0 AND q.expires_at > clock_us()";

constexpr std::string_view was_granted = "UPDATE rowlock_waiter SET lease = 0 WHERE ticket = ?3";

constexpr std::string_view defer_release_one =
    "UPDATE rowlock_lock SET expires_at = acquired_at + ?3, thread = '(released)' "
    "WHERE name = ?1 AND acquisition = ?2 AND owner IS NOT NULL AND expires_at > clock_us()";

// It does not ask who the owner is: the version says which state of the row was looked at.
constexpr std::string_view free_one =
    "UPDATE rowlock_lock SET owner = NULL, thread = NULL, note = NULL, liveness = NULL, "
    "version = max(version + 1, clock_us()), expires_at = clock_us() "
    "WHERE name = ?1 AND version = ?2 AND owner IS NOT NULL";

}  // namespace

std::array<step, 15> leases() {
  const auto acquiring = replaced(acquire_one, "{set_waits}", set_waits);
  return std::to_array<step>({
      {.verb = verb::acquire,
       .key = 3,
       .look = replaced(look_for_holder, "{or_set}", " OR " + std::string{set_waits}),
       .act = acquiring,
       .look_explains = true},
      {.verb = verb::acquire_any, .act = acquiring, .takes_one = true},
      {.verb = verb::acquire_all,
       .key = 3,
       .act = replaced(compare_and_set_one, "{or_any}", " OR ?7 = 0 AND NOT " + std::string{set_waits}),
       .takes_all = true},
      {.verb = verb::compare_and_set, .key = 3, .act = replaced(compare_and_set_one, "{or_any}", "")},
      {.verb = verb::hold_while_alive,
       .key = 3,
       .look = replaced(look_for_holder, "{or_set}", ""),
       .act = std::string{hold_while_alive_one},
       .look_explains = true},
      {.verb = verb::make, .act = std::string{make_one}},
      {.verb = verb::renew, .key = 1, .act = std::string{renew_one}},
      {.verb = verb::extend, .key = 1, .act = std::string{extend_one}},
      {.verb = verb::reserve, .key = 1, .act = std::string{reserve_one}},
      {.verb = verb::release, .key = 1, .act = std::string{release_one}},
      {.verb = verb::release_alone, .key = 1, .act = std::string{release_one}.append(and_nobody_to_grant_it)},
      {.verb = verb::first_in_turn, .look = replaced(first_in_turn_one, "{insists}", insists)},
      {.verb = verb::grant, .key = 1, .act = std::string{grant_one}, .also = std::string{was_granted}},
      {.verb = verb::defer_release, .key = 1, .act = std::string{defer_release_one}},
      {.verb = verb::free, .act = std::string{free_one}},
  });
}

}  // namespace rowlock::inline v1::dialect::sqlite_parts
