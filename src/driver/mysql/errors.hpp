#pragma once

#include <rowlock/error.hpp>

#include <string>

namespace rowlock::inline v1::driver {

/// The server's codes that several files use.
namespace mysql_code {
inline constexpr int overtaken = 1020;
inline constexpr int no_such_session = 1094;
inline constexpr int not_own_session = 1095;
inline constexpr int denied = 1227;
inline constexpr int interrupted = 1317;
inline constexpr int lock_wait_timeout = 1205;
inline constexpr int deadlock = 1213;
inline constexpr int too_many_statements = 1461;
inline constexpr int out_of_range = 1690;
inline constexpr int connecting_failed = 2002;
inline constexpr int encryption_failed = 2026;
inline constexpr int no_such_plugin = 2059;
}  // namespace mysql_code

/// How a call failed, according to the server or the connector.
struct mysql_failure {
  int code = 0;  ///< the server's, from 1000 on, or the connector's, from 2000 to 2999 or 5000 to 5999
  std::string sqlstate{};
  std::string message{};
  bool connection_lost = false;
  bool writing = false;  ///< a statement that writes may have reached the server
};

/// Whether a statement that was a transaction of its own was rolled back because of another transaction, and may be
/// tried again: the wait for a lock took too long, a deadlock, a conflict between nodes of a cluster.
bool was_in_conflict(int code);

/// Whether a change of a table failed because another client has made it since this one looked at the table.
bool was_made_meanwhile(int code);

/// The error that the failure means; `server` and `doing` begin its sentence, see failure_of.
error mysql_error(const mysql_failure& what, const std::string& server, const std::string& doing);

/// Whether this code means that the connection is lost.
bool is_about_mysql_connection(int code);

}  // namespace rowlock::inline v1::driver
