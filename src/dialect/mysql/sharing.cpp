#include <string>

#include "dialect/mysql/parts.hpp"

namespace rowlock::inline v1::dialect::mysql_parts {

namespace {

// They wait for the row, briefly: those who share a name change it at any time. All lock it before they look at a
// share. Only the inner SELECT reads the clock, above that lock.
constexpr std::string_view waiting_briefly = "/*M!100600 SET STATEMENT innodb_lock_wait_timeout = 1 FOR */";

// The first assignment decides whether this begins the time in which the name is shared, and all others follow it.
constexpr std::string_view share_one = R"(
UPDATE rowlock_lock SET
  acquisition = IF(COALESCE(owner = '(shared)' AND expires_at > SYSDATE(6), FALSE), acquisition, {since}),
  sharers = IF(acquisition = {since}, 0, sharers) + ?7,
  acquired_at = IF(acquisition = {since}, SYSDATE(6), acquired_at),
  expires_at = IF(acquisition = {since}, SYSDATE(6) + INTERVAL ?5 MICROSECOND,
    GREATEST(expires_at, SYSDATE(6) + INTERVAL ?5 MICROSECOND)),
  version = GREATEST(version + 1, us(SYSDATE(6))), owner = '(shared)', thread = NULL, note = NULL
WHERE name = ?1 AND (owner IS NULL OR expires_at <= SYSDATE(6) OR (owner = '(shared)' AND sharers <= ?8))
  AND IF(?9 = 0, NOT waiting, version = ?9 OR COALESCE(owner = '(shared)' AND expires_at > SYSDATE(6), FALSE)))";

constexpr std::string_view write_share = R"(
INSERT INTO rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, note)
SELECT ?1, ?4, l.acquisition, ?7, l.version, ?2, ?3, SYSDATE(6),
  LEAST(l.expires_at, SYSDATE(6) + INTERVAL ?5 MICROSECOND), ?6
FROM rowlock_lock l WHERE l.name = ?1 AND ROW_COUNT() > 0)";

constexpr std::string_view shared_one = R"(
SELECT acquisition, token, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at) FROM rowlock_share
WHERE name = ?1 AND acquisition = ?4)";

// Of one name.
constexpr std::string_view share_many = R"(
UPDATE (SELECT r.*, r.at + INTERVAL r.lease MICROSECOND AS ends,
      COALESCE(r.owner = '(shared)' AND r.expires_at > r.at, FALSE) AS joins
    FROM (SELECT l.name, l.owner, l.expires_at, SYSDATE(6) AS at, t.number, t.permits, t.lease, t.first
      FROM (SELECT w.name, COUNT(*) AS number, SUM(w.permits) AS permits, MAX(w.lease) AS lease,
          MIN(w.acquisition) AS first, MAX(w.room) AS room, MAX(w.version) AS version
        FROM {wanted(name, acquisition, lease, permits, room, version)} w GROUP BY w.name) t
      STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(t.name AS BINARY)
      WHERE (l.owner IS NULL OR l.expires_at <= SYSDATE(6) OR (l.owner = '(shared)' AND l.sharers <= t.room))
        AND IF(t.version = 0, NOT l.waiting,
          l.version = t.version OR COALESCE(l.owner = '(shared)' AND l.expires_at > SYSDATE(6), FALSE))
      LIMIT 1 FOR UPDATE /*!80000 OF l */) r) own
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.version = GREATEST(l.version + 1, us(own.at)) + own.number - 1, l.owner = '(shared)', l.thread = NULL,
  l.note = NULL, l.sharers = IF(own.joins, l.sharers, 0) + own.permits,
  l.acquisition = IF(own.joins, l.acquisition, CONCAT('shared:', own.first)),
  l.acquired_at = IF(own.joins, l.acquired_at, own.at),
  l.expires_at = IF(own.joins, GREATEST(l.expires_at, own.ends), own.ends))";

constexpr std::string_view write_shares = R"(
INSERT INTO rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, note)
SELECT l.name, w.acquisition, l.acquisition, w.permits, l.version + 1 - ROW_NUMBER() OVER (ORDER BY w.acquisition DESC),
  w.owner, w.thread, SYSDATE(6), LEAST(l.expires_at, SYSDATE(6) + INTERVAL w.lease MICROSECOND), w.note
FROM {wanted(name, owner, thread, acquisition, lease, note, permits)} w
STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY) AND ROW_COUNT() > 0)";

constexpr std::string_view shared_many = R"(
SELECT s.acquisition, s.token, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), s.expires_at)
FROM {wanted(name, acquisition)} w
STRAIGHT_JOIN rowlock_share s FORCE INDEX (PRIMARY) ON s.name = CAST(w.name AS BINARY) AND s.acquisition = w.acquisition)";

