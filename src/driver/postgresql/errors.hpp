#pragma once

#include <rowlock/error.hpp>

#include <string>
#include <string_view>

namespace rowlock::inline v1::driver {

/// How a call failed, according to libpq.
struct postgresql_failure {
  std::string_view message;   ///< libpq's, with its error verbosity PQERRORS_VERBOSE, which shows the SQLSTATE
  std::string_view sqlstate;  ///< empty: it is in the message, or unknown
  bool connection_lost = false;
  bool writing = false;        ///< a statement that writes may have reached the server
  bool behind_pooler = false;  ///< there is a pooler, and client_options::transaction_pooling is not set
};

/// The error that the failure means; `server` and `doing` begin its sentence, see failure_of.
error postgresql_error(const postgresql_failure& what, const std::string& server, const std::string& doing);

/// The SQLSTATE in a verbose message of libpq; empty if it has none.
std::string_view sqlstate_in(std::string_view message);

/// A message's first sentence, without the details for the server's developers, without a password, and without the
/// words about the connection that the caller adds anyway.
std::string plain_words(std::string_view message);

/// Whether this warning says that a commit may not have reached the synchronous standby. The message is in the server's
/// language, but not the place in its sources, with which a verbose message ends.
bool tells_of_lost_standby(std::string_view notice);

/// The same error, for a connection that cannot be used any more.
error on_lost_connection(const error& e);

}  // namespace rowlock::inline v1::driver
