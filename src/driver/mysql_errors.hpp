#pragma once

#include <rowlock/error.hpp>

#include <string>

namespace rowlock::inline v1::driver {

/// How a call failed, before anybody knows what it means.
struct mysql_failure {
  int code = 0;  ///< the server's, from 1000 on, or the connector's, from 2000 to 2999
  std::string sqlstate{};
  std::string message{};
  bool connection_lost = false;
  bool writing = false;  ///< a statement that writes may have reached the server
};

/// Somebody keeps the row, or the table, locked.
inline constexpr int lock_wait_timeout = 1205;

/// What it means; `server` and `doing` complete the sentence "…, while …".
error mysql_error(const mysql_failure& what, const std::string& server, const std::string& doing);

/// Whether this code says that the connection is gone.
bool is_about_mysql_connection(int code);

}  // namespace rowlock::inline v1::driver
