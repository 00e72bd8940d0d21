#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <rowlock/duration.hpp>
#include <rowlock/events.hpp>
#include <rowlock/export.hpp>
#include <rowlock/holder.hpp>
#include <rowlock/strategy.hpp>

namespace rowlock::inline v1 {

/// Who gets a lock that several wait for.
enum class fairness : std::uint8_t {
  /// Whoever waits is woken in turn, but whoever comes at the right moment may be faster. More throughput.
  unfair,
  /// In the order in which they began to wait, across threads, processes and strategies: a try is granted only where
  /// nobody who waits has come before it, whatever those before it chose. A waiter that dies is passed over within 10
  /// s.
  fifo
};

/// How one lock is taken and kept. The order of the members is part of the interface: designators follow it.
struct lock_options {
  /// How it is owned. All exclude each other.
  rowlock::strategy strategy = rowlock::strategy::unique_index;
  /// How long the lock outlives a holder that cannot renew it: 100 ms to 30 days. Renewed every third of it. With
  /// for_update there is no lease: the options that are about one are refused where they differ from their defaults.
  duration lease = std::chrono::seconds{30};
  /// Whether whoever came first gets it first.
  rowlock::fairness fairness = rowlock::fairness::unfair;
  /// false: the lock is lost when the lease ends, unless held_lock::extend is called before.
  bool renew = true;
  /// The lock stays taken at least that long after it was granted, by the database's clock, however early it is let go:
  /// for jobs that are shorter than the clocks of the hosts that start them are apart. 0 to 30 days. Let go of before
  /// that (in whichever way), it is not held by anybody, and is listed as its late holder's until it ends; that holder
  /// waits for it like everybody else. A lock that was lost stays no longer than its lease, nor does one whose holder
  /// crashes: so let `lease` be at least as long. Of a holder that has a name more than once, the first acquisition's
  /// options count. Not with for_update.
  duration at_least{};
  /// The lock is lost (loss_reason::hold_limit) that long after it was asked for, counted from when the request that
  /// was granted was sent: 100 ms to 30 days, and at least `at_least`. Absent: it is renewed for as long as it is held.
  /// The lease is renewed until it covers the limit, and ends in the database some time after it, a tenth of `lease` at
  /// the least: so long the work has to stop. held_lock::extend does not lift it. Not with for_update.
  std::optional<duration> hold_limit{};
  /// Whose lock it is; absent: the default of the call (see `holder`).
  std::optional<rowlock::holder> as{};
  /// For people who list locks: UTF-8 without NUL, at most 1,000 bytes.
  std::string note{};
};

/// How a client works. The order of the members is part of the interface: designators follow it.
struct client_options {
  /// Named in the `owner` column, before host and pid: 1 to 60 bytes of printable ASCII without ':'.
  std::string application = "rowlock";
  /// At most this many connections for statements, opened when needed; at least 1. SQLite and PostgreSQL open one more
  /// when a call first waits, however many wait: to look for changes, or for LISTEN. Of two or more, one is there only
  /// for renewing, releasing and the like. Calls that find none free wait in their order, behind renewals and releases.
  std::size_t connections = 8;
  /// At most this many more for locks by for_update, each of which keeps one: at least 1. Whoever finds none free
  /// within call_timeout gets pool_exhausted. SQLite needs none.
  std::size_t held_transactions = 4;
  /// The longest that opening a connection may take: 1 ms to 1 h.
  duration connect_timeout = std::chrono::seconds{5};
  /// The longest that any one call to the database, and so any destructor, may take: 1 ms to 1 h.
  duration call_timeout = std::chrono::seconds{5};
  /// for_update: the server ends a connection that holds a lock and says nothing for so long: 1 s to 1 h. The client
  /// speaks up every third of it.
  duration transaction_limit = std::chrono::seconds{10};
  /// PostgreSQL: true where PgBouncer stands in between in transaction mode, so that nothing may be kept in the
  /// session. Statements are then not prepared, and each brings its settings along.
  bool transaction_pooling = false;
  /// PostgreSQL: whether a release waits until it is on disk. Without, a crash of the server within some hundred
  /// milliseconds may forget the release, and the lock is then free only when its lease ends. On MySQL and MariaDB
  /// releases are as durable as all else, as innodb_flush_log_at_trx_commit says.
  bool durable_release = false;
  /// In front of the tables' names: `[a-z_][a-z0-9_]{0,31}`.
  std::string table_prefix = "rowlock_";
  /// Told of events, one at a time and in their order, on a thread that the client has for nothing else, and never
  /// under a lock of the library. It may call rowlock, this client included, even close or destroy it. Its exceptions
  /// are swallowed. It may take its time: nothing waits for it but close(), and that for at most call_timeout. Where it
  /// falls behind by 10,000 events, further ones are dropped and counted (events::dropped): of failed calls and
  /// renewals, which the database may cause at any rate, those beyond 20,000, and never a loss, a failed release or
  /// sweep, polling or a warning. No call of it begins after close() has returned; one that had taken longer than that,
  /// or has closed the client itself, is the last, and what it kept waiting is not told. Absent: losses, failed
  /// releases and sweeps, and warnings go to std::clog, a line each, with what a terminal would obey written as an
  /// escape sequence of C.
  std::function<void(const event&)> observer{};
};

}  // namespace rowlock::inline v1
