#include <string>

#include "dialect/mysql/parts.hpp"

namespace rowlock::inline v1::dialect::mysql_parts {

namespace {

constexpr std::string_view inspect_from = R"(
SELECT l.name, l.version, l.owner, l.thread, l.acquisition, TIMESTAMPDIFF(MICROSECOND, l.acquired_at, SYSDATE(6)),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), l.expires_at), l.note, l.expires_at IS NULL FROM )";

constexpr std::string_view of_many = R"({wanted(name)} w
STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY))";

constexpr std::string_view of_prefix = R"(rowlock_lock l
WHERE l.name >= ?1 AND (?2 IS NULL OR l.name < ?2) AND l.owner IS NOT NULL
  AND (l.expires_at IS NULL OR l.expires_at > SYSDATE(6)) ORDER BY l.name)";

// What an open transaction says in the row that it has changed: "session N ...", by hold and lock_in. The note is that
// of lock_in.
constexpr std::string_view held_where = R"(
SELECT l.name, l.version, NULL, IF(l.thread REGEXP '^session [0-9]{1,18} ',
    CAST(SUBSTRING_INDEX(SUBSTRING_INDEX(l.thread, ' ', 2), ' ', -1) AS SIGNED), NULL), NULL, NULL,
  NULL, l.note, TRUE, l.thread FROM rowlock_lock l
WHERE (l.owner IS NULL OR l.expires_at <= SYSDATE(6)) AND )";

constexpr std::string_view of_prefix_held = "l.name >= ?1 AND (?2 IS NULL OR l.name < ?2)";

// No other session sees what a transaction has changed and not committed; confirm always changes the end of the lease.
constexpr std::string_view kept_alone = "SELECT 1 FROM rowlock_lock WHERE name = ?1 AND us(expires_at) <> ?2";

constexpr std::string_view count_all = R"(
SELECT (SELECT COUNT(*) FROM rowlock_lock), COUNT(*), TIMESTAMPDIFF(MICROSECOND, MIN(enqueued_at), SYSDATE(6))
FROM rowlock_waiter WHERE expires_at > SYSDATE(6) AND COALESCE(lease, 1) <> 0)";

}  // namespace

std::array<step, 7> inspection() {
  const auto marked = replaced(inspect_from, " FROM ", ", l.waiting FROM ");
  return std::to_array<step>({
      {.verb = verb::inspect,
       .look = marked + "rowlock_lock l WHERE l.name = ?1",
       .many = marked + std::string{of_many}},
      {.verb = verb::list, .look = std::string{inspect_from}.append(of_prefix)},
      {.verb = verb::find_held, .look = std::string{held_where}.append("l.name = ?1")},
      {.verb = verb::list_held, .look = std::string{held_where}.append(of_prefix_held)},
      {.verb = verb::pinned_by, .look = std::string{kept_alone}},
      {.verb = verb::beat, .look = "SELECT 1"},
      {.verb = verb::count, .look = std::string{count_all}},
  });
}

}  // namespace rowlock::inline v1::dialect::mysql_parts
