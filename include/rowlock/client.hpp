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

#include <rowlock/async.hpp>
#include <rowlock/diagnosis.hpp>
#include <rowlock/duration.hpp>
#include <rowlock/export.hpp>
#include <rowlock/guard_status.hpp>
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
/// A program normally needs one client for each database. The client opens several connections when it needs them
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
/// every such call throws errc::used_after_fork, and destructors do nothing. Errors of the database pass through as
/// `error`. One call to the database takes at most client_options::call_timeout.
class ROWLOCK_EXPORT client {
 public:
  /// Connects to a database by its URL.
  ///
  /// Opens one connection; more are opened when they are needed. The schema is not checked here but at first use: see
  /// migrate() and check(). The forms of the URL:
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
  /// - errc::used_after_fork: the database is SQLite, and this process is the child of a process with SQLite clients
  ///   open at the fork. SQLite would rely on file locks that the child does not hold.
  ///
  /// \warning A relative SQLite path is resolved against the current directory. Programs that are started in different
  /// directories then use different files and do not exclude each other.
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
  /// Each call is a holder of its own unless lock_options::as says otherwise. So a second call for the same name waits
  /// for the first one, even in the same thread.
  ///
  /// If threads wait for each other in a circle, each holding the name that another one needs, the latest of these
  /// waits ends within 2 seconds with errc::deadlock. The error's text names all threads of the circle. Circles are
  /// found across processes, hosts and strategies, among the locks that threads hold as themselves (`mutex`,
  /// holder::this_thread()). errc::deadlock is not retryable: the caller must first release what it holds.
  [[nodiscard]] held_lock acquire(const lock_name& name, const lock_options& options = {}, std::stop_token stop = {});

  /// Tries once to acquire a lock; nullopt means that another holder holds it.
  ///
  /// If another client's transaction has locked the row, the call repeats the attempt for 0.2 seconds, because most
  /// such row locks last only a moment.
  [[nodiscard]] std::optional<held_lock> try_acquire(const lock_name& name, const lock_options& options = {});

  /// Waits for a lock for at most `wait`; nullopt means that it was not granted in time or that `stop` was requested.
  ///
  /// Zero and less try once; std::chrono::hours::max() means no deadline.
  ///
  /// If the database did not answer at all in that time, the call throws the last error. There is one exception: if
  /// `wait` is shorter than call_timeout and the call only lacked a free connection for statements, or the turn to
  /// write to an SQLite file, the result is nullopt.
  ///
  /// May return late: a call to a server that is under way at the deadline may take up to half a second in all, because
  /// cutting it off would cost the connection.
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

  /// Waits without a time limit for one of these names and returns its owning handle; held_lock::name() says which.
  ///
  /// Use it if there are several equal things (segments of a stock, slots of a licence): give each a name, and the call
  /// acquires the first one that is free. It begins with the name that this client held last, so that clients spread
  /// over the names. With the default options the call is one statement, even if all names are taken.
  ///
  /// A waiting call is in the queues of all these names, 32 of them at a time. With fairness::fifo it passes no earlier
  /// waiter for any of the names. With fairness::fifo, and with the other strategies, each name is tried by a statement
  /// of its own. Waits end as those of acquire() do, but a deadlock through them is not detected.
  ///
  /// Throws errc::invalid_option if `names` is empty.
  [[nodiscard]] held_lock acquire_any(const lock_names& names, const lock_options& options = {},
                                      std::stop_token stop = {});
  /// Tries once to acquire one of these names; nullopt means that all are taken.
  [[nodiscard]] std::optional<held_lock> try_acquire_any(const lock_names& names, const lock_options& options = {});
  /// Waits for at most `wait` for one of these names; otherwise as try_acquire_for().
  template <class Rep, class Period>
  [[nodiscard]] std::optional<held_lock> try_acquire_any_for(const lock_names& names,
                                                             const std::chrono::duration<Rep, Period>& wait,
                                                             const lock_options& options = {},
                                                             std::stop_token stop = {}) {
    return try_acquire_any_for_(names.all(), detail::saturate(wait), options, std::move(stop));
  }