// {skipping}: whether rows that others have locked are waited for; {ends}: when a lease ends, by
// its length. Of a row that is found for several shares an update makes one change only, so each has the last end of
// all.
constexpr std::string_view prolong_shares = R"(
UPDATE (SELECT k.*, MAX(k.ends) OVER (PARTITION BY k.name) AS last FROM (
      SELECT r.name, r.acquisition, {ends} AS ends FROM (
        SELECT l.name, s.acquisition, s.expires_at, w.lease, SYSDATE(6) AS at
        FROM {wanted(name, acquisition, lease)} w
        STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = CAST(w.name AS BINARY)
        STRAIGHT_JOIN rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name AND s.acquisition = w.acquisition
        WHERE l.owner = '(shared)' AND l.acquisition = s.since
        LIMIT 1000000 FOR UPDATE /*!80000 OF l, s */{skipping}) r
      WHERE r.expires_at > r.at) k) own
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
  STRAIGHT_JOIN rowlock_share s FORCE INDEX (PRIMARY) ON s.name = own.name AND s.acquisition = own.acquisition
SET l.expires_at = GREATEST(l.expires_at, own.last), s.expires_at = own.ends)";

// An update does not answer what it has changed. {changed}: how to tell a lease that it has changed.
constexpr std::string_view prolonged_shares = R"(
SELECT acquisition, remaining FROM (
  SELECT s.acquisition, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), s.expires_at) AS remaining, w.lease
  FROM {wanted(name, acquisition, lease)} w
  STRAIGHT_JOIN rowlock_share s FORCE INDEX (PRIMARY)
    ON s.name = CAST(w.name AS BINARY) AND s.acquisition = w.acquisition
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY)
    ON l.name = s.name AND l.owner = '(shared)' AND l.acquisition = s.since) own
WHERE remaining > 0 AND {changed})";

// A look without a lock comes first: a row without such a share may be locked for as long as a transaction has the
// name. Then the row is locked, and then the share, of which the newest state is read.
constexpr std::string_view none_found = "SET @rowlock.share = NULL, @rowlock.name = NULL;\n";
constexpr std::string_view own_share = R"(
FROM rowlock_lock l FORCE INDEX (PRIMARY) STRAIGHT_JOIN rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name
WHERE l.name = {name} AND l.owner = '(shared)' AND l.acquisition = s.since AND {which} LIMIT 1)";
constexpr std::string_view lock_own = "SELECT s.acquisition, s.permits INTO @rowlock.share, @rowlock.permits";
constexpr std::string_view take_off = R"(
UPDATE rowlock_lock SET sharers = sharers - @rowlock.permits, owner = IF(sharers > 0, owner, NULL),
  version = IF(sharers > 0, version, GREATEST(version + 1, us(SYSDATE(6)))),
  expires_at = IF(sharers > 0, expires_at, SYSDATE(6))
WHERE name = @rowlock.name AND @rowlock.share IS NOT NULL)";

// Its lease keeps its end.
constexpr std::string_view upgrade_one = R"(
UPDATE (SELECT r.* FROM (
      SELECT l.name, s.expires_at, SYSDATE(6) AS at
      FROM rowlock_lock l FORCE INDEX (PRIMARY)
      STRAIGHT_JOIN rowlock_share s FORCE INDEX (PRIMARY) ON s.name = l.name AND s.acquisition = ?2
      WHERE l.name = @rowlock.name AND l.owner = '(shared)' AND l.acquisition = s.since AND l.sharers = s.permits
      LIMIT 1 FOR UPDATE) r WHERE r.expires_at > r.at) own
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.version = GREATEST(l.version + 1, us(own.at)), l.owner = ?3, l.thread = ?4, l.acquisition = ?2,
  l.acquired_at = own.at, l.expires_at = own.expires_at, l.note = ?5, l.sharers = 0)";

constexpr std::string_view forget_share =
    "DELETE FROM rowlock_share WHERE name = ?1 AND acquisition = ?2 AND ROW_COUNT() > 0";

constexpr std::string_view upgraded_one = R"(
SELECT acquisition, version, TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), expires_at) FROM rowlock_lock
WHERE name = ?1 AND acquisition = ?2 AND owner IS NOT NULL)";

constexpr std::string_view find_lease = R"(SELECT name INTO @rowlock.name FROM rowlock_lock
WHERE name = ?1 AND acquisition = ?2 AND owner IS NOT NULL)";
constexpr std::string_view downgrade_one = R"(
UPDATE (SELECT r.* FROM (
      SELECT name, expires_at, SYSDATE(6) AS at FROM rowlock_lock
      WHERE name = @rowlock.name AND acquisition = ?2 AND owner IS NOT NULL LIMIT 1 FOR UPDATE) r
    WHERE r.expires_at > r.at) own
  STRAIGHT_JOIN rowlock_lock l FORCE INDEX (PRIMARY) ON l.name = own.name
SET l.version = GREATEST(l.version + 1, us(own.at)), l.owner = '(shared)', l.thread = NULL, l.note = NULL,
  l.acquisition = CONCAT('shared:', ?6), l.sharers = ?7)";

