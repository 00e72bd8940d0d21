#pragma once

#include <rowlock/error.hpp>

#include <string>
#include <string_view>

namespace rowlock::inline v1::driver {

/// How a call failed, as libpq reports it.
struct postgresql_failure {
  std::string_view message;   ///< libpq's, with its error verbosity PQERRORS_VERBOSE: that tells the SQLSTATE
  std::string_view sqlstate;  ///< empty: the message tells it, or it is unknown
  bool connection_lost = false;
  bool writing = false;        ///< a statement that writes may have reached the server
  bool behind_pooler = false;  ///< a pooler is between, and client_options::transaction_pooling does not say so
};

/// The error that the failure means; `server` and `doing` begin its sentence, see failure_of.
error postgresql_error(const postgresql_failure& what, const std::string& server, const std::string& doing);

/// The SQLSTATE in a verbose message of libpq's; empty where there is none.
std::string_view sqlstate_in(std::string_view message);

/// A message's first sentence, without the details for the server's developers, without a password, and without the
/// words about the connection that the caller says anyway.
std::string plain_words(std::string_view message);

/// Whether this warning says that a commit may not have reached the synchronous standby. The message is in the server's
/// language; the place in its sources, which a verbose message ends with, is not.
bool tells_of_lost_standby(std::string_view notice);

/// The same error, for a connection that cannot be used any more.
error on_lost_connection(const error& e);

}  // namespace rowlock::inline v1::driver