  /// Waits without a time limit for all of these names and returns one handle to them.
  ///
  /// The names are granted together in one transaction, or not at all. A waiting call holds none of them, so no order
  /// of calls can end in a deadlock. If all are free, acquiring any number of them takes one statement (two on MySQL
  /// and MariaDB). Each lock has a fencing token of its own.
  ///
  /// While the call waits, it is in the queues of all its names. With fairness::fifo it passes no earlier waiter for
  /// any of them, and no later fairness::fifo call for one of them passes it. Otherwise single-name callers usually win
  /// against sets. Therefore, once a set has waited for 100 ms, later callers leave its names free for 1 s, and after
  /// that for one second in every five. If a set is acquired often, give the set itself a name.
  ///
  /// Duplicate names are acquired once. If the holder (lock_options::as) holds some of the names already, it is granted
  /// these again. Waits end as those of acquire() do. (Similar: Redisson's RedissonMultiLock, and std::scoped_lock.)
  ///
  /// Throws errc::invalid_option if `names` is empty, and errc::unsupported for the strategy for_update.
  [[nodiscard]] held_set acquire_all(const lock_names& names, const lock_options& options = {},
                                     std::stop_token stop = {});
  /// Tries once to acquire all of these names; nullopt means that one of them is taken, and that none is held.
  [[nodiscard]] std::optional<held_set> try_acquire_all(const lock_names& names, const lock_options& options = {});
  /// Waits for at most `wait` for all of these names; otherwise as try_acquire_for().
  template <class Rep, class Period>
  [[nodiscard]] std::optional<held_set> try_acquire_all_for(const lock_names& names,
                                                            const std::chrono::duration<Rep, Period>& wait,
                                                            const lock_options& options = {},
                                                            std::stop_token stop = {}) {
    return try_acquire_all_for_(names.all(), detail::saturate(wait), options, std::move(stop));
  }

  /// Waits without a time limit for a shared lock on the name and returns the owning handle.
  ///
  /// Any number of holders can share a name. While a holder shares it, no client can acquire it exclusively, by any
  /// strategy; while a holder holds it exclusively, no client can share it. The handle is like that of acquire(): a
  /// lease with a fencing token of its own, greater than all earlier ones, renewed until it is released or lost. A
  /// transaction cannot confirm it (errc::unsupported). Waits end as those of acquire() do.
  ///
  /// New readers cannot starve a writer: with fairness::fifo no later reader passes a waiting writer; without it, no
  /// reader passes a writer that has waited for 100 ms.
  ///
  /// If a holder (lock_options::as) holds the name, shared or exclusively, it is granted the name again at once. If a
  /// holder shares the name, it cannot acquire it exclusively before it has released its share.
  ///
  /// Throws errc::unsupported for every strategy but unique_index, and for at_least. (Similar: Redisson's
  /// RReadWriteLock.)
  [[nodiscard]] held_lock acquire_shared(const lock_name& name, const lock_options& options = {},
                                         std::stop_token stop = {});
  /// Tries once to share a name; nullopt means that a holder holds it exclusively, or that a writer waits for it.
  [[nodiscard]] std::optional<held_lock> try_acquire_shared(const lock_name& name, const lock_options& options = {});
  /// Waits for at most `wait` for a shared lock on the name; otherwise as try_acquire_for().
  template <class Rep, class Period>
  [[nodiscard]] std::optional<held_lock> try_acquire_shared_for(const lock_name& name,
                                                                const std::chrono::duration<Rep, Period>& wait,
                                                                const lock_options& options = {},
                                                                std::stop_token stop = {}) {
    return try_acquire_shared_for_(name, detail::saturate(wait), options, std::move(stop));
  }
  /// Waits until the time `t` for a shared lock on the name; otherwise as try_acquire_until().
  template <class Clock, class Duration>
  [[nodiscard]] std::optional<held_lock> try_acquire_shared_until(const lock_name& name,
                                                                  const std::chrono::time_point<Clock, Duration>& t,
                                                                  const lock_options& options = {},
                                                                  std::stop_token stop = {}) {
    return try_acquire_shared_for_(name, detail::until(t), options, std::move(stop));
  }

