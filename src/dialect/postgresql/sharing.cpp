#include <string>

#include "dialect/postgresql/parts.hpp"

namespace rowlock::inline v1::dialect::postgresql_parts {

namespace {

// They wait for the row, briefly: those who share a name change it at any time. All lock it before they look at a
// share, and read the clock once, above that lock. {asked}: who asks for a share of one name, in this order.
constexpr std::string_view share_by = R"(
WITH asked AS (SELECT * FROM {asked} AS a (owner, thread, acquisition, lease, note, permits, place)),
taken AS (
  UPDATE rowlock_lock l SET version = greatest(l.version + 1, us(own.at)) + own.number - 1, owner = '(shared)',
    thread = NULL, note = NULL, sharers = CASE WHEN own.joins THEN l.sharers ELSE 0 END + own.permits,
    acquisition = CASE WHEN own.joins THEN l.acquisition ELSE 'shared:' || {acquisition} END,
    acquired_at = CASE WHEN own.joins THEN l.acquired_at ELSE own.at END,
    expires_at = CASE WHEN own.joins THEN greatest(l.expires_at, own.until) ELSE own.until END
  FROM (SELECT r.at, r.at + total.lease * interval '1 microsecond' AS until, total.number, total.permits,
      r.owner IS NOT DISTINCT FROM '(shared)' AND r.expires_at > r.at AS joins FROM (
    SELECT k.owner, k.expires_at, clock_timestamp() AS at FROM (
      SELECT owner, expires_at FROM rowlock_lock
      WHERE name = {name} AND (owner IS NULL OR expires_at <= clock_timestamp()
          OR (owner = '(shared)' AND sharers <= {room}))
        AND CASE WHEN {version} = 0 THEN NOT waiting
          ELSE version = {version} OR (owner IS NOT DISTINCT FROM '(shared)' AND expires_at > clock_timestamp()) END
        {durably}{briefly}
      FOR UPDATE) k) r,
    (SELECT max(lease) AS lease, sum(permits)::bigint AS permits, count(*) AS number FROM asked) total) own
  WHERE l.name = {name}
  RETURNING l.version - own.number AS before, l.acquisition, own.at),
share AS (
  INSERT INTO rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, note)
  SELECT {name}, a.acquisition, t.acquisition, a.permits, t.before + a.place, a.owner, a.thread, t.at,
    t.at + a.lease * interval '1 microsecond', a.note FROM taken t, asked a)
SELECT a.acquisition, t.before + a.place, a.lease FROM taken t, asked a)";

constexpr std::string_view one_asks = "(VALUES ($2::text, $3::text, $4::text, $5::bigint, $6::text, $7::bigint, 1))";
constexpr std::string_view many_ask =
    "unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::bigint[]) WITH ORDINALITY";

// {waiting}: whether rows that others have locked are waited for; {end}: when a lease ends, by its length. The row of
// the name is raised once for all its shares, and only where it falls short. Whether it does is decided by its end as
// it was read under the lock: a snapshot may be older, and show the later end of an earlier time.
constexpr std::string_view prolong_shares = R"(
WITH own AS MATERIALIZED (
  SELECT k.*, clock_timestamp() AS at FROM (
    SELECT w.*, r.since, r.ends FROM (
      SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) AS u (name, acquisition, lease)
      ORDER BY name COLLATE "C") w, LATERAL (
      SELECT acquisition AS since, expires_at AS ends FROM rowlock_lock
      WHERE name = w.name COLLATE "C" AND owner = '(shared)'{durably}{briefly}
      FOR NO KEY UPDATE{waiting}) r) k),
kept AS (
  UPDATE rowlock_share s SET expires_at = {end} FROM own
  WHERE s.name = own.name COLLATE "C" AND s.acquisition = own.acquisition AND s.since = own.since
    AND s.expires_at > own.at
  RETURNING s.name, s.acquisition, s.expires_at, own.at, own.ends),
