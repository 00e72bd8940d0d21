#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

#include <chrono>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string_view>
#include <utility>
#include <vector>

#include <rowlock/diagnosis.hpp>
#include <rowlock/duration.hpp>
#include <rowlock/export.hpp>
#include <rowlock/held_lock.hpp>
#include <rowlock/held_set.hpp>
#include <rowlock/lock_info.hpp>
#include <rowlock/lock_name.hpp>
#include <rowlock/lock_names.hpp>
#include <rowlock/options.hpp>
#include <rowlock/schema_status.hpp>
#include <rowlock/statistics.hpp>
#include <rowlock/waiter_info.hpp>

namespace rowlock::inline v1 {

/// A connection to one database and the locks held through it.
///
/// A program normally has one client for each database. The client opens several connections when it needs them
/// (client_options::connections) and renews its locks in the background.
///
/// Threads: any thread may use it, several at once.
///
/// Lifetime: locks and mutexes may outlive their client; the locks are then lost (loss_reason::client_closed). Moving a
/// client does not disturb them.
///
/// Destruction: the destructor does what close() does.
///
/// Errors: after close() every call that needs the client throws errc::client_closed. In a child process after fork()
/// it throws errc::used_after_fork; destructors do nothing there. Errors of the database pass through as `error`. One
/// call to the database takes at most client_options::call_timeout.
class ROWLOCK_EXPORT client {
 public:
  /// Connects to a database by its URL.
  ///
  /// Opens one connection; further ones are opened when they are needed. The schema is not checked here but at first
  /// use: see migrate() and check(). The forms of the URL:
  ///
  /// - `postgresql://user:password@host:port/database?option=value`, read as libpq reads it
  /// - `mysql://…` or `mariadb://…` of the same form, with the options ssl-mode, ssl-ca, ssl-capath, ssl-cert, ssl-key,
  ///   ssl-cipher and socket
  /// - `sqlite:path`
  /// - `sqlite::memory:`, a database that is private to this client, for unit tests
  ///
  /// In a path, percent-encode '?', '#' and '%'; in a password also '@', '/' and ':'.
  ///
  /// Throws:
  /// - errc::invalid_url, errc::invalid_option: the arguments; nothing was sent
  /// - errc::unsupported: the server is too old, or the program was built without this database's backend
  /// - errc::connection_failed, errc::permission_denied
  /// - errc::used_after_fork: for SQLite, in a child of a process that had SQLite clients open at the fork. SQLite
  ///   would rely on file locks that the child does not have.
  ///
  /// \warning A relative SQLite path is resolved against the current directory. Programs that are started in different
  /// directories then use different files, and do not exclude each other.
  [[nodiscard]] static client connect(std::string_view url, client_options options = {});

  /// Takes over the connections and locks of `other`, which is then as if it were closed.
  client(client&& other) noexcept;
  /// Closes this client, then takes over the connections and locks of `other`.
  client& operator=(client&& other) noexcept;
  ~client();

  /// Waits for a lock without a time limit and returns its owning handle.
  ///
  /// The wait survives lost connections and restarts of the server. It ends when the lock is granted, when `stop` is
  /// requested (throws errc::cancelled) or when the client is closed (throws errc::client_closed).
  ///
  /// Each call is a holder of its own unless lock_options::as says otherwise: a second call for the same name waits for
  /// the first, even in the same thread.
  ///
  /// If threads wait for each other in a circle, each with a name that the one before wants, the wait of the one that
  /// came last ends within 2 seconds, with errc::deadlock and a text that names all of them; over processes, hosts and
  /// strategies, for what they hold as themselves (`mutex`, holder::this_thread()). It is not retryable: the caller
  /// must release what it has first.
  [[nodiscard]] held_lock acquire(const lock_name& name, const lock_options& options = {}, std::stop_token stop = {});

  /// Tries once to take a lock; nullopt means that another holder has it. A row that somebody's transaction has locked
  /// is asked for again for 0.2 seconds, since most are locked for a moment only.
  [[nodiscard]] std::optional<held_lock> try_acquire(const lock_name& name, const lock_options& options = {});