  /// The same calls without a thread that waits: see `async_call`, and docs/async.md.
  ///
  /// Each begins when it is started or awaited, and is then answered as the blocking call of its name returns or
  /// throws. All options mean the same; waiters are in one queue with blocking calls of the client. A handle that such
  /// a call has granted releases its lock in the background when it is destroyed, so that no thread waits for the
  /// database.
  ///
  /// A holder without lock_options::as is a holder of its own. Deadlocks are found only for blocking calls.
  async_call<held_lock> acquire_async(const lock_name& name, const lock_options& options = detail::default_options(),
                                      std::stop_token stop = {});
  /// As try_acquire(); see acquire_async().
  async_call<std::optional<held_lock>> try_acquire_async(const lock_name& name,
                                                         const lock_options& options = detail::default_options());
  /// As try_acquire_for(); see acquire_async().
  template <class Rep, class Period>
  async_call<std::optional<held_lock>> try_acquire_for_async(const lock_name& name,
                                                             const std::chrono::duration<Rep, Period>& wait,
                                                             const lock_options& options = detail::default_options(),
                                                             std::stop_token stop = {}) {
    return acquire_async_(name, detail::saturate(wait), options, std::move(stop), false);
  }
  /// As acquire_shared(); see acquire_async().
  async_call<held_lock> acquire_shared_async(const lock_name& name,
                                             const lock_options& options = detail::default_options(),
                                             std::stop_token stop = {});
  /// As try_acquire_shared(); see acquire_async().
  async_call<std::optional<held_lock>> try_acquire_shared_async(
      const lock_name& name, const lock_options& options = detail::default_options());
  /// As try_acquire_shared_for(); see acquire_async().
  template <class Rep, class Period>
  async_call<std::optional<held_lock>> try_acquire_shared_for_async(
      const lock_name& name, const std::chrono::duration<Rep, Period>& wait,
      const lock_options& options = detail::default_options(), std::stop_token stop = {}) {
    return acquire_async_(name, detail::saturate(wait), options, std::move(stop), true);
  }
  /// As acquire_any(); see acquire_async().
  async_call<held_lock> acquire_any_async(const lock_names& names,
                                          const lock_options& options = detail::default_options(),
                                          std::stop_token stop = {});
  /// As try_acquire_any(); see acquire_async().
  async_call<std::optional<held_lock>> try_acquire_any_async(const lock_names& names,
                                                             const lock_options& options = detail::default_options());
  /// As try_acquire_any_for(); see acquire_async().
  template <class Rep, class Period>
  async_call<std::optional<held_lock>> try_acquire_any_for_async(
      const lock_names& names, const std::chrono::duration<Rep, Period>& wait,
      const lock_options& options = detail::default_options(), std::stop_token stop = {}) {
    return acquire_any_async_(names.all(), detail::saturate(wait), options, std::move(stop));
  }
  /// As acquire_all(); see acquire_async().
  async_call<held_set> acquire_all_async(const lock_names& names,
                                         const lock_options& options = detail::default_options(),
                                         std::stop_token stop = {});
  /// As try_acquire_all(); see acquire_async().
  async_call<std::optional<held_set>> try_acquire_all_async(const lock_names& names,
                                                            const lock_options& options = detail::default_options());
  /// As try_acquire_all_for(); see acquire_async().
  template <class Rep, class Period>
  async_call<std::optional<held_set>> try_acquire_all_for_async(const lock_names& names,
                                                                const std::chrono::duration<Rep, Period>& wait,
                                                                const lock_options& options = detail::default_options(),
                                                                std::stop_token stop = {}) {
    return acquire_all_async_(names.all(), detail::saturate(wait), options, std::move(stop));
  }
#ifdef ROWLOCK_OPTIONS_NEED_A_NAME
  void acquire_async(const lock_name& name, lock_options&& options, std::stop_token stop = {}) = delete;
  void try_acquire_async(const lock_name& name, lock_options&& options, std::stop_token stop = {}) = delete;
  void acquire_shared_async(const lock_name& name, lock_options&& options, std::stop_token stop = {}) = delete;
  void try_acquire_shared_async(const lock_name& name, lock_options&& options, std::stop_token stop = {}) = delete;
  void acquire_any_async(const lock_names& name, lock_options&& options, std::stop_token stop = {}) = delete;
  void try_acquire_any_async(const lock_names& name, lock_options&& options, std::stop_token stop = {}) = delete;
  void acquire_all_async(const lock_names& name, lock_options&& options, std::stop_token stop = {}) = delete;
  void try_acquire_all_async(const lock_names& name, lock_options&& options, std::stop_token stop = {}) = delete;
  void try_acquire_for_async(const lock_name& name, const auto& wait, lock_options&& options,
                             std::stop_token stop = {}) = delete;
  void try_acquire_shared_for_async(const lock_name& name, const auto& wait, lock_options&& options,
                                    std::stop_token stop = {}) = delete;
  void try_acquire_any_for_async(const lock_names& name, const auto& wait, lock_options&& options,
                                 std::stop_token stop = {}) = delete;
  void try_acquire_all_for_async(const lock_names& name, const auto& wait, lock_options&& options,
                                 std::stop_token stop = {}) = delete;
#endif

