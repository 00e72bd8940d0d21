#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "open_transaction.hpp"

namespace bench {

/// Prepared on a connection, which it may not outlive.
class statement {
 public:
  statement() = default;
  statement(const statement&) = delete;
  statement& operator=(const statement&) = delete;
  virtual ~statement() = default;

  /// How many rows came back or, where none can, were changed. nullptr is NULL.
  virtual std::size_t run(std::span<const char* const> values) = 0;
  /// The first field of the first row; nullopt where no row came back.
  virtual std::optional<std::string> read(std::span<const char* const> values) = 0;
};

/// A connection by the client library of a database as an application would use it: every statement is a transaction
/// of its own, unless a `body` runs it.
class connection {
 public:
  connection() = default;
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;
  virtual ~connection() = default;

  /// Not prepared; the number in the last field of the first row, 0 where there is none.
  virtual long long execute(const std::string& sql) = 0;
  virtual std::unique_ptr<statement> prepare(const std::string& sql) = 0;
  /// Committed when the body returns. If it throws, the connection is of no further use.
  virtual void in_transaction(const std::function<void(open_transaction&)>& body) = 0;
  /// How many it was given since it was first asked: BEGIN and COMMIT where it sends them, and those of rowlock in its
  /// transactions.
  virtual long long statements() = 0;
};

/// Watches what this process, or others that are named, do on a server.
class observer {
 public:
  observer() = default;
  observer(const observer&) = delete;
  observer& operator=(const observer&) = delete;
  virtual ~observer() = default;

  /// From now on it is about those processes. Needed only where a server can tell.
  virtual void watch(const std::vector<pid_t>& /*processes*/) {}
  /// How many are open that were opened since the observer was made, its own left out.
  virtual std::size_t connections() = 0;
  /// How many were run so far, by whomever, also by connections that were just closed.
  virtual long long statements() = 0;
};

/// Two statements with one argument, text, that lock and unlock it for the session.
struct session_lock {
  std::string name;  ///< of the subject
  std::string lock;
  std::string unlock;
};

/// Where the benchmarks of one server differ from those of another. In the texts {prefix} stands for that of the
/// tables.
struct server {
  std::string url;
  std::string database;  ///< what kind, as the report has it
  std::function<std::unique_ptr<connection>()> connect;
  std::function<std::unique_ptr<observer>()> observe;

  std::string upsert;  ///< name, owner, thread, acquisition, lease in microseconds, note
  std::string vacate;  ///< name, acquisition
  /// The same without waiting for the disk; empty where a session cannot ask for that, and rowlock neither.
  std::string relaxed_vacate;
  std::string lock_row;         ///< name; until the transaction ends
  std::string raise_version;    ///< name
  std::string read_version;     ///< name
  std::string compare_and_set;  ///< owner, thread, acquisition, lease in microseconds, note, name, version
  std::string write_own;        ///< number of a row that a caller's transaction changes
  std::string add_old;          ///< {rows} rows of names that nobody has had for two hours; their version is 1
  bench::session_lock session_lock{};
};

/// As a server lists the sessions of this process, whoever opens them; see postgresql_server.cpp.
inline constexpr const char* application = "rowlock_bench";

}  // namespace bench
