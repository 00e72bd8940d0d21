#include <string>

#include "dialect/mysql/parts.hpp"

namespace rowlock::inline v1::dialect::mysql_parts {

namespace {

constexpr std::string_view enqueue_one = R"(
INSERT INTO rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at, note, lease, room)
VALUES (?1, ?2, ?3, ?4, SYSDATE(6), SYSDATE(6) + INTERVAL ?5 MICROSECOND, ?6, ?7, ?8) /*M!100600 RETURNING attempt, ticket */)";

constexpr std::string_view enqueued_one = "SELECT ?4, CAST(LAST_INSERT_ID() AS SIGNED)";

// Only tickets that exist and that no other session has locked are changed. For no ticket does anybody ask whether the
// change could be carried out yet: a ticket that exists stays.
constexpr std::string_view refresh_ticket_many = R"(
UPDATE (SELECT w.ticket, v.life FROM {wanted(attempt, ticket, life)} v
    STRAIGHT_JOIN rowlock_waiter w FORCE INDEX (PRIMARY) ON w.ticket = v.ticket
    WHERE w.attempt = v.attempt LIMIT 1000000 FOR UPDATE /*!80000 OF w */ SKIP LOCKED) own
  STRAIGHT_JOIN rowlock_waiter w FORCE INDEX (PRIMARY) ON w.ticket = own.ticket
SET w.expires_at = SYSDATE(6) + INTERVAL own.life MICROSECOND)";

constexpr std::string_view refreshed_many = R"(
SELECT v.attempt, FALSE FROM {wanted(attempt, ticket)} v
STRAIGHT_JOIN rowlock_waiter w FORCE INDEX (PRIMARY) ON w.ticket = v.ticket WHERE w.attempt = v.attempt)";

// By the primary key, which locks no other client's ticket.
constexpr std::string_view leave_one = "DELETE FROM rowlock_waiter WHERE ticket = ?3 AND attempt = ?2";

constexpr std::string_view left_one = R"(
SELECT ?2, EXISTS (SELECT 1 FROM rowlock_waiter WHERE ticket = ?3 AND attempt = ?2))";

constexpr std::string_view leave_many = R"(
DELETE w FROM {wanted(attempt, ticket)} v
STRAIGHT_JOIN rowlock_waiter w FORCE INDEX (PRIMARY) ON w.ticket = v.ticket WHERE w.attempt = v.attempt)";

constexpr std::string_view left_many = R"(
SELECT v.attempt, w.ticket IS NOT NULL FROM {wanted(attempt, ticket)} v
LEFT JOIN rowlock_waiter w FORCE INDEX (PRIMARY) ON w.ticket = v.ticket AND w.attempt = v.attempt)";

constexpr std::string_view withdraw_one = "DELETE FROM rowlock_waiter WHERE name = ?1 AND attempt = ?2";

// {name}, {binary}, {turn}: of one request, or of each in a batch. A ticket by which a release has granted the name
// does not count: if its waiter does not come, others pass, and if that comes too late, it takes another.
constexpr std::string_view turns = R"(
SELECT {name}, EXISTS (SELECT 1 FROM rowlock_waiter b
    WHERE b.name = {binary} AND b.ticket < {turn} AND b.expires_at > SYSDATE(6) AND COALESCE(b.lease, 1) <> 0
      AND CASE WHEN {patience} = 0 THEN TRUE WHEN b.room = -2 OR (b.room < -1 AND {patience} > 0) THEN {insists}
        WHEN {patience} < 0 THEN TRUE
        ELSE {room} >= 0 AND b.enqueued_at <= SYSDATE(6) - INTERVAL {patience} MICROSECOND END
      AND (COALESCE(b.room, -1) <> 9223372036854775807 OR {room} <> 9223372036854775807)),
  EXISTS (SELECT 1 FROM rowlock_waiter o
    WHERE o.ticket = {turn} AND (COALESCE(o.lease, 1) <> 0 OR o.attempt = l.acquisition)),
  l.owner IS NULL OR COALESCE(l.expires_at <= SYSDATE(6) OR (l.owner = '(shared)' AND l.sharers <= {room}), FALSE),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at),
  l.version, IF(l.owner IS NULL, NULL, l.acquisition), l.waiting
FROM {wanted} LEFT JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = {binary})";

// Nothing is written, and no row is locked, where the row says so already. The ticket was committed before: whoever
// clears the mark looks for tickets once more when that is committed. A row that others have locked is left as it is.
constexpr std::string_view mark_waiting_one = R"(
UPDATE (SELECT name FROM rowlock_lock WHERE name = ?1 AND NOT waiting LIMIT 1 FOR UPDATE SKIP LOCKED) own
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.waiting = TRUE)";

constexpr std::string_view is_marked = "SELECT name FROM rowlock_lock WHERE name = ?1 AND waiting";

constexpr std::string_view clear_waiting_one = R"(
UPDATE (SELECT name FROM rowlock_lock WHERE name = ?1 AND waiting
    AND NOT EXISTS (SELECT 1 FROM rowlock_waiter
      WHERE name = ?1 AND expires_at > SYSDATE(6) AND COALESCE(lease, 1) <> 0)
    LIMIT 1 FOR UPDATE SKIP LOCKED) own
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.waiting = FALSE)";

constexpr std::string_view is_clear = "SELECT name FROM rowlock_lock WHERE name = ?1 AND NOT waiting";

// The attempt begins with the id that ends the owner.
constexpr std::string_view first_waiter_one = R"(
SELECT q.owner, NULL, EXISTS (SELECT 1 FROM rowlock_waiter b
    WHERE b.name = ?1 AND b.ticket < q.ticket AND b.expires_at > SYSDATE(6) AND COALESCE(b.lease, 1) <> 0)