constexpr std::string_view write_downgraded = R"(
INSERT INTO rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, note)
SELECT ?1, ?2, l.acquisition, ?7, l.version, ?3, ?4, SYSDATE(6), l.expires_at, ?5 FROM rowlock_lock l
WHERE l.name = ?1 AND ROW_COUNT() > 0)";

constexpr std::string_view delete_taken_off =
    "DELETE FROM rowlock_share WHERE name = ?1 AND acquisition = @rowlock.share";

constexpr std::string_view is_waited_for =
    "SELECT ?2, NULL, waiting FROM rowlock_lock WHERE name = ?1 AND @rowlock.share IS NOT NULL";

constexpr std::string_view is_reaped = "SELECT ?1 FROM (SELECT 1) one WHERE @rowlock.share IS NOT NULL";

// Those of an earlier time, which never comes back.
constexpr std::string_view purge_stale = R"(
DELETE FROM rowlock_share WHERE name = ?1 AND expires_at <= SYSDATE(6) AND NOT EXISTS (
  SELECT 1 FROM rowlock_lock l WHERE l.name = ?1 AND l.owner = '(shared)' AND l.acquisition = rowlock_share.since))";

constexpr std::string_view find_dead_names = R"(
SELECT DISTINCT name FROM rowlock_share
WHERE name > ?1 AND expires_at <= SYSDATE(6) - INTERVAL ?3 MICROSECOND ORDER BY name LIMIT ?2)";

constexpr std::string_view sharers_of_one = R"(
SELECT s.name, s.token, s.owner, s.thread, s.acquisition, TIMESTAMPDIFF(MICROSECOND, s.acquired_at, SYSDATE(6)),
  TIMESTAMPDIFF(MICROSECOND, SYSDATE(6), s.expires_at), s.note, FALSE, s.permits
FROM rowlock_share s JOIN rowlock_lock l ON l.name = s.name AND l.owner = '(shared)' AND l.acquisition = s.since
WHERE s.name = ?1 AND s.expires_at > SYSDATE(6) ORDER BY s.token)";

std::string waiting(std::string_view text) { return std::string{waiting_briefly}.append(text); }

step prolonging_share(verb what, std::string_view ends, std::string_view changed) {
  const auto update = [&](std::string_view skipping) {
    return replaced(replaced(prolong_shares, "{skipping}", skipping), "{ends}", ends);
  };
  return {.verb = what,
          .key = 1,
          .many = waiting(update("")),
          .many_skipping = update(" SKIP LOCKED"),
          .many_told = replaced(prolonged_shares, "{changed}", changed),
          .many_waits = true};
}

std::string own(std::string_view name, std::string_view which) {
  return replaced(replaced(own_share, "{name}", name), "{which}", which);
}
std::string finding_own(std::string_view which) {
  return std::string{none_found} + "SELECT l.name INTO @rowlock.name" + own("?1", which) + ";\n";
}

step taking_off(verb what, std::size_t key, std::string_view which, std::string_view told) {
  const auto lock = std::string{lock_own} + own("@rowlock.name", which) + " FOR UPDATE;\n";
  return {.verb = what,
          .key = key,
          .act = finding_own(which) + waiting(lock) + std::string{take_off},
          .also = std::string{delete_taken_off},
          .told = std::string{told}};
}

}  // namespace

std::array<step, 10> sharing() {
  return std::to_array<step>({
      {.verb = verb::share,
       .key = 3,
       .act = waiting(replaced(share_one, "{since}", "CONCAT('shared:', ?4)")),
       .also = std::string{write_share},
       .told = std::string{shared_one},
       .many = waiting(share_many),
       .many_also = std::string{write_shares},
       .many_told = std::string{shared_many}},
      prolonging_share(verb::renew_share, "GREATEST(r.expires_at, r.at + INTERVAL r.lease MICROSECOND)",
                       "remaining * 2 > lease"),
      prolonging_share(verb::extend_share, "r.at + INTERVAL r.lease MICROSECOND",
                       "remaining BETWEEN lease - 10000000 AND lease"),
      {.verb = verb::upgrade_share,
       .key = 1,
       .act = finding_own("s.acquisition = ?2") + waiting(upgrade_one),
       .also = std::string{forget_share},
       .told = std::string{upgraded_one}},
      {.verb = verb::downgrade,
       .key = 1,
       .act = std::string{none_found}.append(find_lease).append(";\n") + waiting(downgrade_one),
       .also = std::string{write_downgraded},
       .told = replaced(shared_one, "?4", "?2")},
      taking_off(verb::release_share, 1, "s.acquisition = ?2", is_waited_for),
      taking_off(verb::reap_shares, 0, "s.expires_at <= SYSDATE(6)", is_reaped),
      {.verb = verb::purge_shares, .act = std::string{purge_stale}},
      {.verb = verb::find_dead_shares, .look = std::string{find_dead_names}},
      {.verb = verb::sharers, .look = std::string{sharers_of_one}},
  });
}

}  // namespace rowlock::inline v1::dialect::mysql_parts
