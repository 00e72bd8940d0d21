#include "driver/mysql/blockers.hpp"

#include <rowlock/error.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <stop_token>
#include <thread>

#include "base/boot_clock.hpp"
#include "base/text.hpp"
#include "driver/enlisted_transaction.hpp"

namespace rowlock::inline v1::driver {

namespace {

using namespace std::chrono_literals;

constexpr const char* doing = "asking who keeps a row";
// MariaDB updates its list of locks only if no session has asked for it for a tenth of a second. So each pause is
// longer than the one before, and several clients that ask at once do not keep each other from an answer.
constexpr duration between_questions = 150ms;

// The value for innodb_lock_wait_timeout.
std::string whole_seconds_until(base::instant end) {
  const auto left = std::chrono::floor<std::chrono::seconds>(end - base::now());
  return std::to_string(std::clamp<std::chrono::seconds>(left, 1s, 30s).count());
}

std::string waited_for_by(const std::string& session) {
  return "SELECT DISTINCT CAST(b.trx_mysql_thread_id AS CHAR) FROM information_schema.innodb_lock_waits w "
         "JOIN information_schema.innodb_trx r ON r.trx_id = w.requesting_trx_id "
         "JOIN information_schema.innodb_trx b ON b.trx_id = w.blocking_trx_id WHERE r.trx_mysql_thread_id = " +
         session;
}

// MySQL shows which session has locked which key. (Its innodb_trx cannot be read while the statement of any session has
// characters of four bytes.)
std::string blockers_in_list(const std::string& table, std::string_view name) {
  return "SELECT DISTINCT CAST(t.processlist_id AS CHAR) FROM performance_schema.data_locks l "
         "JOIN performance_schema.threads t ON t.thread_id = l.thread_id "
         "WHERE l.object_schema = DATABASE() AND l.object_name = '" +
         table +
         "' AND l.index_name = 'PRIMARY' AND l.lock_type = 'RECORD' AND l.lock_status = 'GRANTED' "
         "AND l.lock_mode NOT LIKE '%,GAP%' AND l.lock_data = '0x" +
         hex(name) + "'";
}

std::vector<std::int64_t> sessions_in(const std::vector<row>& answer) {
  std::vector<std::int64_t> out;
  for (const row& r : answer) out.push_back(std::stoll(text(r.at(0))));
  return out;
}

}  // namespace

std::vector<std::int64_t> blockers_of(const std::string& table, std::string_view name, mysql_session& asking,
                                      const connect_another& connect, const limits& until) {
  if (asking.kind() == mysql_kind::mysql) return sessions_in(asking.ask(blockers_in_list(table, name), doing, until));
  const auto second = connect();
  mysql_session& waiting = *second;
  const auto question = waited_for_by(text(waiting.ask("SELECT CONNECTION_ID()", doing, until).at(0).at(0)));
  asking.ask(question, doing, until);  // throws if this role may not ask
  waiting.ask("SET SESSION innodb_lock_wait_timeout = " + whole_seconds_until(until.deadline), doing, until);
  enum class outcome : std::uint8_t { unknown, free, failed };
  std::atomic<outcome> of_wait{outcome::unknown};
  const std::jthread waiter{[&](const std::stop_token& stop) {
    try {
      waiting.ask("SELECT 1 FROM " + table + " WHERE name = X'" + hex(name) + "' FOR UPDATE", doing,
                  {.deadline = until.deadline, .stop = stop});
      of_wait = outcome::free;
    } catch (const std::exception&) {  // it has waited long enough, or has been cut
      of_wait = outcome::failed;
    }
  }};
  for (int questions = 1; of_wait == outcome::unknown; ++questions) {
    std::this_thread::sleep_for(between_questions * std::min(questions, 4));
    if (auto out = sessions_in(asking.ask(question, doing, until)); !out.empty()) return out;
  }
  if (of_wait == outcome::free) return {};
  throw error{errc::database_error, "the server does not say which session has locked the row of " +
                                        base::quoted(name) +
                                        "; look for it in information_schema.innodb_trx and SHOW PROCESSLIST"};
}

}  // namespace rowlock::inline v1::driver
