#pragma once

#include <rowlock/error.hpp>

#include <string>

namespace rowlock::inline v1::driver {

/// Of the server's codes, those that several places ask for.
namespace mysql_code {
inline constexpr int overtaken = 1020;
inline constexpr int lock_wait_timeout = 1205;
inline constexpr int deadlock = 1213;
}  // namespace mysql_code

/// How a call failed, before anybody knows what it means.
struct mysql_failure {
  int code = 0;  ///< the server's, from 1000 on, or the connector's, from 2000 to 2999
  std::string sqlstate{};
  std::string message{};
  bool connection_lost = false;
  bool writing = false;  ///< a statement that writes may have reached the server
};

/// Whether a statement that was a transaction of its own was rolled back, because somebody else had locked a row, and
/// may be tried again: the wait for a lock took too long, a deadlock, a node of a cluster that was overtaken.
bool was_in_conflict(int code);

/// What it means; `server` and `doing` complete the sentence "…, while …".
error mysql_error(const mysql_failure& what, const std::string& server, const std::string& doing);

/// Whether this code says that the connection is gone.
bool is_about_mysql_connection(int code);

}  // namespace rowlock::inline v1::driver
