#include <string>

#include "dialect/sqlite/parts.hpp"

namespace rowlock::inline v1::dialect::sqlite_parts {

namespace {

constexpr std::string_view enqueue_one =
    "INSERT INTO rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at, note) "
    "VALUES (?1, ?2, ?3, ?4, clock_us(), clock_us() + ?5, ?6) RETURNING attempt, ticket";

constexpr std::string_view refresh_ticket_one =
    "UPDATE rowlock_waiter SET expires_at = clock_us() + ?4 WHERE ticket = ?3 AND attempt = ?2";

constexpr std::string_view left_one =
    "SELECT ?2 WHERE NOT EXISTS (SELECT 1 FROM rowlock_waiter WHERE ticket = ?3 AND attempt = ?2)";

constexpr std::string_view leave_one = "DELETE FROM rowlock_waiter WHERE ticket = ?3 AND attempt = ?2";

constexpr std::string_view withdraw_one = "DELETE FROM rowlock_waiter WHERE name = ?1 AND attempt = ?2";

constexpr std::string_view turn_of_one =
    "SELECT ?1, EXISTS (SELECT 1 FROM rowlock_waiter "
    "WHERE name = ?1 AND ticket < ?2 AND expires_at > clock_us()), "
    "EXISTS (SELECT 1 FROM rowlock_waiter WHERE ticket = ?2), "
    "coalesce(owner IS NULL OR expires_at <= clock_us() OR is_dead(expires_at, liveness), 0), "
    "expires_at - clock_us(), version "
    "FROM (SELECT 1) LEFT JOIN rowlock_lock ON name = ?1";

constexpr std::string_view waiters_of_one =
    "SELECT name, ticket, owner, thread, clock_us() - enqueued_at, note FROM rowlock_waiter "
    "WHERE name = ?1 AND expires_at > clock_us() ORDER BY ticket";

constexpr std::string_view waiters_of_prefix =
    "SELECT name, ticket, owner, thread, clock_us() - enqueued_at, note FROM rowlock_waiter "
    "WHERE name >= ?1 AND name < coalesce(?2, x'') AND expires_at > clock_us() ORDER BY name, ticket";

}  // namespace

std::array<step, 7> tickets() {
  return std::to_array<step>({
      {.verb = verb::enqueue, .key = 3, .act = std::string{enqueue_one}},
      {.verb = verb::refresh_ticket, .key = 1, .act = std::string{refresh_ticket_one}},
      {.verb = verb::leave, .key = 1, .look = std::string{left_one}, .act = std::string{leave_one}},
      {.verb = verb::withdraw, .act = std::string{withdraw_one}},
      {.verb = verb::turn, .look = std::string{turn_of_one}},
      {.verb = verb::waiters, .look = std::string{waiters_of_one}},
      {.verb = verb::list_waiters, .look = std::string{waiters_of_prefix}},
  });
}

}  // namespace rowlock::inline v1::dialect::sqlite_parts