  /// Releases all locks held through this client.
  ///
  /// Every handle is then lost (loss_reason::forced). The call takes at most call_timeout; locks that cannot be
  /// released in that time are released in the background.
  void release_all() noexcept;

  /// Frees a lock by force, whichever client holds it; returns whether it was held.
  ///
  /// \warning The holder is not stopped. It may go on working while the next holder holds the lock; only confirm() and
  /// fencing tokens keep the two apart. This call is for operators who know that the holder should not hold the lock.
  ///
  /// A lease ends at once. Its holder's lost() fires (loss_reason::forced) at the holder's next renewal, which is
  /// within a third of the lease, or at its next confirm(). If this client holds the lock itself, lost() fires now.
  ///
  /// A lock of a transaction (for_update, lock_in, or a lease that confirm() has pinned) is freed by ending the
  /// server's session, so that the transaction is rolled back. A for_update holder's lost() fires
  /// (loss_reason::session_ended). In an SQLite file, a for_update lock is freed like a lease. A caller's own
  /// transaction in an SQLite file cannot be ended from outside: the call waits for it, and throws
  /// errc::call_timed_out.
  ///
  /// With `only`, nothing happens unless the lock still has this token. So exactly the lock that was looked at is
  /// freed. A transaction's token may be unknown (0 in lock_info::token). It then counts as greater than all committed
  /// tokens: given the token of a lease, the call never ends a transaction that locked the name after that lease.
  ///
  /// Throws:
  /// - errc::permission_denied, with the number of the session: the role may not end that session, or may not ask the
  ///   server which session has locked the row (MySQL and MariaDB: PROCESS)
  /// - errc::database_error: the server does not report which session has locked the row, or reports another session
  ///   than the row names; no session is ended
  ///
  /// If several holders share the name, all of them are released; with `only`, just the holder with this token (see
  /// sharers()).
  ///
  /// If the outcome is unknown, call find() before you repeat the call: a second call might free the next holder's
  /// lock.
  bool force_release(const lock_name& name, std::optional<fencing_token> only = {});

  /// Lists the locks that are held and whose names begin with `prefix`, ordered by the bytes of their names.
  std::vector<lock_info> list(std::string_view prefix = {});
  /// Looks up the holder of one lock; nullopt means that the lock is free.
  std::optional<lock_info> find(const lock_name& name);
  /// Lists the holders that share a name, in the order of their grants; the list is empty if the name is not shared.
  std::vector<lock_info> sharers(const lock_name& name);
  /// Lists the waiters for a lock, ordered by their tickets.
  ///
  /// The list lacks waiters inside a transaction of their own (lock_in), and waiters of programs with an older rowlock
  /// that takes no tickets.
  std::vector<waiter_info> waiters(const lock_name& name);
  /// Lists the waiters of all names that begin with `prefix`, by name (in the order of bytes), then by ticket.
  ///
  /// The list lacks the same waiters as that of waiters().
  std::vector<waiter_info> list_waiters(std::string_view prefix = {});

  /// Checks that locks can be acquired: connection, schema, permission to write, clock.
  ///
  /// Returns normally if they can; otherwise throws the first problem.
  void check();

  /// Examines the database and returns a finding for each subject, for people.
  ///
  /// Covers more than check(). The findings are in the order that finding::subject names. If the database refuses
  /// something, that is a finding, not an exception; only errc::client_closed and errc::used_after_fork are thrown.
  std::vector<finding> diagnose();

  /// Returns counters of what this client has done since it connected, and gauges of what it is doing.
  ///
  /// Sends nothing to the database. After close() the call returns the last numbers. Throws errc::used_after_fork in a
  /// child process, and errc::client_closed if this object was moved from.
  client_statistics stats() const;
  /// Writes stats() as OpenMetrics text; see openmetrics.hpp.
  void write_openmetrics(std::ostream& to) const;
  /// Counts the names, locks and waiters of all clients in the database.
  ///
  /// The call reads all rows, so make it rarely.
  database_statistics database_stats();

