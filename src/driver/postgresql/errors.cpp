#include "driver/postgresql/errors.hpp"

#include <rowlock/interop/pqxx.hpp>

#include <algorithm>
#include <utility>

#include "core/error_detail.hpp"
#include "driver/failure_meaning.hpp"
#include "sql/sheet.hpp"

namespace rowlock::inline v1::driver {

namespace {

constexpr std::size_t sqlstate_length = 5;

bool is_sqlstate(std::string_view text) {
  return text.size() == sqlstate_length &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z'); });
}

meaning unusable(errc code) { return {.code = code, .says = {.connection_unusable = true}}; }

meaning meaning_of_class(std::string_view state, bool writing) {
  const auto kind = state.substr(0, 2);
  if (kind == "08") return lost(writing);
  if (kind == "28") return unusable(errc::permission_denied);
  // Temporary limits: another session may be within them.
  if (state == "53200")
    return {.code = errc::connection_failed, .says = {.retryable = true, .connection_unusable = true}};
  if (kind == "53" || state == "54000") return retryable(errc::connection_failed);
  return {};
}

meaning meaning_of(std::string_view state, bool writing) {
  const auto is_one_of = [&](auto... states) { return ((state == states) || ...); };
  if (state == "40001") return retryable(errc::serialization_failure);
  if (state == "40P01") return retryable(errc::deadlock);
  if (state == "40003") return {.code = errc::outcome_unknown, .says = {.outcome_unknown = true}};
  if (is_one_of("55P03", "57014")) return retryable(errc::call_timed_out);
  if (is_one_of("42P01", "3F000")) return {.code = errc::schema_missing};
  if (state == "42703") return {.code = errc::schema_older};
  if (state == "42501") return {.code = errc::permission_denied};
  if (state == "3D000") return unusable(errc::connection_failed);
  // Ended by an administrator, a crash, a dropped database or a limit on idling or transactions; or not started yet.
  if (is_one_of("57P01", "57P02", "57P03", "57P04", "57P05", "25P03", "25P04")) return lost(writing);
  // Another connection may reach the server that took over.
  if (state == "25006")
    return {.code = errc::connection_failed, .says = {.retryable = true, .connection_unusable = true}};
  // Plans for tables that were changed since, and statements of another client's session: a new session helps.
  if (is_one_of("0A000", "26000", "42P05")) return unusable(errc::database_error);
  return meaning_of_class(state, writing);
}

constexpr std::string_view lost_statements = "; the connection has lost its prepared statements";
constexpr std::string_view pooler_took_statements =
    "; the connection has lost its prepared statements: behind a pooler in transaction mode, such as PgBouncer, set "
    "client_options::transaction_pooling";

std::string_view advice(std::string_view state, std::string_view doing, bool behind_pooler) {
  if (state.empty() && doing == connecting_text) return check_address;
  if (state == "28P01") return "; check the user and the password in the URL";
  if (state == "53300") return "; raise max_connections of the server, or lower client_options::connections";
  if (state == "42501" && doing == sheets::doing(sheets::verb::end_session))
    return "; only a member of the session's role, or of pg_signal_backend, may do that";
  if (state == "55P03" && doing == migrating_text) return tables_are_in_use;
  if (state == "42501" && doing == migrating_text) return "; migrate as a role that may create tables there";
  if (state == "42501") return "; grant it to this role (schema/postgresql/grants.sql grants what locks need)";
  if (state == "42P01" || state == "3F000") return "; run client::migrate(), or the files in schema/postgresql by hand";
  if (state == "42703") return "; run client::migrate()";
  if (state == "53100") return "; free some space on the disk of the server";
  if (state == "3D000") return "; create it, or correct its name in the URL";
  if (state == "25006") return "; this server is read-only, as a standby is; connect to the primary";
  if (state == "26000" || state == "42P05") return behind_pooler ? pooler_took_statements : lost_statements;
  return "";
}

// Cuts 'connection to server at "db", port 5432 failed: ' off.
std::string_view without_preamble(std::string_view message) {
  constexpr std::string_view old_one = "could not connect to server: ";
  if (message.starts_with(old_one)) return message.substr(old_one.size());
  if (!message.starts_with("connection to server ")) return message;
  constexpr std::string_view end = " failed: ";
  const auto at = message.find(end);
  return at == std::string_view::npos ? message : message.substr(at + end.size());
}

// "scheme://user:password@host" without the text before the '@'.
void hide_passwords(std::string& text) {
  constexpr std::string_view marks = "://";
  for (auto at = text.find(marks); at != std::string::npos; at = text.find(marks, at)) {
    at += marks.size();
    const auto end = std::min(text.find_first_of(" \t\"'", at), text.size());
    const auto last = text.rfind('@', end);
    if (last != std::string::npos && last >= at) text.replace(at, last - at, "***");
  }
}

}  // namespace

std::string_view sqlstate_in(std::string_view message) {
  constexpr std::string_view before = ":  ";
  for (auto at = message.find(before); at != std::string_view::npos; at = message.find(before, at)) {
    at += before.size();
    const auto state = message.substr(at, sqlstate_length);
    if (is_sqlstate(state) && message.substr(at + sqlstate_length).starts_with(": ")) return state;
  }
  return {};
}

std::string plain_words(std::string_view message) {
  if (const auto state = sqlstate_in(message); !state.empty())
    message.remove_prefix(static_cast<std::size_t>(state.data() - message.data()) + sqlstate_length + 2);
  std::string out{without_preamble(message.substr(0, message.find('\n')))};
  hide_passwords(out);
  return out;
}

bool tells_of_lost_standby(std::string_view notice) {
  return notice.find("SyncRepWaitForLSN") != std::string_view::npos;
}

error postgresql_error(const postgresql_failure& what, const std::string& server, const std::string& doing) {
  const auto state = what.sqlstate.empty() ? sqlstate_in(what.message) : what.sqlstate;
  meaning m = meaning_of(state, what.writing);
  if (what.connection_lost) m = with_lost_connection(std::move(m), what.writing);
  m.says.sqlstate = state;
  return detail::error_access::make(
      m.code,
      failure_of(doing, server) + plain_words(what.message) + std::string{advice(state, doing, what.behind_pooler)},
      std::move(m.says));
}

error on_lost_connection(const error& e) {
  return detail::error_access::changed(e, [](auto& says) { says.connection_unusable = true; });
}

}  // namespace rowlock::inline v1::driver

namespace rowlock::inline v1::detail {

const char ROWLOCK_PQXX_TAG(PQXX_VERSION_MAJOR, PQXX_VERSION_MINOR) = 1;

namespace {

// Class 25 is for invalid transaction states, but with these two the server has ended the session.
bool is_about_state(std::string_view sqlstate) {
  return sqlstate.starts_with("25") && sqlstate != "25P03" && sqlstate != "25P04";
}

}  // namespace

void rethrow_postgresql(const char* message, std::string_view sqlstate, bool connection_lost, bool committing,
                        const char* doing) {
  if (is_about_state(sqlstate))
    throw error_access::make(errc::wrong_transaction_state,
                             driver::failure_of(doing, "PostgreSQL") + driver::plain_words(message),
                             {.sqlstate = std::string{sqlstate}});
  throw driver::postgresql_error(
      {.message = message, .sqlstate = sqlstate, .connection_lost = connection_lost, .writing = committing},
      "PostgreSQL", doing);
}

}  // namespace rowlock::inline v1::detail