raised AS (
  UPDATE rowlock_lock l SET expires_at = greatest(l.expires_at, k.last)
  FROM (SELECT name, max(expires_at) AS last FROM kept WHERE expires_at > ends GROUP BY name) k WHERE l.name = k.name)
SELECT acquisition, us(expires_at - at) FROM kept)";

// What is in `gone`. Without any permits the row is vacant.
constexpr std::string_view take_off = R"(
UPDATE rowlock_lock l SET sharers = l.sharers - g.permits,
  owner = CASE WHEN l.sharers > g.permits THEN l.owner END,
  version = CASE WHEN l.sharers > g.permits THEN l.version ELSE greatest(l.version + 1, us(g.at)) END,
  expires_at = CASE WHEN l.sharers > g.permits THEN l.expires_at ELSE g.at END
FROM gone g WHERE l.name = $1::text)";

// Who waits is told where the name is vacant now, or where a permit may be what it waits for.
constexpr std::string_view release_share_one = R"(
WITH own AS MATERIALIZED (
  SELECT r.acquisition, clock_timestamp() AS at FROM (
    SELECT acquisition FROM rowlock_lock WHERE name = $1::text AND owner = '(shared)'{releasing}{briefly}
    FOR UPDATE) r),
gone AS (
  DELETE FROM rowlock_share s USING own
  WHERE s.name = $1::text AND s.acquisition = $2::text AND s.since = own.acquisition
  RETURNING s.permits, own.at){take_off}
RETURNING $2::text, CASE WHEN l.waiting AND (l.owner IS NULL OR EXISTS (SELECT FROM rowlock_waiter q
    WHERE q.name = $1::text AND q.room BETWEEN 0 AND 9223372036854775806)) THEN {telling} END, l.waiting)";

// Its lease keeps its end.
constexpr std::string_view upgrade_one = R"(
WITH own AS MATERIALIZED (
  SELECT r.acquisition, r.sharers, clock_timestamp() AS at FROM (
    SELECT acquisition, sharers FROM rowlock_lock WHERE name = $1::text AND owner = '(shared)'{durably}{briefly}
    FOR UPDATE) r),
gone AS (
  DELETE FROM rowlock_share s USING own
  WHERE s.name = $1::text AND s.acquisition = $2::text AND s.since = own.acquisition AND s.permits = own.sharers
    AND s.expires_at > own.at
  RETURNING s.expires_at, own.at)
UPDATE rowlock_lock l SET version = greatest(l.version + 1, us(g.at)), owner = $3::text, thread = $4::text,
  acquisition = $2::text, acquired_at = g.at, expires_at = g.expires_at, note = $5::text, sharers = 0
FROM gone g WHERE l.name = $1::text
RETURNING $2::text, l.version, us(l.expires_at - g.at))";

constexpr std::string_view downgrade_one = R"(
WITH taken AS (
  UPDATE rowlock_lock l SET version = greatest(l.version + 1, us(own.at)), owner = '(shared)', thread = NULL,
    note = NULL, acquisition = 'shared:' || $6::text, sharers = $7::bigint
  FROM (SELECT clock_timestamp() AS at FROM (
    SELECT FROM rowlock_lock WHERE name = $1::text AND acquisition = $2::text AND owner IS NOT NULL{durably}{briefly}
    FOR UPDATE) k) own
  WHERE l.name = $1::text AND l.expires_at > own.at
  RETURNING l.version, l.acquisition, l.expires_at, own.at),
share AS (
  INSERT INTO rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, note)
  SELECT $1::text, $2::text, acquisition, $7::bigint, version, $3::text, $4::text, at, expires_at, $5::text FROM taken)
SELECT $2::text, version, us(expires_at - at) FROM taken)";

// Only shares of the row's own time are taken off its count: one that died before that is not among them.
constexpr std::string_view reap_one = R"(
WITH own AS MATERIALIZED (
  SELECT r.acquisition, clock_timestamp() AS at FROM (
    SELECT acquisition FROM rowlock_lock
    WHERE name = $1::text AND owner = '(shared)' AND EXISTS (SELECT FROM rowlock_share s
      WHERE s.name = $1::text AND s.expires_at <= clock_timestamp()){releasing}
    FOR UPDATE SKIP LOCKED) r),