  /// Switches the guard over failovers on, with this quarantine, or off (nullopt), for all clients of the database.
  ///
  /// If an asynchronous standby is promoted, the last commits are lost, and with them grants whose holders still rely
  /// on them. With a guard the tables name the server's history of commits. The first client that finds another one
  /// begins a quarantine: nothing is granted until every lease that may have been forgotten has ended. Attempts are
  /// refused as if the name were held, waits go on, and locks that the new primary knows are renewed and released as
  /// usual.
  ///
  /// No lease may be longer than the quarantine: acquiring and extending with a longer one, a longer at_least, and, for
  /// the strategy for_update, a longer client_options::transaction_limit throw errc::invalid_option. Leases that were
  /// granted before are renewed for at most the quarantine. If a longer lease is out, a quarantine begins now.
  ///
  /// Clients learn of it within 20 seconds, and it protects from then on: a shorter quarantine than before once the
  /// former one has passed as well, a longer one once the standbys have it. Clients of a release that does not know the
  /// guard are refused (errc::schema_newer). The role needs the rights of the role that ran migrate().
  ///
  /// A guard does not help against two primaries at once, nor against a former primary that is started again with its
  /// old data: only a client that has used the new one refuses it (errc::connection_failed). Nor does it, on MySQL and
  /// MariaDB, if a former primary is promoted again before it has replicated anything from its successor.
  ///
  /// A relaxed guard (PostgreSQL, guard_options::relaxed) makes locks faster: grants, renewals and releases do not wait
  /// for the disk, from 20 seconds after it became relaxed. A crash of the server or of its host may lose the last of
  /// them, so it begins a quarantine, as a failover does; a clean restart does not. Transactions of the caller commit
  /// as before. A later call without the option makes the guard an ordinary one; it waits for statements under way.
  ///
  /// Throws:
  /// - errc::invalid_option: the quarantine is shorter than 1 second or longer than 30 days; a relaxed guard has none;
  ///   the guard would be switched off in a quarantine, which has to be over or ended first
  /// - errc::unsupported: SQLite, Galera and group replication, which lose no commits in a failover; relaxed: MySQL and
  ///   MariaDB
  /// - errc::permission_denied
  guard_status set_guard(std::optional<duration> quarantine, const guard_options& options = {});
  /// Ends the quarantine that is on, for operators who know that no commit was lost.
  ///
  /// \warning If commits were lost, two holders may hold one name.
  guard_status end_quarantine();
  /// Looks up the guard over failovers.
  guard_status guard();

  /// Creates or updates the tables.
  ///
  /// Runs the schema files that are not recorded in the database, in order, and records the checksums of files that
  /// were run by hand. Many processes may call it at once: one does the work, and the others find it done. If nothing
  /// is missing, the call needs only permission to read (SQLite: to write the file).
  ///
  /// Guarantee: on PostgreSQL and SQLite everything is applied or nothing. On MySQL and MariaDB the next call completes
  /// an interrupted one.
  ///
  /// Throws:
  /// - errc::database_error: a file was edited or left out, or a table of another program has the same name
  /// - errc::schema_newer: the tables no longer serve this version of the library
  /// - errc::permission_denied: the role may not create tables
  ///
  /// The first two are thrown before any file is run; schema_status::refusal has the same sentence.
  void migrate();

  /// Reports which schema files are applied, and whether this library can work with the tables.
  ///
  /// The call only reads. It works without any tables, and with tables of any version.
  rowlock::schema_status schema_status();

  /// Ends all waits, releases all locks and stops the client's threads.
  ///
  /// Waits end with errc::client_closed. lost() of every held lock fires (loss_reason::client_closed) before its lock
  /// is released. The call takes at most call_timeout. It is idempotent and does not throw.
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
  async_call<std::optional<held_lock>> acquire_async_(const lock_name& name, duration wait, const lock_options& options,
                                                      std::stop_token stop, bool is_shared);
  async_call<std::optional<held_lock>> acquire_any_async_(std::span<const lock_name> names, duration wait,
                                                          const lock_options& options, std::stop_token stop);
  async_call<std::optional<held_set>> acquire_all_async_(std::span<const lock_name> names, duration wait,
                                                         const lock_options& options, std::stop_token stop);
  std::shared_ptr<engine::client_core> impl_;
};

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
