#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "measure.hpp"
#include "testkit/connection.hpp"

namespace bench {

namespace test = rowlock::test;

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
  std::function<std::unique_ptr<test::connection>()> connect;
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
  /// {rows} rows of names that nobody has had for two hours, numbered from 1: old/1 and so on. Their version is 1.
  std::string add_old;
  std::string nothing = "SELECT 1";  ///< gives a row and does nothing
  bench::session_lock session_lock{};
  bench::session_lock shared_session_lock{};  ///< no name: it has none
};

/// As a server lists the sessions of this process, whoever opens them; see postgresql_server.cpp.
inline constexpr const char* application = "rowlock_bench";

#ifdef ROWLOCK_WITH_MYSQL
/// Connects, to learn whether it is MySQL or MariaDB.
server mysql_server(const std::string& url);
#endif
#ifdef ROWLOCK_WITH_POSTGRESQL
server postgresql_server(const std::string& url);
#endif
#ifdef ROWLOCK_WITH_SQLITE
/// A file of its own in the folder, with what the cases of a caller's transactions need.
server sqlite_server(const std::filesystem::path& folder);

/// Counts what this process does with SQLite from now on, on connections that it opens from now on. One at a time.
class sqlite_watch {
 public:
  sqlite_watch();
  sqlite_watch(const sqlite_watch&) = delete;
  sqlite_watch& operator=(const sqlite_watch&) = delete;
  ~sqlite_watch();

  /// How many are open now.
  std::size_t connections() const;
  /// How many were started.
  std::size_t statements() const;
};

/// Counts while `make` makes a subject and it runs: the connections it opens and the statements it starts, whoever in
/// this process opens and starts them.
census count_sqlite(const std::function<std::unique_ptr<subject>()>& make, std::size_t threads, std::size_t cycles);
#endif

/// A kind of server that this build can measure.
struct server_kind {
  std::string_view name;  ///< for people
  std::string_view scheme;
  std::string_view other_scheme;
  const char* variable;  ///< of the environment, with the URL where nobody gives one
  server (*open)(const std::string& url);

  bool is_for(std::string_view url) const;
};

std::span<const server_kind> server_kinds();

/// Throws std::invalid_argument where the URL is of no kind.
server open_server(const std::string& url);

/// Of those URLs, or where there are none of the environment's. Tells on stderr of a kind that is left out. Throws
/// std::invalid_argument where a URL is of no kind.
std::vector<std::shared_ptr<const server>> open_servers(std::vector<std::string> urls);

/// Fresh ones on a server, which they may not outlive.
class tables {
 public:
  explicit tables(const server& at);
  tables(const tables&) = delete;
  tables& operator=(const tables&) = delete;
  ~tables();

  /// What their names begin with.
  const std::string& prefix() const noexcept { return prefix_; }

 private:
  const server& server_;
  std::string prefix_;
};

/// Makes a subject whose tables begin with the prefix that `make` is given. They are made here, fresh, and dropped when
/// the subject is gone.
std::unique_ptr<subject> in_own_tables(const server& at,
                                       const std::function<std::unique_ptr<subject>(const std::string& prefix)>& make);

/// Counts what the server itself counts: the connections a subject opens and the statements it runs. What others do
/// there meanwhile is counted too.
census count_on(const server& at, const std::function<std::unique_ptr<subject>()>& make, std::size_t threads,
                std::size_t cycles);

}  // namespace bench