dead AS (
  DELETE FROM rowlock_share s USING own
  WHERE s.name = $1::text AND s.since = own.acquisition AND s.expires_at <= own.at
  RETURNING s.permits, own.at),
gone AS MATERIALIZED (SELECT sum(permits)::bigint AS permits, max(at) AS at FROM dead HAVING count(*) > 0){take_off}
RETURNING l.name, CASE WHEN l.waiting THEN {telling} END)";

// Those of an earlier time, which never comes back.
constexpr std::string_view purge_stale = R"(
DELETE FROM rowlock_share s
WHERE s.name = $1::text AND s.expires_at <= clock_timestamp(){relaxed} AND NOT EXISTS (
  SELECT FROM rowlock_lock l WHERE l.name = $1::text AND l.owner = '(shared)' AND l.acquisition = s.since))";

constexpr std::string_view find_dead_names = R"(
SELECT DISTINCT name FROM rowlock_share
WHERE name > $1::text AND expires_at <= clock_timestamp() - $3::bigint * interval '1 microsecond'
ORDER BY name LIMIT $2::bigint)";

constexpr std::string_view sharers_of_one = R"(
SELECT s.name, s.token, s.owner, s.thread, s.acquisition, us(clock_timestamp() - s.acquired_at),
  us(s.expires_at - clock_timestamp()), s.note, false, s.permits
FROM rowlock_share s JOIN rowlock_lock l ON l.name = s.name AND l.owner = '(shared)' AND l.acquisition = s.since
WHERE s.name = $1::text AND s.expires_at > clock_timestamp() ORDER BY s.token)";

std::string sharing_by(std::string_view asked, std::string_view element) {
  const auto first = [&](std::string_view number, std::string_view type) {
    std::string out;
    if (!element.empty()) out.append("(");
    out.append(number).append("::").append(type);
    return element.empty() ? out : out.append("[])").append(element);
  };
  auto out = replaced(replaced(share_by, "{asked}", asked), "{name}", first("$1", "text"));
  out = replaced(replaced(out, "{acquisition}", first("$4", "text")), "{room}", first("$8", "bigint"));
  return replaced(out, "{version}", first("$9", "bigint"));
}

step prolonging(verb what, std::string_view end) {
  const auto text = [&](std::string_view waiting) {
    return replaced(replaced(prolong_shares, "{waiting}", waiting), "{end}", end);
  };
  return {.verb = what, .key = 1, .many = text(""), .many_skipping = text(" SKIP LOCKED"), .many_waits = true};
}

std::string taking_off(std::string_view text, std::string_view telling) {
  return replaced(replaced(text, "{take_off}", take_off), "{telling}", telling);
}

}  // namespace

std::array<step, 10> sharing() {
  return std::to_array<step>({
      {.verb = verb::share, .key = 3, .act = sharing_by(one_asks, ""), .many = sharing_by(many_ask, "[1]")},
      prolonging(verb::renew_share, "greatest(s.expires_at, own.at + own.lease * interval '1 microsecond')"),
      prolonging(verb::extend_share, "own.at + own.lease * interval '1 microsecond'"),
      {.verb = verb::release_share, .key = 1, .act = taking_off(release_share_one, tell_first("$1::text", "$2::text"))},
      {.verb = verb::upgrade_share, .key = 1, .act = std::string{upgrade_one}},
      {.verb = verb::downgrade, .key = 1, .act = std::string{downgrade_one}},
      {.verb = verb::reap_shares, .act = taking_off(reap_one, tell_first("$1::text", "''"))},
      {.verb = verb::purge_shares, .act = std::string{purge_stale}},
      {.verb = verb::find_dead_shares, .look = std::string{find_dead_names}},
      {.verb = verb::sharers, .look = std::string{sharers_of_one}},
  });
}

}  // namespace rowlock::inline v1::dialect::postgresql_parts
