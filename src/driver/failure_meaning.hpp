#pragma once

#include <string>
#include <utility>

#include "core/error_detail.hpp"

namespace rowlock::inline v1::driver {

/// What a server's error means to the caller.
struct meaning {
  errc code = errc::database_error;
  detail::error_access::answers says{};
  const char* advice = "";
};

inline meaning retryable(errc code) { return {.code = code, .says = {.retryable = true}}; }

/// A server that ends a session in the middle of a statement has usually undone the statement. But if it ends the
/// session between the commit and the answer, it has not, and the client cannot tell.
inline meaning lost(bool writing) {
  return {.code = errc::connection_failed,
          .says = {.retryable = true, .connection_unusable = true, .outcome_unknown = writing}};
}

/// The same error, where the connection was lost with it.
inline meaning with_lost_connection(meaning m, bool writing) {
  if (m.code == errc::database_error) return lost(writing);
  m.says.connection_unusable = true;
  m.says.outcome_unknown = writing;
  return m;
}

/// Why there is no connection.
inline error not_connected(errc code, const std::string& sentence) {
  return detail::error_access::make(code, sentence,
                                    {.retryable = code == errc::connection_failed, .connection_unusable = true});
}

}  // namespace rowlock::inline v1::driver
