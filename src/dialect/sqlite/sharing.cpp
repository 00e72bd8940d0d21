#include <string>

#include "dialect/sqlite/parts.hpp"

namespace rowlock::inline v1::dialect::sqlite_parts {

namespace {

// {joins}: others share it. The permits of holders whose lease has ended do not count.
constexpr std::string_view share_one =
    "UPDATE rowlock_lock SET version = tell(1, max(version + 1, clock_us())) + 0 * tell(2, ?5), owner = '(shared)', "
    "thread = NULL, note = NULL, liveness = NULL, acquisition = iif({joins}, acquisition, 'shared:' || ?4), "
    "acquired_at = iif({joins}, acquired_at, clock_us()), "
    "expires_at = iif({joins}, max(expires_at, clock_us() + ?5), clock_us() + ?5) "
    "WHERE name = ?1 AND (owner IS NULL OR expires_at <= clock_us() OR is_dead(expires_at, liveness) "
    "OR {joins} AND (SELECT coalesce(sum(permits), 0) FROM rowlock_share s "
    "WHERE s.name = ?1 AND s.since = rowlock_lock.acquisition AND s.expires_at > clock_us()) <= ?8) "
    "AND iif(?9 = 0, NOT EXISTS (SELECT 1 FROM rowlock_waiter "
    "WHERE name = ?1 AND expires_at > clock_us() AND lease IS NOT 0), version = ?9 OR {joins})";

constexpr std::string_view joins = "(owner IS '(shared)' AND expires_at > clock_us())";

constexpr std::string_view write_share =
    "INSERT INTO rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, "
    "note) "
    "SELECT ?1, ?4, acquisition, ?7, version, ?2, ?3, clock_us(), min(expires_at, clock_us() + ?5), ?6 "
    "FROM rowlock_lock WHERE name = ?1";

constexpr std::string_view of_sharing_row =
    "AND since = (SELECT acquisition FROM rowlock_lock WHERE name = ?1 AND owner = '(shared)')";

constexpr std::string_view renew_share_one =
    "UPDATE rowlock_share SET expires_at = clock_us() + tell(1, max(expires_at - clock_us(), ?3)) "
    "WHERE name = ?1 AND acquisition = ?2 AND expires_at > clock_us() ";

constexpr std::string_view extend_share_one =
    "UPDATE rowlock_share SET expires_at = clock_us() + tell(1, ?3) "
    "WHERE name = ?1 AND acquisition = ?2 AND expires_at > clock_us() ";

constexpr std::string_view release_share_one = "DELETE FROM rowlock_share WHERE name = ?1 AND acquisition = ?2 ";

constexpr std::string_view reap_dead = "DELETE FROM rowlock_share WHERE name = ?1 AND expires_at <= clock_us() ";

// Those of an earlier time, which never comes back.
constexpr std::string_view purge_stale =
    "DELETE FROM rowlock_share WHERE name = ?1 AND expires_at <= clock_us() AND NOT EXISTS (SELECT 1 FROM rowlock_lock "
    "l "
    "WHERE l.name = ?1 AND l.owner = '(shared)' AND l.acquisition = rowlock_share.since)";

// After a renewal it need not look at all shares. The clock is not before that of the renewal.
constexpr std::string_view raise_row =
    "UPDATE rowlock_lock SET expires_at = clock_us() + ?3 "
    "WHERE name = ?1 AND owner = '(shared)' AND expires_at < clock_us() + ?3";

// Behind a change of its shares: it lasts as long as the last of them, and is vacant without any.
constexpr std::string_view settle_row =
    "UPDATE rowlock_lock SET owner = iif({last} > clock_us(), owner, NULL), "
    "version = iif({last} > clock_us(), version, max(version + 1, clock_us())), "
    "expires_at = iif({last} > clock_us(), {last}, clock_us()) WHERE name = ?1 AND owner = '(shared)'";

constexpr std::string_view last_share =
    "(SELECT max(s.expires_at) FROM rowlock_share s WHERE s.name = ?1 AND s.since = rowlock_lock.acquisition)";

// Its lease keeps its end.
constexpr std::string_view upgrade_one =
    "UPDATE rowlock_lock SET version = tell(1, max(version + 1, clock_us())), owner = ?3, thread = ?4, acquisition = "
    "?2, "
    "acquired_at = clock_us(), note = ?5, "
    "expires_at = clock_us() + tell(2, (SELECT s.expires_at FROM rowlock_share s WHERE s.name = ?1 AND s.acquisition = "
    "?2) "
    "- clock_us()) WHERE name = ?1 AND owner = '(shared)' AND (SELECT count(*) FROM rowlock_share s "
    "WHERE s.name = ?1 AND s.since = rowlock_lock.acquisition AND s.expires_at > clock_us()) = 1 "
    "AND EXISTS (SELECT 1 FROM rowlock_share s WHERE s.name = ?1 AND s.acquisition = ?2 "
    "AND s.since = rowlock_lock.acquisition AND s.expires_at > clock_us())";

constexpr std::string_view forget_share = "DELETE FROM rowlock_share WHERE name = ?1 AND acquisition = ?2";

constexpr std::string_view downgrade_one =
    "UPDATE rowlock_lock SET version = tell(1, max(version + 1, clock_us())) + 0 * tell(2, expires_at - clock_us()), "
    "owner = '(shared)', thread = NULL, note = NULL, acquisition = 'shared:' || ?6 "
    "WHERE name = ?1 AND acquisition = ?2 AND owner IS NOT NULL AND expires_at > clock_us()";

constexpr std::string_view write_downgraded =
    "INSERT INTO rowlock_share (name, acquisition, since, permits, token, owner, thread, acquired_at, expires_at, "
    "note) "
    "SELECT ?1, ?2, acquisition, ?7, version, ?3, ?4, clock_us(), expires_at, ?5 FROM rowlock_lock WHERE name = ?1";

constexpr std::string_view find_dead_names =
    "SELECT DISTINCT name FROM rowlock_share WHERE name > ?1 AND expires_at <= clock_us() - ?3 ORDER BY name LIMIT ?2";

constexpr std::string_view sharers_of_one =
    "SELECT s.name, s.token, s.owner, s.thread, s.acquisition, clock_us() - s.acquired_at, "
    "s.expires_at - clock_us(), s.note, 0, s.permits FROM rowlock_share s "
    "JOIN rowlock_lock l ON l.name = s.name AND l.owner = '(shared)' AND l.acquisition = s.since "
    "WHERE s.name = ?1 AND s.expires_at > clock_us() ORDER BY s.token";

}  // namespace

std::array<step, 10> sharing() {
  const auto settle = replaced(settle_row, "{last}", last_share);
  const auto of_the_row = [](std::string_view text) { return std::string{text}.append(of_sharing_row); };
  return std::to_array<step>({
      {.verb = verb::share, .key = 3, .act = replaced(share_one, "{joins}", joins), .also = std::string{write_share}},
      {.verb = verb::renew_share, .key = 1, .act = of_the_row(renew_share_one), .also = std::string{raise_row}},
      {.verb = verb::extend_share, .key = 1, .act = of_the_row(extend_share_one), .also = settle},
      {.verb = verb::release_share, .key = 1, .act = of_the_row(release_share_one), .also = settle},
      {.verb = verb::upgrade_share, .key = 1, .act = std::string{upgrade_one}, .also = std::string{forget_share}},
      {.verb = verb::downgrade, .key = 1, .act = std::string{downgrade_one}, .also = std::string{write_downgraded}},
      {.verb = verb::reap_shares, .act = of_the_row(reap_dead), .also = settle},
      {.verb = verb::purge_shares, .act = std::string{purge_stale}},
      {.verb = verb::find_dead_shares, .look = std::string{find_dead_names}},
      {.verb = verb::sharers, .look = std::string{sharers_of_one}},
  });
}

}  // namespace rowlock::inline v1::dialect::sqlite_parts