  /// Waits for a lock for at most `wait`; nullopt means that it was not granted in time or that `stop` was requested.
  ///
  /// Zero and less try once; std::chrono::hours::max() means no deadline.
  ///
  /// If the database did not answer at all in that time, the call throws the last error. There is one exception: `wait`
  /// is shorter than call_timeout and only a free connection was missing, or in an SQLite file the turn to write. The
  /// result is then nullopt.
  ///
  /// May return late: a call to a server that is under way at the deadline may take up to half a second in all, because
  /// cutting it would cost the connection.
  template <class Rep, class Period>
  [[nodiscard]] std::optional<held_lock> try_acquire_for(const lock_name& name,
                                                         const std::chrono::duration<Rep, Period>& wait,
                                                         const lock_options& options = {}, std::stop_token stop = {}) {
    return try_acquire_for_(name, detail::saturate(wait), options, std::move(stop));
  }
  /// Waits for a lock until the time `t`; otherwise as try_acquire_for().
  ///
  /// The clock of `t` is read once, at the start. Setting that clock later does not change the length of the wait.
  template <class Clock, class Duration>
  [[nodiscard]] std::optional<held_lock> try_acquire_until(const lock_name& name,
                                                           const std::chrono::time_point<Clock, Duration>& t,
                                                           const lock_options& options = {},
                                                           std::stop_token stop = {}) {
    return try_acquire_for_(name, detail::until(t), options, std::move(stop));
  }

  /// Waits without a time limit for one of these names, and returns its owning handle; held_lock::name() tells which.
  ///
  /// For a thing of which there are several (segments of a stock, slots of a licence): each has a name, and whoever
  /// wants one takes the first that is free. It begins with the one that this client had last of them, so that clients
  /// spread. With the default options that is one statement, also where all are taken.
  ///
  /// A call that waits is in the queues of all these names, of 32 at a time. With fairness::fifo it passes nobody who
  /// waits for a name; each is then asked for by a statement of its own, as by the other strategies. Waits end as those
  /// of acquire() do; a deadlock through them is not found.
  ///
  /// Throws errc::invalid_option if there is no name.
  [[nodiscard]] held_lock acquire_any(const lock_names& names, const lock_options& options = {},
                                      std::stop_token stop = {});
  /// Tries once to have one of these names; nullopt: all are taken.
  [[nodiscard]] std::optional<held_lock> try_acquire_any(const lock_names& names, const lock_options& options = {});
  /// Waits for at most `wait` for one of these names; otherwise as try_acquire_for().
  template <class Rep, class Period>
  [[nodiscard]] std::optional<held_lock> try_acquire_any_for(const lock_names& names,
                                                             const std::chrono::duration<Rep, Period>& wait,
                                                             const lock_options& options = {},
                                                             std::stop_token stop = {}) {
    return try_acquire_any_for_(names.all(), detail::saturate(wait), options, std::move(stop));
  }

  /// Waits without a time limit for all of these names, and returns one handle over them.
  ///
  /// They are granted together, in one transaction, or not at all: a call that waits holds none of them, so no order of
  /// calls can end in a deadlock. Where all are free that is one statement (on MySQL and MariaDB two), however many
  /// they are. Each lock has a fencing token of its own.
  ///
  /// While it waits, it is in the queues of all names. With fairness::fifo it passes nobody who waits for one of them,
  /// and no later call with fairness::fifo for one of them passes it. Otherwise calls for one name are faster to find
  /// it free than a call for many is to find all free. So once it has waited for 100 ms, later callers leave its names
  /// free for 1 s, and after that for one second in every five. A set that is asked for often should be a name of its
  /// own.
  ///
  /// A name that is given twice is had once. A holder (lock_options::as) that has some of them already has these again.
  /// Waits end as those of acquire() do. (Redisson: RedissonMultiLock; the standard's scoped_lock.)
  ///
  /// Throws errc::invalid_option if there is no name, and errc::unsupported for the strategy for_update.
  [[nodiscard]] held_set acquire_all(const lock_names& names, const lock_options& options = {},
                                     std::stop_token stop = {});
  /// Tries once to have all of these names; nullopt: one of them is taken, and it has none.
  [[nodiscard]] std::optional<held_set> try_acquire_all(const lock_names& names, const lock_options& options = {});
  /// Waits for at most `wait` for all of these names; otherwise as try_acquire_for().
  template <class Rep, class Period>
  [[nodiscard]] std::optional<held_set> try_acquire_all_for(const lock_names& names,
                                                            const std::chrono::duration<Rep, Period>& wait,
                                                            const lock_options& options = {},
                                                            std::stop_token stop = {}) {
    return try_acquire_all_for_(names.all(), detail::saturate(wait), options, std::move(stop));
  }

