#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "core/error_detail.hpp"

namespace rowlock::inline v1::driver {

/// The meaning of a server's error to the caller.
struct meaning {
  errc code = errc::database_error;
  detail::error_access::answers says{};
  const char* advice = "";
};

inline meaning retryable(errc code) { return {.code = code, .says = {.retryable = true}}; }

/// A server that ends a session in the middle of a statement has usually undone the statement. But if it ends the
/// session between the commit and the answer, it has not, and the client cannot know.
inline meaning lost(bool writing) {
  return {.code = errc::connection_failed,
          .says = {.retryable = true, .connection_unusable = true, .outcome_unknown = writing}};
}

/// The same error, if the connection was lost with it.
inline meaning with_lost_connection(meaning m, bool writing) {
  if (m.code == errc::database_error) return lost(writing);
  m.says.connection_unusable = true;
  m.says.outcome_unknown = writing;
  return m;
}

/// The server has reached its limit of connections, or the user's limit.
inline bool is_over_connection_limit(const error& e) noexcept {
  constexpr int mysql_codes[] = {1040, 1203, 1226};
  return e.code() == errc::connection_failed &&
         (e.sqlstate() == "53300" ||
          std::find(std::begin(mysql_codes), std::end(mysql_codes), e.native_code()) != std::end(mysql_codes));
}

inline constexpr std::string_view connecting_text = "connecting";
inline constexpr std::string_view migrating_text = "migrating";

/// Advice for changing a table.
inline constexpr const char* tables_are_in_use =
    "; a transaction uses rowlock's tables: end it, or migrate when it has ended";

/// The activity that failed and the server, before the reason: "acquiring failed on PostgreSQL (db:5432/shop): ".
inline std::string failure_of(std::string_view doing, std::string_view server) {
  std::string out{doing};
  if (doing == connecting_text) return out.append(" to ").append(server).append(" failed: ");
  return out.append(" failed on ").append(server).append(": ");
}

/// For messages: "PostgreSQL (db:5432/shop)". If a password was not encoded in the URL, a part of it may have been
/// taken for the name of the database, which then has an '@'.
inline std::string server_name(std::string_view kind, std::string_view place, std::string_view name_of_database) {
  std::string out{kind};
  out.append(" (").append(place);
  if (!name_of_database.empty() && name_of_database.find('@') == std::string_view::npos)
    out.append("/").append(name_of_database);
  return out.append(")");
}

inline constexpr const char* check_address =
    "; check that the server runs, and that the URL has the right host, port and encryption";

/// Why there is no connection.
inline error not_connected(errc code, const std::string& sentence) {
  return detail::error_access::make(code, sentence,
                                    {.retryable = code == errc::connection_failed, .connection_unusable = true});
}

}  // namespace rowlock::inline v1::driver