FROM rowlock_waiter q
WHERE q.name = ?1 AND q.expires_at > SYSDATE(6) AND COALESCE(q.lease, 1) <> 0 AND RIGHT(q.owner, 16) <> LEFT(?2, 16)
  AND NOT EXISTS (SELECT 1 FROM rowlock_lock l
    WHERE l.name = ?1 AND l.owner <> '(shared)' AND (l.expires_at IS NULL OR l.expires_at > SYSDATE(6)))
ORDER BY q.ticket LIMIT 1)";

constexpr std::string_view waiters_of_one = R"(
SELECT name, ticket, owner, thread, TIMESTAMPDIFF(MICROSECOND, enqueued_at, SYSDATE(6)), note FROM rowlock_waiter
WHERE name = ?1 AND expires_at > SYSDATE(6) AND COALESCE(lease, 1) <> 0 ORDER BY ticket)";

constexpr std::string_view waiters_of_prefix = R"(
SELECT name, ticket, owner, thread, TIMESTAMPDIFF(MICROSECOND, enqueued_at, SYSDATE(6)), note FROM rowlock_waiter
WHERE name >= ?1 AND (?2 IS NULL OR name < ?2) AND expires_at > SYSDATE(6) AND COALESCE(lease, 1) <> 0
ORDER BY name, ticket)";

/// What a look at a queue is given: arguments, or columns of `wanted`.
struct asked {
  std::string_view name;
  std::string_view binary;
  std::string_view turn;
  std::string_view room;
  std::string_view patience;
};

std::string turn_of(const asked& by, std::string_view wanted) {
  auto out = replaced(replaced(turns, "{name}", by.name), "{binary}", by.binary);
  out = replaced(replaced(out, "{turn}", by.turn), "{room}", by.room);
  out = replaced(out, "{insists}", replaced(insists, "{q}", "b"));
  return replaced(replaced(out, "{patience}", by.patience), "{wanted}", wanted);
}

constexpr std::string_view declare_held_one = R"(
INSERT INTO rowlock_edge (ticket, name, acquisition) VALUES (?1, ?2, ?3)
ON DUPLICATE KEY UPDATE acquisition = VALUES(acquisition))";

constexpr std::string_view forget_held_one = "DELETE FROM rowlock_edge WHERE ticket = ?1";

// A waiter whose ticket has not gone yet although it shares the name by now does not wait any more.
constexpr std::string_view waiting_holders_all = R"(
SELECT q.name, q.ticket, q.owner, q.thread, e.name
FROM rowlock_edge e JOIN rowlock_waiter q ON q.ticket = e.ticket AND q.expires_at > SYSDATE(6)
LEFT JOIN rowlock_lock l ON l.name = e.name AND l.owner IS NOT NULL AND (l.expires_at IS NULL OR l.expires_at > SYSDATE(6))
WHERE (e.acquisition = '' OR l.acquisition = e.acquisition OR EXISTS (SELECT 1 FROM rowlock_share s
    WHERE s.name = e.name AND s.acquisition = e.acquisition AND s.since = l.acquisition AND s.expires_at > SYSDATE(6)))
  AND NOT EXISTS (SELECT 1 FROM rowlock_share s WHERE s.name = q.name AND s.owner = q.owner AND s.thread = q.thread
    AND s.acquired_at > q.enqueued_at)
ORDER BY q.ticket, e.name)";

constexpr std::string_view purge_held_all = R"(
DELETE e FROM rowlock_edge e LEFT JOIN rowlock_waiter q ON q.ticket = e.ticket WHERE q.ticket IS NULL)";

}  // namespace

std::array<step, 14> tickets() {
  return std::to_array<step>({
      {.verb = verb::declare_held, .key = 1, .act = std::string{declare_held_one}},
      {.verb = verb::forget_held, .act = std::string{forget_held_one}},
      {.verb = verb::waiting_holders, .look = std::string{waiting_holders_all}},
      {.verb = verb::purge_held, .act = std::string{purge_held_all}},
      {.verb = verb::enqueue,
       .key = 3,
       .act = std::string{enqueue_one},
       .told = std::string{enqueued_one},
       .always_changes = true},
      {.verb = verb::refresh_ticket,
       .key = 1,
       .many = std::string{refresh_ticket_many},
       .many_told = std::string{refreshed_many},
       .counts = true},
      {.verb = verb::leave,
       .key = 1,
       .act = std::string{leave_one},
       .told = std::string{left_one},
       .many = std::string{leave_many},
       .many_told = std::string{left_many},
       .counts = true},
      {.verb = verb::withdraw, .key = 1, .act = std::string{withdraw_one}},
      {.verb = verb::mark_waiting, .act = std::string{mark_waiting_one}, .told = std::string{is_marked}},
      {.verb = verb::clear_waiting,
       .act = std::string{clear_waiting_one},
       .told = std::string{is_clear},
       .always_changes = true},
      {.verb = verb::first_waiter, .look = std::string{first_waiter_one}},
      {.verb = verb::turn,
       .look = turn_of({"?1", "?1", "?2", "?3", "?4"}, "(SELECT 1) one"),
       .many = turn_of({"w.name", "CAST(w.name AS BINARY)", "w.turn", "w.room", "w.patience"},
                       "{wanted(name, turn, room, patience)} w")},
      {.verb = verb::waiters, .look = std::string{waiters_of_one}},
      {.verb = verb::list_waiters, .look = std::string{waiters_of_prefix}},
  });
}

}  // namespace rowlock::inline v1::dialect::mysql_parts