  /// Waits without a time limit until it can share the name, and returns the owning handle.
  ///
  /// Any number of holders share a name; while one of them has it, nobody can have it alone, by whichever strategy, and
  /// while somebody has it alone, nobody can share it. The handle is like that of acquire(): a lease with a fencing
  /// token of its own, greater than all before, renewed until it is released or lost. A transaction cannot confirm it
  /// (errc::unsupported). Waits end as those of acquire() do.
  ///
  /// Who wants the name alone is not kept waiting by new readers: with fairness::fifo none passes it, else none passes
  /// one that has waited for 100 ms.
  ///
  /// A holder (lock_options::as) that has the name, shared or alone, has it again at once. One that shares it cannot
  /// have it alone before it has let go.
  ///
  /// Throws errc::unsupported for another strategy than unique_index, and for at_least. (Redisson: RReadWriteLock.)
  [[nodiscard]] held_lock acquire_shared(const lock_name& name, const lock_options& options = {},
                                         std::stop_token stop = {});
  /// Tries once to share a name; nullopt means that somebody has it alone, or waits for that.
  [[nodiscard]] std::optional<held_lock> try_acquire_shared(const lock_name& name, const lock_options& options = {});
  /// Waits for at most `wait` until it can share the name; otherwise as try_acquire_for().
  template <class Rep, class Period>
  [[nodiscard]] std::optional<held_lock> try_acquire_shared_for(const lock_name& name,
                                                                const std::chrono::duration<Rep, Period>& wait,
                                                                const lock_options& options = {},
                                                                std::stop_token stop = {}) {
    return try_acquire_shared_for_(name, detail::saturate(wait), options, std::move(stop));
  }
  /// Waits until the time `t`; otherwise as try_acquire_until().
  template <class Clock, class Duration>
  [[nodiscard]] std::optional<held_lock> try_acquire_shared_until(const lock_name& name,
                                                                  const std::chrono::time_point<Clock, Duration>& t,
                                                                  const lock_options& options = {},
                                                                  std::stop_token stop = {}) {
    return try_acquire_shared_for_(name, detail::until(t), options, std::move(stop));
  }

  /// Releases all locks held through this client.
  ///
  /// Every handle is then lost (loss_reason::forced). Takes at most call_timeout; locks that cannot be released in that
  /// time are released in the background.
  void release_all() noexcept;

  /// Frees a lock by force, whoever holds it; returns whether somebody held it.
  ///
  /// \warning The holder is not stopped. It may go on working while the next holder has the lock; only confirm() and
  /// fencing tokens keep the two apart. For operators who know that the holder should not have the lock.
  ///
  /// A lease ends at once. Its holder's lost() fires (loss_reason::forced) when it next renews, which is within a third
  /// of the lease, or when it confirms. If this very client holds it, lost() fires now.
  ///
  /// A lock of a transaction (for_update, lock_in, or a lease that confirm() has pinned) is freed by ending the
  /// server's session, so that the transaction is rolled back. A for_update holder's lost() fires
  /// (loss_reason::session_ended). In an SQLite file for_update is freed like a lease. A transaction of the caller's in
  /// an SQLite file cannot be ended from outside: the call waits for it, and throws errc::call_timed_out.
  ///
  /// With `only`, nothing happens unless the lock still has this token, so that the lock which was looked at is the one
  /// that is freed. A transaction's token may be unknown (0 in lock_info::token). It then counts as greater than all
  /// that were committed: the token of a lease never ends a transaction that has taken the name after it.
  ///
  /// Throws:
  /// - errc::permission_denied, with the number of the session: the role may not end it, or may not ask the server who
  ///   has locked the row (MySQL and MariaDB: PROCESS)
  /// - errc::database_error: the server does not say which session has the row, or names another one than the row does;
  ///   no session is ended
  ///
  /// Of a name that several share, all are let go; with `only`, just the one whose token it is (see sharers()).
  ///
  /// If the outcome is unknown, look (find()) before you repeat the call: it might free the next holder's lock.
  bool force_release(const lock_name& name, std::optional<fencing_token> only = {});

