#include "support/open_transactions.hpp"

#if defined(ROWLOCK_WITH_POSTGRESQL) || defined(ROWLOCK_WITH_MYSQL)

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/server_database.hpp"
#include "testkit/eventually.hpp"

namespace rowlock::test {

namespace {

std::vector<std::int64_t> numbers_in(const std::string& text) {
  std::vector<std::int64_t> out;
  std::istringstream words{text};
  for (std::int64_t each = 0; words >> each;) out.push_back(each);
  return out;
}

// Not those that do something else just then, and commit at once: whoever waits keeps a ticket alive.
std::vector<std::int64_t> open_on_postgresql(server_database& in) {
  return numbers_in(
      in.text("SELECT coalesce(string_agg(pid::text, ' '), '') FROM pg_stat_activity "
              "WHERE backend_xid IS NOT NULL AND (state = 'idle in transaction' OR query = 'SELECT 1') AND usename = " +
              in.quoted(in.name())));
}

// The sessions of the role that have something locked, or wait for it. MariaDB shows its list of transactions as it was
// when it was last asked for, unless that is a tenth of a second ago; MySQL's fails where a session says something in
// characters of four bytes.
std::string of_mysql(server_database& in, const std::string& what, bool that_wait) {
  in.execute("DO SLEEP(0.15)");
  const bool is_mariadb = in.text("SELECT VERSION()").find("MariaDB") != std::string::npos;
  const std::string role = in.quoted(in.name());
  if (is_mariadb)
    return in.text("SELECT " + what +
                   " FROM (SELECT p.ID AS id FROM information_schema.INNODB_TRX t "
                   "JOIN information_schema.PROCESSLIST p ON p.ID = t.trx_mysql_thread_id WHERE " +
                   (that_wait ? "t.trx_state = 'LOCK WAIT'" : "t.trx_rows_modified > 0") + " AND p.USER = " + role +
                   ") found");
  return in.text("SELECT " + what +
                 " FROM (SELECT DISTINCT t.processlist_id AS id FROM performance_schema.data_locks l "
                 "JOIN performance_schema.threads t ON t.thread_id = l.thread_id WHERE l.lock_type = 'RECORD' AND " +
                 "l.lock_status = " + (that_wait ? "'WAITING'" : "'GRANTED'") + " AND t.processlist_user = " + role +
                 ") found");
}

std::vector<std::int64_t> open_on_mysql(server_database& in) {
  return numbers_in(of_mysql(in, "coalesce(group_concat(id SEPARATOR ' '), '')", false));
}

}  // namespace

int end_open_transactions(database& in) {
  auto* const server = dynamic_cast<server_database*>(&in);
  if (server == nullptr) return 0;
  const bool is_postgresql = server->address().scheme.starts_with("postgres");
  const auto open = is_postgresql ? open_on_postgresql(*server) : open_on_mysql(*server);
  for (const auto session : open)
    server->execute((is_postgresql ? "SELECT pg_terminate_backend(" : "KILL (") + std::to_string(session) + ")");
  const auto are_gone = [&] {
    const auto now = server->sessions();
    return std::none_of(open.begin(), open.end(),
                        [&](std::int64_t id) { return std::find(now.begin(), now.end(), id) != now.end(); });
  };
  if (!eventually(are_gone)) throw std::runtime_error{"a session of the server does not end"};
  return static_cast<int>(open.size());
}

bool is_kept_waiting(database& in) {
  auto* const server = dynamic_cast<server_database*>(&in);
  if (server == nullptr) return false;
  const auto role = server->quoted(server->name());
  if (server->address().scheme.starts_with("postgres"))
    return server->number("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND usename = " +
                          role) > 0;
  return of_mysql(*server, "count(*)", true) != "0";
}

}  // namespace rowlock::test

#else

namespace rowlock::test {

int end_open_transactions(database& /*in*/) { return 0; }

bool is_kept_waiting(database& /*in*/) { return false; }

}  // namespace rowlock::test

#endif
