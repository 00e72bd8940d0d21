#include "dialect/dialect.hpp"

namespace rowlock::inline v1::dialect {

// Why each of these is safe: docs/protocol.md, "SQLite". The driver registers three functions. clock_us() is read once
// for each statement, in one that writes after the file's write lock was taken. tell(n, value) is its value, and column
// n of the answer, behind the request's key, if the statement changes a row: RETURNING would build a temporary table
// for each statement. is_dead(expires_at, liveness) is true where there is no lease and the client that has it is gone.

namespace {

constexpr const char* look_for_holder =
    "SELECT ?4, NULL, expires_at - clock_us() FROM rowlock_lock WHERE name = ?1 AND owner IS NOT NULL "
    "AND (expires_at > clock_us() OR expires_at IS NULL AND NOT is_dead(expires_at, liveness))";

const step acquire{
    .verb = verb::acquire,
    .key = 3,
    .look = look_for_holder,
    .act =
        "INSERT INTO rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note) "
        "VALUES (?1, tell(1, clock_us()), ?2, ?3, ?4, clock_us(), clock_us() + tell(2, ?5), ?6) "
        "ON CONFLICT (name) DO UPDATE SET version = tell(1, max(version + 1, clock_us())), owner = excluded.owner, "
        "thread = excluded.thread, acquisition = excluded.acquisition, acquired_at = excluded.acquired_at, "
        "expires_at = excluded.expires_at, note = excluded.note, liveness = NULL "
        "WHERE owner IS NULL OR expires_at <= clock_us() OR is_dead(expires_at, liveness)"};

const step hold_while_alive{
    .verb = verb::hold_while_alive,
    .key = 3,
    .look = look_for_holder,
    .act =
        "INSERT INTO rowlock_lock (name, version, owner, thread, acquisition, acquired_at, expires_at, note, "
        "liveness) VALUES (?1, tell(1, clock_us()), ?2, ?3, ?4, clock_us(), tell(2, NULL), ?6, ?7) "
        "ON CONFLICT (name) DO UPDATE SET version = tell(1, max(version + 1, clock_us())), owner = excluded.owner, "
        "thread = excluded.thread, acquisition = excluded.acquisition, acquired_at = excluded.acquired_at, "
        "expires_at = NULL, note = excluded.note, liveness = excluded.liveness "
        "WHERE owner IS NULL OR expires_at <= clock_us() OR is_dead(expires_at, liveness)"};

const step compare_and_set{
    .verb = verb::compare_and_set,
    .key = 3,
    .act =
        "UPDATE rowlock_lock SET version = tell(1, max(version + 1, clock_us())), owner = ?2, thread = ?3, "
        "acquisition = ?4, acquired_at = clock_us(), expires_at = clock_us() + tell(2, ?5), note = ?6, liveness = NULL "
        "WHERE name = ?1 AND version = ?7 "
        "AND (owner IS NULL OR expires_at <= clock_us() OR is_dead(expires_at, liveness))"};

const step make{.verb = verb::make,
                .act =
                    "INSERT INTO rowlock_lock (name, version, expires_at) VALUES (?1, clock_us(), clock_us()) "
                    "ON CONFLICT (name) DO NOTHING"};

const step renew{.verb = verb::renew,
                 .key = 1,
                 .act =
                     "UPDATE rowlock_lock SET expires_at = clock_us() + tell(1, max(expires_at - clock_us(), ?3)) "
                     "WHERE name = ?1 AND acquisition = ?2 AND owner IS NOT NULL AND expires_at > clock_us()"};

const step extend{.verb = verb::extend,
                  .key = 1,
                  .act =
                      "UPDATE rowlock_lock SET expires_at = clock_us() + tell(1, ?3) "
                      "WHERE name = ?1 AND acquisition = ?2 AND owner IS NOT NULL AND expires_at > clock_us()"};

const step release{.verb = verb::release,
                   .key = 1,
                   .act =
                       "UPDATE rowlock_lock SET owner = NULL, thread = NULL, note = NULL, liveness = NULL, "
                       "version = max(version + 1, clock_us()), expires_at = clock_us() "
                       "WHERE name = ?1 AND acquisition = ?2 AND owner IS NOT NULL"};

// Whose it was is not asked: the version says what was looked at.
const step free{.verb = verb::free,
                .act =
                    "UPDATE rowlock_lock SET owner = NULL, thread = NULL, note = NULL, liveness = NULL, "
                    "version = max(version + 1, clock_us()), expires_at = clock_us() "
                    "WHERE name = ?1 AND version = ?2 AND owner IS NOT NULL"};

const step linger{.verb = verb::linger,
                  .key = 1,
                  .act =
                      "UPDATE rowlock_lock SET expires_at = acquired_at + ?3 "
                      "WHERE name = ?1 AND acquisition = ?2 AND owner IS NOT NULL AND expires_at > clock_us()"};

const step inspect{.verb = verb::inspect,
                   .look =
                       "SELECT name, version, iif(is_dead(expires_at, liveness), NULL, owner), thread, acquisition, "
                       "clock_us() - acquired_at, expires_at - clock_us(), note, expires_at IS NULL "
                       "FROM rowlock_lock WHERE name = ?1"};

const step list{.verb = verb::list,
                .look =
                    "SELECT name, version, owner, thread, acquisition, clock_us() - acquired_at, "
                    "expires_at - clock_us(), note, expires_at IS NULL FROM rowlock_lock "
                    "WHERE name >= ?1 AND name < coalesce(?2, x'') AND owner IS NOT NULL "
                    "AND (expires_at > clock_us() OR expires_at IS NULL AND NOT is_dead(expires_at, liveness)) "
                    "ORDER BY name"};

const step enqueue{.verb = verb::enqueue,
                   .key = 3,
                   .act =
                       "INSERT INTO rowlock_waiter (name, owner, thread, attempt, enqueued_at, expires_at) "
                       "VALUES (?1, ?2, ?3, ?4, clock_us(), clock_us() + ?5) RETURNING attempt, ticket"};

const step stay{.verb = verb::stay,
                .key = 1,
                .act = "UPDATE rowlock_waiter SET expires_at = clock_us() + ?4 WHERE ticket = ?3 AND attempt = ?2"};

const step leave{.verb = verb::leave,
                 .key = 1,
                 .look = "SELECT ?2 WHERE NOT EXISTS (SELECT 1 FROM rowlock_waiter WHERE ticket = ?3 AND attempt = ?2)",
                 .act = "DELETE FROM rowlock_waiter WHERE ticket = ?3 AND attempt = ?2"};

const step withdraw{.verb = verb::withdraw, .act = "DELETE FROM rowlock_waiter WHERE name = ?1 AND attempt = ?2"};

const step turn{.verb = verb::turn,
                .look =
                    "SELECT ?1, EXISTS (SELECT 1 FROM rowlock_waiter "
                    "WHERE name = ?1 AND ticket < ?2 AND expires_at > clock_us()), "
                    "EXISTS (SELECT 1 FROM rowlock_waiter WHERE ticket = ?2), "
                    "coalesce(owner IS NULL OR expires_at <= clock_us() OR is_dead(expires_at, liveness), 0), "
                    "expires_at - clock_us(), version "
                    "FROM (SELECT 1) LEFT JOIN rowlock_lock ON name = ?1"};

const step waiters{.verb = verb::waiters,
                   .look =
                       "SELECT ticket, owner, thread, clock_us() - enqueued_at FROM rowlock_waiter "
                       "WHERE name = ?1 AND expires_at > clock_us() ORDER BY ticket"};

// The version is as old as the last change of ownership. Nobody tells when a holder without a lease has died.
const step find_unused{
    .verb = verb::find_unused,
    .look =
        "WITH page AS MATERIALIZED (SELECT name, (expires_at <= clock_us() - ?3 OR is_dead(expires_at, liveness)) "
        "AND version <= clock_us() - ?3 AS is_unused FROM rowlock_lock WHERE name > ?1 ORDER BY name LIMIT ?2) "
        "SELECT name, 1 FROM page WHERE is_unused "
        "UNION ALL SELECT max(name), 0 FROM page HAVING count(*) > 0"};

const step sweep{.verb = verb::sweep,
                 .act =
                     "DELETE FROM rowlock_lock "
                     "WHERE name = ?1 AND (expires_at <= clock_us() - ?2 OR is_dead(expires_at, liveness)) "
                     "AND version <= clock_us() - ?2"};

const step find_dead{
    .verb = verb::find_dead,
    .look =
        "WITH page AS MATERIALIZED (SELECT ticket, name, attempt, expires_at <= clock_us() - ?3 AS is_dead "
        "FROM rowlock_waiter WHERE ticket > ?1 ORDER BY ticket LIMIT ?2) "
        "SELECT ticket, name, attempt, 1 FROM page WHERE is_dead "
        "UNION ALL SELECT max(ticket), name, attempt, 0 FROM page HAVING count(*) > 0"};

const step bury{.verb = verb::bury,
                .key = 1,
                .act =
                    "DELETE FROM rowlock_waiter "
                    "WHERE ticket = ?3 AND attempt = ?2 AND expires_at <= clock_us() - ?4"};

const step names_liveness{.verb = verb::names_liveness,
                          .look = "SELECT 1 FROM rowlock_lock WHERE liveness = ?1 LIMIT 1"};

const step vacate_dead{.verb = verb::vacate_dead,
                       .act =
                           "UPDATE rowlock_lock SET owner = NULL, thread = NULL, note = NULL, liveness = NULL, "
                           "version = max(version + 1, clock_us()), expires_at = clock_us() "
                           "WHERE liveness = ?1 AND owner IS NOT NULL AND is_dead(expires_at, liveness)"};

const step home{.verb = verb::home, .look = "SELECT installation FROM rowlock_migration WHERE version = 1"};

const step schema{.verb = verb::schema,
                  .look =
                      "SELECT version, serves_from, installation, applied_at, clock_us() "
                      "FROM rowlock_migration ORDER BY version DESC LIMIT 1"};

const step probe{.verb = verb::probe,
                 .look = "SELECT 1 FROM rowlock_waiter WHERE 0",
                 .act = "UPDATE rowlock_lock SET version = version WHERE 0"};

const step settings{.verb = verb::settings,
                    .look =
                        "SELECT 'server', 'SQLite ' || sqlite_version() "
                        "UNION ALL SELECT 'journal_mode', journal_mode FROM pragma_journal_mode "
                        "UNION ALL SELECT 'database', file FROM pragma_database_list WHERE name = 'main'"};

const step count{.verb = verb::count,
                 .look =
                     "SELECT (SELECT count(*) FROM rowlock_lock), count(*), clock_us() - min(enqueued_at) "
                     "FROM rowlock_waiter WHERE expires_at > clock_us()"};

const step applied{.verb = verb::applied,
                   .look = "SELECT version, checksum, serves_from, applied_at FROM rowlock_migration ORDER BY version"};

const step applying{.verb = verb::applying,
                    .act = "UPDATE rowlock_migration SET checksum = ?2 WHERE version = ?1 AND checksum IS NULL"};

}  // namespace

table sqlite(std::string_view prefix) {
  const step steps[] = {
      acquire, compare_and_set, hold_while_alive, names_liveness, vacate_dead, make,    renew,  extend, release,
      free,    linger,          inspect,          list,           home,        enqueue, stay,   leave,  withdraw,
      turn,    waiters,         find_unused,      sweep,          find_dead,   bury,    schema, probe,  settings,
      count,   applied,         applying};
  // What is for rows with locks, and for telling others.
  static_assert(std::size(steps) == table::size - 13);
  return {steps, prefix};
}

// None of our functions is there. Tables are named in full: another file of the connection may have some too.
guest_texts sqlite_guest(std::string_view prefix, std::string_view file) {
  const auto in_full = "\"" + replaced(file, "\"", "\"\"") + "\"." + std::string{prefix};
  const auto text = [&](std::string_view of) {
    return with_prefix(replaced(of, "{is_home}", "(SELECT installation FROM rowlock_migration WHERE version = 1) IS "),
                       in_full);
  };
  return {.take = text("INSERT INTO rowlock_lock (name, version, expires_at) SELECT ?1, 0, 0 WHERE {is_home} ?2 "
                       "ON CONFLICT (name) DO UPDATE SET version = version "
                       "RETURNING version, owner IS NULL, expires_at, liveness"),
          .change = text("UPDATE rowlock_lock SET version = ?2, owner = NULL, thread = NULL, liveness = NULL, "
                         "note = ?3, expires_at = ?4 WHERE name = ?1"),
          .pin = text("UPDATE rowlock_lock SET version = version "
                      "WHERE name = ?1 AND acquisition = ?2 AND owner IS NOT NULL AND {is_home} ?3 "
                      "RETURNING expires_at")};
}

}  // namespace rowlock::inline v1::dialect