  /// Lists the locks that are held and whose names begin with `prefix`, ordered by the bytes of their names.
  std::vector<lock_info> list(std::string_view prefix = {});
  /// Looks up the holder of one lock; nullopt means that nobody holds it.
  std::optional<lock_info> find(const lock_name& name);
  /// Lists those who share a name, in the order in which they got it; empty: it is not shared.
  std::vector<lock_info> sharers(const lock_name& name);
  /// Lists the waiters for a lock, ordered by their tickets.
  ///
  /// Does not list those that wait inside a transaction of their own (lock_in), nor those of programs with an older
  /// rowlock that takes no tickets.
  std::vector<waiter_info> waiters(const lock_name& name);
  /// Lists the waiters of all names that begin with `prefix`, by name (in the order of bytes), then by ticket.
  ///
  /// It leaves out the same waiters as waiters().
  std::vector<waiter_info> list_waiters(std::string_view prefix = {});

  /// Checks that locks can be taken: connection, schema, permission to write, clock.
  ///
  /// Returns normally if they can; throws the first problem otherwise.
  void check();

  /// Examines the database and returns a finding for each subject, for people.
  ///
  /// Covers more than check(). The findings come in the order that finding::subject names. What the database refuses is
  /// a finding, not an exception; only errc::client_closed and errc::used_after_fork are thrown.
  std::vector<finding> diagnose();

  /// Returns what this client has done since it was connected, and what it is doing.
  ///
  /// Does not ask the database. After close() the last numbers are returned. Throws errc::used_after_fork in a child,
  /// and errc::client_closed if this object was moved from.
  client_statistics stats() const;
  /// Writes stats() as OpenMetrics text; see openmetrics.hpp.
  void write_openmetrics(std::ostream& to) const;
  /// Counts the names, locks and waiters in the database, of all clients.
  ///
  /// Reads all rows, so call it rarely.
  database_statistics database_stats();

  /// Creates or updates the tables.
  ///
  /// Runs the schema files that are not recorded in the database, in order, and records the checksums of those that
  /// were run by hand. Many processes may call it at once: one does the work, the others find it done. If nothing is
  /// missing it needs only permission to read (SQLite: to write the file).
  ///
  /// Guarantee: on PostgreSQL and SQLite everything is applied or nothing. On MySQL and MariaDB the next call completes
  /// an interrupted one.
  ///
  /// Throws:
  /// - errc::database_error: a file was edited or left out, or another program's table has the name
  /// - errc::schema_newer: the tables no longer serve this version of the library
  /// - errc::permission_denied: the role may not create tables
  ///
  /// The first two are thrown before anything is run; schema_status::refusal has the same sentence.
  void migrate();

  /// Reports which schema files are applied, and whether this library can work with the tables.
  ///
  /// Only reads. Works without any tables, and with tables of any version.
  rowlock::schema_status schema_status();

  /// Ends all waits, releases all locks and stops the client's threads.
  ///
  /// Waits end with errc::client_closed. lost() of every held lock fires (loss_reason::client_closed) before its lock
  /// is released. Takes at most call_timeout. Idempotent; does not throw.
  void close();

 private:
  friend struct detail::inside;
  explicit client(std::shared_ptr<engine::client_core> impl) noexcept;
  std::optional<held_lock> try_acquire_for_(const lock_name& name, duration wait, const lock_options& options,
                                            std::stop_token stop);
  std::optional<held_lock> try_acquire_any_for_(std::span<const lock_name> names, duration wait,
                                                const lock_options& options, std::stop_token stop);
  std::optional<held_set> try_acquire_all_for_(std::span<const lock_name> names, duration wait,
                                               const lock_options& options, std::stop_token stop);
  std::optional<held_lock> try_acquire_shared_for_(const lock_name& name, duration wait, const lock_options& options,
                                                   std::stop_token stop);
  std::shared_ptr<engine::client_core> impl_;
};

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
