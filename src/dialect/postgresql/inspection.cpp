#include <string>

#include "dialect/postgresql/parts.hpp"

namespace rowlock::inline v1::dialect::postgresql_parts {

namespace {

constexpr std::string_view inspect_where = R"(
SELECT name, version, owner, thread, acquisition, us(clock_timestamp() - acquired_at),
  us(expires_at - clock_timestamp()), note, expires_at IS NULL FROM rowlock_lock WHERE )";

constexpr std::string_view of_prefix = R"(
name >= $1::text AND ($2::text IS NULL OR name < $2::text) AND owner IS NOT NULL
AND (expires_at IS NULL OR expires_at > clock_timestamp()) ORDER BY name)";

// The xmax of a row names the transaction that has changed it and not committed, and pg_locks lists that transaction
// while it is open.
constexpr std::string_view held_where = R"(
WITH held AS MATERIALIZED (
  SELECT k.transactionid, k.pid, a.application_name, a.xact_start
  FROM pg_catalog.pg_locks k LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = k.pid
  WHERE k.locktype = 'transactionid' AND k.granted AND k.mode = 'ExclusiveLock')
SELECT l.name, 0::bigint, h.application_name, h.pid::bigint, NULL::text,
  us(clock_timestamp() - h.xact_start), NULL::bigint, NULL::text, true
FROM rowlock_lock l JOIN held h ON h.transactionid = l.xmax
WHERE (l.owner IS NULL OR l.expires_at <= clock_timestamp()) AND )";

constexpr std::string_view of_prefix_held = R"(
l.name >= $1::text AND ($2::text IS NULL OR l.name < $2::text) ORDER BY l.name)";

// Where several transactions have had the row locked at once, its xmax is the number of a list of them. Nothing tells a
// number of a list from a number of a transaction, so a transaction that is found by it must at least have locked
// something in this table. In a list those that only lock come first: one that writes beside them is a renewal or the
// like, and is over in a moment.
constexpr std::string_view blockers = R"(
WITH named AS MATERIALIZED (SELECT name, xmax AS keeper, tableoid AS home FROM rowlock_lock WHERE name = $1::text),
several AS MATERIALIZED (
  SELECT name, CASE WHEN mxid_age(keeper) BETWEEN 1 AND (SELECT max(mxid_age(datminmxid)) FROM pg_catalog.pg_database)
    THEN keeper END AS list FROM named),
keepers AS MATERIALIZED (
  SELECT name, keeper, 1 AS place FROM named
  UNION ALL SELECT s.name, m.xid, CASE WHEN m.mode IN ('keysh', 'sh') THEN 2 ELSE 3 END
  FROM several s, LATERAL pg_get_multixact_members(s.list) m),
found AS MATERIALIZED (
  SELECT f.name, f.place, k.pid FROM keepers f JOIN pg_catalog.pg_locks k ON k.transactionid = f.keeper
  WHERE k.locktype = 'transactionid' AND k.granted AND k.mode = 'ExclusiveLock' AND EXISTS (SELECT FROM pg_catalog.pg_locks t
    WHERE t.pid = k.pid AND t.locktype = 'relation' AND t.relation = (SELECT home FROM named) AND t.granted
      AND t.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database()))))";

constexpr std::string_view all_blockers = R"(
SELECT f.name, 0::bigint, a.application_name, f.pid::bigint, NULL::text,
  us(clock_timestamp() - a.xact_start), NULL::bigint, NULL::text, true
FROM found f LEFT JOIN pg_catalog.pg_stat_activity a ON a.pid = f.pid ORDER BY f.place, f.pid)";

constexpr std::string_view end_blocker = R"(
SELECT pg_terminate_backend(pid)::integer FROM (SELECT DISTINCT pid FROM found WHERE pid = $2::integer) f)";

// The row is vacant and nobody had locked it.
constexpr std::string_view and_unlocked = R"(, EXISTS (
  SELECT FROM rowlock_lock l WHERE l.name = $1::text AND l.owner IS NULL{releasing} FOR UPDATE SKIP LOCKED)::integer
FROM rowlock_lock WHERE )";

// A number that is read both as a transaction and as a list may make it seem that others keep the row, too.
constexpr std::string_view kept_alone = R"(
SELECT 1 FROM found HAVING count(*) > 0 AND bool_and(pid = $2::integer))";

constexpr std::string_view count_all = R"(
SELECT (SELECT count(*) FROM rowlock_lock), count(*), us(clock_timestamp() - min(enqueued_at))
FROM rowlock_waiter WHERE expires_at > clock_timestamp())";

}  // namespace

std::array<step, 10> inspection() {
  const auto touched = replaced(inspect_where, " FROM rowlock_lock WHERE ", and_unlocked);
  const auto marked = replaced(inspect_where, " FROM rowlock_lock WHERE ", ", waiting FROM rowlock_lock WHERE ");
  return std::to_array<step>({
      {.verb = verb::inspect, .look = marked + "name = $1::text", .many = marked + "name = ANY ($1::text[])"},
      {.verb = verb::list, .look = std::string{inspect_where}.append(of_prefix)},
      {.verb = verb::find_held, .look = std::string{held_where}.append("l.name = $1::text")},
      {.verb = verb::list_held, .look = std::string{held_where}.append(of_prefix_held)},
      {.verb = verb::find_pinning, .look = std::string{blockers}.append(all_blockers)},
      {.verb = verb::end_session, .act = std::string{blockers}.append(end_blocker)},
      {.verb = verb::touch, .look = touched + "name = $1::text"},
      {.verb = verb::pinned_by, .look = std::string{blockers}.append(kept_alone)},
      {.verb = verb::beat, .look = "SELECT 1"},
      {.verb = verb::count, .look = std::string{count_all}},
  });
}

}  // namespace rowlock::inline v1::dialect::postgresql_parts
