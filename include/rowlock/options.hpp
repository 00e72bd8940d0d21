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

#include <rowlock/async.hpp>
#include <rowlock/detail/named_enum.hpp>
#include <rowlock/duration.hpp>
#include <rowlock/events.hpp>
#include <rowlock/export.hpp>
#include <rowlock/holder.hpp>
#include <rowlock/strategy.hpp>

namespace rowlock::inline v1 {

/// The order in which waiters get a lock.
enum class fairness : std::uint8_t {
  /// Waiters are woken in order, but a later caller may be granted the lock first if it asks at the right moment.
  ///
  /// This has more throughput on SQLite, and if few clients wait, because an attempt does not look at the queue.
  unfair,
  /// The lock is granted in the order in which the callers began to wait, across threads, processes and strategies.
  ///
  /// An attempt with this option is granted only if no earlier waiter is in the queue, whichever fairness those waiters
  /// chose. If a waiter dies, its ticket expires after 6 s, and the queue passes it within 10 s. (Similar: Redisson's
  /// RFairLock.)
  ///
  /// \warning It binds only the calls that ask for it. Use it in all programs that lock the name.
  fifo
};

/// Returns the name of the enumerator.
ROWLOCK_EXPORT std::string_view to_string(fairness f) noexcept;

/// How one lock is acquired and kept.
///
/// The order of the members is part of the interface: designated initializers follow it.
struct lock_options {
  /// How the lock is owned in the database; all strategies exclude each other.
  rowlock::strategy strategy = rowlock::strategy::unique_index;
  /// How long the lock outlives a holder that cannot renew it: 100 ms to 30 days.
  ///
  /// The client renews the lease after each third of its length. A for_update lock has no lease: this option and the
  /// others about leases (renew, at_least, hold_limit) are refused there if they differ from their defaults.
  duration lease = std::chrono::seconds{30};
  /// Whether waiters are granted the lock in the order in which they began to wait.
  rowlock::fairness fairness = rowlock::fairness::unfair;
  /// Whether the client renews the lease in the background.
  ///
  /// If false, the lock is lost when the lease ends, unless held_lock::extend() is called before that.
  bool renew = true;
  /// The shortest time that the name stays taken after the grant, however early the lock is released: 0 to 30 days.
  ///
  /// Use it for jobs that are shorter than the difference between the clocks of the hosts that start them. (Similar:
  /// ShedLock's lockAtLeastFor.) The time is measured by the database's clock. After an early release no client holds
  /// the lock, but it is listed under its former holder until the time is over; that holder has to wait for it like
  /// every other client. If a holder holds a name more than once, the options of its first acquisition apply. Not
  /// allowed with for_update.
  ///
  /// \warning If a lock was lost or its holder crashed, the name stays taken no longer than the lease. Let `lease` be
  /// at least as long as `at_least`.
  duration at_least{};
  /// The longest time that the lock may be held: 100 ms to 30 days, and not less than `at_least`; absent: no limit.
  ///
  /// The lock is lost (loss_reason::hold_limit) when this time is over, although its lease is renewed. The time begins
  /// when the granted request was sent. held_lock::extend() does not lift the limit. Not allowed with for_update.
  ///
  /// The lease is renewed until it covers the limit. In the database it ends later than the limit, by at least a tenth
  /// of `lease`: the work has to stop within that time.
  std::optional<duration> hold_limit{};
  /// The holder that the lock belongs to; absent: the default of the call (see `holder`).
  std::optional<rowlock::holder> as{};
  /// A note for readers of the lists of locks and waiters: UTF-8 without NUL, at most 1,000 bytes.
  std::string note{};
};

namespace detail {

/// The options of a call that was given none. No temporary object: see ROWLOCK_OPTIONS_NEED_A_NAME.
ROWLOCK_EXPORT const lock_options& default_options() noexcept;

}  // namespace detail

/// How a client connects and works.
///
/// The order of the members is part of the interface: designated initializers follow it.
struct client_options {
  /// The program's name in the `owner` column, before host and pid: 1 to 60 bytes of printable ASCII without ':'.
  std::string application = "rowlock";
  /// The greatest number of connections for statements, at least 1.
  ///
  /// Connections are opened when they are needed. When a call first waits, the client opens one more, however many
  /// calls wait: to look for changes on SQLite, for LISTEN on PostgreSQL, to be woken on MySQL; on MariaDB it opens
  /// two. If the number is 2 or more, one connection is reserved for renewals, releases and similar statements. Calls
  /// that find no free connection are served in the order of their arrival, after renewals and releases.
  std::size_t connections = 8;
  /// Whether requests of threads are sent together if they would otherwise wait for each other.
  ///
  /// While connections are busy, requests to acquire, release and extend leases are collected and sent in one
  /// statement. Up to four requests at a time are sent by themselves. Each request keeps its own time limit,
  /// stop_token and outcome. Two threads of the client send the collected requests; they start when requests are first
  /// collected. Two more do so for readers: requests to share one name are sent together. Locks by for_update on
  /// servers, and acquisitions by fairness::fifo, are always sent by themselves.
  ///
  /// If nearly all requests come from threads that ask again as soon as they are answered, and these are three to 32,
  /// they share one connection, and a statement waits for the other threads: at most half as long as a request takes
  /// on average, and five milliseconds. If that connection is stuck, the others are used.
  bool combine = true;
  /// Whether a lease is handed over to a waiting thread of the same client without a call to the database.
  ///
  /// Each holder has its own fencing token, greater than that of the previous holder. A lease is handed over only if it
  /// is renewed, only between holders with the same `lease` and `note`, only to a waiter without `fifo`, `at_least` and
  /// `hold_limit`, and never past a thread that has waited longer. A lock that was confirmed in a transaction,
  /// extended, shared or made exclusive is released in the database instead. If this option is false, all locks are.
  ///
  /// Other clients see the holder that the database granted the lock to, and a token that is at least that of the
  /// present holder.
  ///
  /// \warning Set it to false if you call confirm in transactions above READ COMMITTED (the default of MySQL and
  /// MariaDB is above it). For a lock that was handed over, confirm cannot tell whether such a transaction sees the
  /// work of the previous holder. So it throws errc::stale_snapshot, and from then on the client hands over no locks.
  bool handover = true;
  /// The longest time after a grant by the database for which a lock is handed over: 1 ms to 1 h.
  ///
  /// After this time the lock is released in the database, so that other clients can acquire it. If another client
  /// waits, the release comes sooner (after at most 64 holders if it waited at the grant), and that client's turn comes
  /// first. For the same time, a thread that waits for a lock of its own client takes no ticket and is not listed as a
  /// waiter.
  ///
  /// If threads share a named holder (lock_options::as), each of them is granted again what the holder holds. When this
  /// time is over and another client waits for the name, a thread without a handle of the lock waits until the others
  /// have released it, for this time at most. At most a tenth of the time is spent so.
  duration handover_limit = std::chrono::milliseconds{100};
  /// The greatest number of additional connections for locks by for_update, at least 1.
  ///
  /// Each such lock keeps one connection. A call that finds none free within call_timeout, or within its own wait if
  /// that is shorter, throws errc::pool_exhausted. SQLite needs none.
  std::size_t held_transactions = 4;
  /// The longest time that opening a connection may take: 1 ms to 1 h. It goes on for up to 2 s if its call leaves
  /// sooner, and a later call uses it.
  duration connect_timeout = std::chrono::seconds{5};
  /// The longest time that one call to the database, and thus any destructor, may take: 1 ms to 1 h.
  duration call_timeout = std::chrono::seconds{5};
  /// The silence after which the server ends a connection that holds a for_update lock: 1 s to 1 h.
  ///
  /// The client sends a heartbeat after each third of this time.
  duration transaction_limit = std::chrono::seconds{10};
  /// Whether connections go through PgBouncer in transaction mode (PostgreSQL only).
  ///
  /// If true, the session keeps no state: statements are not prepared, and each one brings its settings along.
  bool transaction_pooling = false;
  /// Whether a release waits until its commit is on disk (PostgreSQL only).
  ///
  /// If false, a crash of the server within some hundred milliseconds may undo the release; the lock is then free when
  /// its lease ends. On MySQL and MariaDB, innodb_flush_log_at_trx_commit makes releases as durable as every other
  /// commit.
  bool durable_release = false;
  /// The prefix of the tables' names: `[a-z_][a-z0-9_]{0,31}`.
  ///
  /// \warning Locks in tables with different prefixes do not exclude each other.
  std::string table_prefix = "rowlock_";
  /// The number of threads for asynchronous calls (`async_call`), 1 to 64. They start with the first of these calls.
  ///
  /// They send what is not sent together with requests of other calls, and run callbacks if there is no executor.
  std::size_t async_threads = 2;
  /// The executor for the answers to asynchronous calls; absent: they are given on the client's threads.
  rowlock::executor executor{};
  /// The function that is called with each event of the client; absent: important events are written to std::clog.
  ///
  /// Without an observer, losses, failed releases, failed sweeps, quarantines and warnings are written, one line each.
  /// Characters that a terminal would obey are written as escape sequences of C.
  ///
  /// Threads: it is called on a dedicated thread of the client, with one event at a time, in order, and never under a
  /// lock of the library. It may call rowlock, this client included, and may even close or destroy the client.
  ///
  /// Errors: its exceptions are swallowed.
  ///
  /// Time: it may block. Only close() waits for it, for at most call_timeout. If it falls behind by 10,000 events,
  /// further ones are dropped and counted (events::dropped). Failed calls and failed renewals, which the database may
  /// cause at any rate, are dropped beyond 20,000. Losses, failed releases, failed sweeps, polling, quarantines and
  /// warnings are never dropped.
  ///
  /// Lifetime: no call begins after close() has returned. If a call takes longer than close() waits, or has closed the
  /// client itself, it is the last one; events that are still queued are not reported.
  std::function<void(const event&)> observer{};
};

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
