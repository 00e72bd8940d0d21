#include "support/open_transactions.hpp"

#if defined(ROWLOCK_WITH_POSTGRESQL) || defined(ROWLOCK_WITH_MYSQL)

#include <algorithm>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/eventually.hpp"
#include "support/server_database.hpp"

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

// The server shows this list as it was when it was last asked for, unless that is a tenth of a second ago.
std::vector<std::int64_t> open_on_mysql(server_database& in) {
  in.execute("DO SLEEP(0.15)");
  return numbers_in(
      in.text("SELECT coalesce(group_concat(p.ID SEPARATOR ' '), '') FROM information_schema.INNODB_TRX t "
              "JOIN information_schema.PROCESSLIST p ON p.ID = t.trx_mysql_thread_id "
              "WHERE t.trx_rows_modified > 0 AND p.USER = " +
              in.quoted(in.name())));
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

}  // namespace rowlock::test

#else

namespace rowlock::test {

int end_open_transactions(database& /*in*/) { return 0; }

}  // namespace rowlock::test

#endif
