#include <string>

#include "dialect/sqlite/parts.hpp"

namespace rowlock::inline v1::dialect::sqlite_parts {

namespace {

constexpr std::string_view enqueue_one =
    "INSERT INTO rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at, note, lease, room) "
    "VALUES (?1, ?2, ?3, ?4, clock_us(), clock_us() + ?5, ?6, ?7, ?8) RETURNING attempt, ticket";

constexpr std::string_view refresh_ticket_one =
    "UPDATE rowlock_waiter SET expires_at = clock_us() + ?4 WHERE ticket = ?3 AND attempt = ?2";

constexpr std::string_view left_one =
    "SELECT ?2 WHERE NOT EXISTS (SELECT 1 FROM rowlock_waiter WHERE ticket = ?3 AND attempt = ?2)";

constexpr std::string_view leave_one = "DELETE FROM rowlock_waiter WHERE ticket = ?3 AND attempt = ?2";

constexpr std::string_view withdraw_one = "DELETE FROM rowlock_waiter WHERE name = ?1 AND attempt = ?2";

// A ticket by which a release has granted the name does not count: if its waiter does not come, others pass, and if
// that comes too late, it takes another.
constexpr std::string_view turn_of_one =
    "SELECT ?1, EXISTS (SELECT 1 FROM rowlock_waiter q "
    "WHERE q.name = ?1 AND q.ticket < ?2 AND q.expires_at > clock_us() AND q.lease IS NOT 0 "
    "AND CASE WHEN ?4 = 0 THEN 1 WHEN q.room = -2 OR (q.room < -1 AND ?4 > 0) THEN {insists} WHEN ?4 < 0 THEN 1 "
    "ELSE ?3 >= 0 AND q.enqueued_at <= clock_us() - ?4 END "
    "AND (q.room IS NOT 9223372036854775807 OR ?3 <> 9223372036854775807)), "
    "EXISTS (SELECT 1 FROM rowlock_waiter WHERE ticket = ?2 AND (lease IS NOT 0 OR attempt = acquisition)), "
    "coalesce(owner IS NULL OR expires_at <= clock_us() OR is_dead(expires_at, liveness) OR owner = '(shared)' AND "
    "(SELECT coalesce(sum(permits), 0) FROM rowlock_share s "
    "WHERE s.name = ?1 AND s.since = acquisition AND s.expires_at > clock_us()) <= ?3, 0), "
    "expires_at - clock_us(), version, iif(owner IS NULL, NULL, acquisition) "
    "FROM (SELECT 1) LEFT JOIN rowlock_lock ON name = ?1";

constexpr std::string_view waiters_of_one =
    "SELECT name, ticket, owner, thread, clock_us() - enqueued_at, note FROM rowlock_waiter "
    "WHERE name = ?1 AND expires_at > clock_us() AND lease IS NOT 0 ORDER BY ticket";

constexpr std::string_view waiters_of_prefix =
    "SELECT name, ticket, owner, thread, clock_us() - enqueued_at, note FROM rowlock_waiter "
    "WHERE name >= ?1 AND name < coalesce(?2, x'') AND expires_at > clock_us() AND lease IS NOT 0 "
    "ORDER BY name, ticket";

constexpr std::string_view declare_held_one =
    "INSERT OR REPLACE INTO rowlock_edge (ticket, name, acquisition) VALUES (?1, ?2, ?3)";

constexpr std::string_view forget_held_one = "DELETE FROM rowlock_edge WHERE ticket = ?1";

// A waiter whose ticket has not gone yet although it shares the name by now does not wait any more.
constexpr std::string_view waiting_holders_all =
    "SELECT q.name, q.ticket, q.owner, q.thread, e.name "
    "FROM rowlock_edge e JOIN rowlock_waiter q ON q.ticket = e.ticket AND q.expires_at > clock_us() "
    "JOIN rowlock_lock l ON l.name = e.name AND l.owner IS NOT NULL "
    "AND (l.expires_at > clock_us() OR l.expires_at IS NULL AND NOT is_dead(l.expires_at, l.liveness)) "
    "WHERE (l.acquisition = e.acquisition OR EXISTS (SELECT 1 FROM rowlock_share s WHERE s.name = e.name "
    "AND s.acquisition = e.acquisition AND s.since = l.acquisition AND s.expires_at > clock_us())) "
    "AND NOT EXISTS (SELECT 1 FROM rowlock_share s WHERE s.name = q.name AND s.owner = q.owner "
    "AND s.thread = q.thread AND s.acquired_at > q.enqueued_at) "
    "ORDER BY q.ticket, e.name";

constexpr std::string_view purge_held_all =
    "DELETE FROM rowlock_edge WHERE ticket NOT IN (SELECT ticket FROM rowlock_waiter)";

}  // namespace

std::array<step, 11> tickets() {
  return std::to_array<step>({
      {.verb = verb::declare_held, .key = 1, .act = std::string{declare_held_one}},
      {.verb = verb::forget_held, .act = std::string{forget_held_one}},
      {.verb = verb::waiting_holders, .look = std::string{waiting_holders_all}},
      {.verb = verb::purge_held, .act = std::string{purge_held_all}},
      {.verb = verb::enqueue, .key = 3, .act = std::string{enqueue_one}},
      {.verb = verb::refresh_ticket, .key = 1, .act = std::string{refresh_ticket_one}},
      {.verb = verb::leave, .key = 1, .look = std::string{left_one}, .act = std::string{leave_one}},
      {.verb = verb::withdraw, .act = std::string{withdraw_one}},
      {.verb = verb::turn, .look = replaced(turn_of_one, "{insists}", insists)},
      {.verb = verb::waiters, .look = std::string{waiters_of_one}},
      {.verb = verb::list_waiters, .look = std::string{waiters_of_prefix}},
  });
}

}  // namespace rowlock::inline v1::dialect::sqlite_parts
