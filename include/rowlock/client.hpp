#pragma once

#include <chrono>
#include <iosfwd>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>
#include <vector>

#include <rowlock/diagnosis.hpp>
#include <rowlock/duration.hpp>
#include <rowlock/export.hpp>
#include <rowlock/held_lock.hpp>
#include <rowlock/lock_info.hpp>
#include <rowlock/lock_name.hpp>
#include <rowlock/options.hpp>
#include <rowlock/schema_status.hpp>
#include <rowlock/statistics.hpp>
#include <rowlock/waiter_info.hpp>

namespace rowlock::inline v1 {

/// The way to one database, and what this process holds there. One per process is the normal use.
///
/// Threads: any. Lifetime: locks and mutexes may outlive it. Moving it is safe. On the way down: the destructor is
/// close(). After fork() it is inert in the child: calls throw used_after_fork, destructors do nothing.
///
/// Calls throw error{errc::client_closed} after close(), and pass on what the database says; each call to the database
/// takes at most client_options::call_timeout.
class ROWLOCK_EXPORT client {
 public:
  /// Opens one connection: `postgresql://user:password@host:port/database?option=value` as libpq reads it, the same
  /// with `mysql://` or `mariadb://` (options: ssl-mode, ssl-ca, ssl-capath, ssl-cert, ssl-key, ssl-cipher, socket),
  /// `sqlite:path`, or `sqlite::memory:` (private to this client, for unit tests). In a path, percent-encode '?', '#'
  /// and '%'; in a password also '@', '/' and ':'. Throws invalid_url, invalid_option, unsupported, connection_failed,
  /// permission_denied. The schema is checked at first use, not here. Throws used_after_fork in a child of a process
  /// that had SQLite clients open at the fork: SQLite would trust in file locks that the child does not have.
  [[nodiscard]] static client connect(std::string_view url, client_options options = {});

  /// `other` is then as if it were closed.
  client(client&& other) noexcept;
  /// Closes what this object was before.
  client& operator=(client&& other) noexcept;
  ~client();

  /// Waits without limit and rides out lost connections. Throws cancelled where `stop` fires.
  [[nodiscard]] held_lock acquire(const lock_name& name, const lock_options& options = {}, std::stop_token stop = {});

  /// Tries once. nullopt: somebody else has it.
  [[nodiscard]] std::optional<held_lock> try_acquire(const lock_name& name, const lock_options& options = {});

  /// nullopt: somebody else had it until the deadline, or `stop` fired. Zero and less try once, hours::max() has no
  /// deadline. Throws where the database gave no answer in all that time; not where that is less than call_timeout and
  /// only a connection, or in an SQLite file its turn to write, was missing: that is nullopt. A call to a server that
  /// is under way at the deadline may take up to half a second in all, since to cut it would cost the connection; so it
  /// may come back late.
  template <class Rep, class Period>
  [[nodiscard]] std::optional<held_lock> try_acquire_for(const lock_name& name,
                                                         const std::chrono::duration<Rep, Period>& wait,
                                                         const lock_options& options = {}, std::stop_token stop = {}) {
    return try_acquire_for_(name, detail::saturate(wait), options, std::move(stop));
  }
  /// The same, until `t` by its clock, which is read once: if that clock is set meanwhile, the wait is as long.
  template <class Clock, class Duration>
  [[nodiscard]] std::optional<held_lock> try_acquire_until(const lock_name& name,
                                                           const std::chrono::time_point<Clock, Duration>& t,
                                                           const lock_options& options = {},
                                                           std::stop_token stop = {}) {
    return try_acquire_for_(name, detail::until(t), options, std::move(stop));
  }

  /// Lets go of everything this client holds, as a release does: every handle is then lost (forced). What cannot be
  /// released now is tried again in the background. At most call_timeout.
  void release_all() noexcept;

  /// Frees a name, whoever has it. true: somebody had it. For people who know that the holder should not have it: a
  /// holder that works on is not stopped by this.
  ///
  /// A lease ends at once. Its holder's lost() fires (loss_reason::forced) when it next renews, within a third of the
  /// lease, or when it confirms; in this very client, now. Until then it believes in its lock while the next one has
  /// it: only confirm and fencing tokens keep the two apart.
  ///
  /// Of a lock that a transaction has (for_update, lock_in, or a lease that is pinned by confirm) the server's session
  /// is ended, so that the transaction is undone; a for_update holder's lost() fires (session_ended). Throws
  /// permission_denied where the role may not end it, with the number of that session, or may not ask the server whose
  /// row it is (MySQL and MariaDB: PROCESS); database_error where the server does not say which one it is, or names
  /// another than the row does: then none is ended. In an SQLite file, for_update is as a lease; for a transaction of
  /// the caller's, which nobody can end from outside, this waits, and throws call_timed_out.
  ///
  /// With `only`, nothing happens unless the lock has this token still: what was looked at before is what is freed. A
  /// transaction's, where it is not known (lock_info::token is 0), counts as any that is greater than all that were
  /// committed: with the token of a lease, no transaction is ended that has taken the name after it.
  ///
  /// Where the outcome is unknown, look (find) before you repeat it: it might free the next one's.
  bool force_release(const lock_name& name, std::optional<fencing_token> only = {});

  /// The names that are held and begin with `prefix`, in the order of their bytes.
  std::vector<lock_info> list(std::string_view prefix = {});
  /// nullopt: nobody holds it.
  std::optional<lock_info> find(const lock_name& name);
  /// Who waits for the name, in the order of their tickets. Not those who wait in a transaction of their own (lock_in),
  /// nor those that a program of an older rowlock runs.
  std::vector<waiter_info> waiters(const lock_name& name);

  /// Tells whether locks can be had here: connection, schema, permission to write, clock. Throws what is wrong.
  void check();

  /// The same and more, a finding for each matter in the order that diagnosis.hpp names them: for people who want to
  /// know what is wrong. Throws only what keeps it from looking at all: client_closed, used_after_fork. What the
  /// database refuses is a finding.
  std::vector<finding> diagnose();

  /// What this client has done and is doing. Asks no database, and tells after close() what it was then. Throws
  /// used_after_fork in a child; client_closed where this object was moved from.
  client_statistics stats() const;
  /// The same as OpenMetrics text (see openmetrics.hpp).
  void write_openmetrics(std::ostream& to) const;
  /// What is in the database. Reads all rows: for once in a while.
  database_statistics database_stats();

  /// Creates or updates the tables: runs the files of the schema that are not recorded in the database, in their order,
  /// and notes the checksums of those that somebody ran by hand. Safe from many processes at once: one does it, and the
  /// others find it done. On PostgreSQL and SQLite all of it happens or nothing; on MySQL and MariaDB an interrupted
  /// run is finished by the next. Where nothing is missing it needs no permission but to read (SQLite: to write the
  /// file). What this throws before anything is run is schema_status().refusal: database_error where a file was edited
  /// or left out, schema_newer where the tables no longer serve this library. Throws permission_denied where the role
  /// may not make tables.
  void migrate();

  /// How the tables stand. Only reads; works without any tables, and whatever their version is.
  rowlock::schema_status schema_status();

  /// Ends waits (client_closed), fires lost() of all that is held, releases it and joins the client's threads, in at
  /// most call_timeout. Idempotent; does not throw.
  void close();

 private:
  friend struct detail::inside;
  explicit client(std::shared_ptr<engine::client_core> impl) noexcept;
  std::optional<held_lock> try_acquire_for_(const lock_name& name, duration wait, const lock_options& options,
                                            std::stop_token stop);
  std::shared_ptr<engine::client_core> impl_;
};

}  // namespace rowlock::inline v1
