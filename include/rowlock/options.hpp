#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <rowlock/detail/named_enum.hpp>
#include <rowlock/duration.hpp>
#include <rowlock/events.hpp>
#include <rowlock/export.hpp>
#include <rowlock/holder.hpp>
#include <rowlock/strategy.hpp>

namespace rowlock::inline v1 {

/// The order in which waiters get a lock.
enum class fairness : std::uint8_t {
  /// Waiters are woken in order, but a later caller may get the lock first if it asks at the right moment.
  ///
  /// Has more throughput on SQLite, and where few wait: a try does not ask for the queue.
  unfair,
  /// The lock is granted in the order in which the callers began to wait, across threads, processes and strategies.
  ///
  /// A try with this option is granted only if nobody who waits has come before it, whatever those before it chose. A
  /// waiter that dies is passed over within 10 seconds. (Redisson: RFairLock.)
  ///
  /// \warning Binds only calls that ask for it. Use it in all programs that take the name.
  fifo
};

/// Returns the name of the enumerator.
ROWLOCK_EXPORT std::string_view to_string(fairness f) noexcept;

/// How one lock is taken and kept.
///
/// The order of the members is part of the interface: designated initializers follow it.
struct lock_options {
  /// How the lock is owned in the database; all strategies exclude each other.
  rowlock::strategy strategy = rowlock::strategy::unique_index;
  /// How long the lock outlives a holder that cannot renew it: 100 ms to 30 days.
  ///
  /// The client renews the lease after each third of it. With for_update there is no lease: this option and the others
  /// about leases (renew, at_least, hold_limit) are refused if they differ from their defaults.
  duration lease = std::chrono::seconds{30};
  /// Whether waiters get the lock in the order in which they came.
  rowlock::fairness fairness = rowlock::fairness::unfair;
  /// Whether the client renews the lease in the background.
  ///
  /// If false, the lock is lost when the lease ends, unless held_lock::extend() is called before.
  bool renew = true;
  /// The shortest time that the name stays taken after the grant, however early the lock is released: 0 to 30 days.
  ///
  /// For jobs that are shorter than the difference between the clocks of the hosts that start them. (ShedLock:
  /// lockAtLeastFor.) Counts by the database's clock. After an early release nobody holds the lock, but it is listed
  /// under its former holder until the time is over; that holder waits for it like everybody else. If a holder has a
  /// name more than once, the options of its first acquisition count. Not with for_update.
  ///
  /// \warning A lock that was lost, or whose holder crashed, stays taken no longer than its lease. Let `lease` be at
  /// least as long as `at_least`.
  duration at_least{};
  /// The longest time that the lock may be held: 100 ms to 30 days, and not less than `at_least`; absent: no limit.
  ///
  /// The lock is lost (loss_reason::hold_limit) that long after the request that was granted was sent, although its
  /// lease is renewed. held_lock::extend() does not lift the limit. Not with for_update.
  ///
  /// The lease is renewed until it covers the limit. In the database it ends later than that, by at least a tenth of
  /// `lease`: in that time the work has to stop.
  std::optional<duration> hold_limit{};
  /// The holder that the lock belongs to; absent: the default of the call (see `holder`).
  std::optional<rowlock::holder> as{};
  /// A note for people who list locks and waiters: UTF-8 without NUL, at most 1,000 bytes.
  std::string note{};
};

/// How a client connects and works.
///
/// The order of the members is part of the interface: designated initializers follow it.
struct client_options {
  /// The program's name in the `owner` column, before host and pid: 1 to 60 bytes of printable ASCII without ':'.
  std::string application = "rowlock";
  /// The greatest number of connections for statements, at least 1.
  ///
  /// Connections are opened when they are needed. One more is opened when a call first waits, however many wait: to
  /// look for changes on SQLite, for LISTEN on PostgreSQL, to be woken on MySQL; on MariaDB two. If the number is 2 or
  /// more, one connection is reserved for renewals, releases and the like. Calls that find no free connection get one
  /// in the order of their arrival, after renewals and releases.
  std::size_t connections = 8;
  /// Whether requests of threads that would wait for each other are sent together.
  ///
  /// While connections are busy, requests to acquire, release and extend leases gather, and leave in one statement.
  /// A request that finds a connection free is sent as it is. Each keeps its own time limit, stop_token and outcome.
  /// Two threads of the client send what has gathered; they start when requests first gather. Locks by for_update on
  /// servers, and acquisitions by fairness::fifo, are always sent alone.
  bool combine = true;
  /// Whether a lease is handed over to a thread of this client that waits for it, without a call to the database.
  ///
  /// Each holder has its own fencing token, greater than that of the holder before. It is done for leases that are
  /// renewed, between holders with the same `lease` and `note`, to a waiter without `fifo`, `at_least` and
  /// `hold_limit`, and never past a thread that has waited longer. A lock that was confirmed in a transaction, or
  /// extended, is released in the database. So are all if this is false.
  ///
  /// Other clients see the holder to whom the database granted the lock, and a token that is at least the present
  /// holder's.
  ///
  /// \warning Set it to false if you call confirm in transactions above READ COMMITTED (the default of MySQL and
  /// MariaDB is). Of a lock that was handed over it cannot tell whether such a transaction sees the work of the holder
  /// before: it throws errc::stale_snapshot, and the client hands over nothing from then on.
  bool handover = true;
  /// The longest time after a grant by the database for which a lock is handed over: 1 ms to 1 h.
  ///
  /// Then the lock is released in the database, so that other clients can have it. If one of them waits, that happens
  /// after 64 holders at the latest, and its turn comes first. For as long a thread that waits for a lock of its own
  /// client takes no ticket, and is not listed as a waiter.
  ///
  /// Threads that share a named holder (lock_options::as) get again what one of them holds. After this time, where a
  /// client waits for the name, a thread without a handle of the lock waits until the others have released it, for this
  /// time at most, and at most a tenth of the time.
  duration handover_limit = std::chrono::milliseconds{100};
  /// The greatest number of additional connections for locks by for_update, at least 1.
  ///
  /// Each such lock keeps one connection. A call that finds none free within call_timeout throws errc::pool_exhausted.
  /// SQLite needs none.
  std::size_t held_transactions = 4;
  /// The longest time that opening a connection may take: 1 ms to 1 h.
  duration connect_timeout = std::chrono::seconds{5};
  /// The longest time that one call to the database, and thus any destructor, may take: 1 ms to 1 h.
  duration call_timeout = std::chrono::seconds{5};
  /// The silence after which the server ends a connection that holds a for_update lock: 1 s to 1 h.
  ///
  /// The client sends a heartbeat after each third of it.
  duration transaction_limit = std::chrono::seconds{10};
  /// Whether connections go through PgBouncer in transaction mode (PostgreSQL only).
  ///
  /// Nothing is then kept in the session: statements are not prepared, and each brings its settings along.
  bool transaction_pooling = false;
  /// Whether a release waits until it is on disk (PostgreSQL only).
  ///
  /// If false, a crash of the server within some hundred milliseconds may forget the release; the lock is then free
  /// when its lease ends. On MySQL and MariaDB releases are as durable as everything else, by
  /// innodb_flush_log_at_trx_commit.
  bool durable_release = false;
  /// The prefix of the tables' names: `[a-z_][a-z0-9_]{0,31}`.
  ///
  /// \warning Locks in tables with different prefixes do not exclude each other.
  std::string table_prefix = "rowlock_";
  /// Called with each event of the client; absent: important events are written to std::clog.
  ///
  /// Without an observer, losses, failed releases and sweeps, and warnings are written, one line each. Characters that
  /// a terminal would obey are written as escape sequences of C.
  ///
  /// Threads: called on a thread that the client has for nothing else, with one event at a time, in order, and never
  /// under a lock of the library. It may call rowlock, this client included, and may even close or destroy it.
  ///
  /// Errors: its exceptions are swallowed.
  ///
  /// Time: it may block. Only close() waits for it, for at most call_timeout. If it falls behind by 10,000 events,
  /// further ones are dropped and counted (events::dropped). Failed calls and renewals, which the database may cause at
  /// any rate, are dropped beyond 20,000. Losses, failed releases and sweeps, polling and warnings are never dropped.
  ///
  /// Lifetime: no call begins after close() has returned. If a call takes longer than close() waits, or has closed the
  /// client itself, it is the last one; events that were waiting are not reported.
  std::function<void(const event&)> observer{};
};

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
