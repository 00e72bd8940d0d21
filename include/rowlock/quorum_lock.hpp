#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include <rowlock/client.hpp>
#include <rowlock/duration.hpp>
#include <rowlock/export.hpp>
#include <rowlock/fencing_token.hpp>
#include <rowlock/lock_name.hpp>
#include <rowlock/loss_reason.hpp>
#include <rowlock/options.hpp>

namespace rowlock::inline v1 {

/// Owning handle to one name that is held in a majority of several databases; it releases the name at the end of its
/// scope.
///
///     state     entered by                                    operator bool  lost()   release()
///     empty     construction, a move, release()               false          stopped  throws not_held
///     held      quorum_lock                                   true           waiting  releases; then empty
///     lost      fewer than a majority are held, or a fork     true           stopped  throws lock_lost; then empty
///
/// Each member is a lease of its own, which its client renews. So the name is held while a majority of the databases
/// can be reached. A database that answers after the majority is complete joins later. A database whose lease was lost
/// does not come back, so the handle can then survive fewer further losses.
///
/// \warning It has no fencing token. The tokens of its members come from different databases: they are not comparable,
/// and the next holder need not have any of these members. A transaction cannot confirm it either. See
/// docs/guarantees.md.
///
/// Threads: any thread may use it, one at a time.
///
/// Lifetime: it may outlive the quorum_lock. It may also outlive clients; their members are then lost.
///
/// Destruction: the destructor does what release() does, without throwing.
class [[nodiscard]] ROWLOCK_EXPORT held_quorum {
 public:
  /// A lease in one of the databases.
  struct member {
    std::size_t database;  ///< The index of the client in the quorum_lock's list of clients, from 0.
    fencing_token token;   ///< Its fencing token, which is meaningful in that database only.
    duration expires_in;   ///< See held_lock::expires_in().
  };

  held_quorum() noexcept;                     ///< Makes an empty handle.
  held_quorum(held_quorum&& other) noexcept;  ///< Takes over the leases of `other`, which is then empty.
  /// Releases the leases held so far, as the destructor does, and takes over those of `other`.
  held_quorum& operator=(held_quorum&& other) noexcept;
  ~held_quorum();

  /// Whether this handle owns a lock, lost or not.
  explicit operator bool() const noexcept;

  const lock_name& name() const;  ///< Returns the name of the lock; throws error{errc::not_held} if empty.
  std::size_t majority() const;   ///< Returns how many members it needs; throws errc::not_held if empty.
  /// Returns the members that are held now, in the order of the clients; throws errc::not_held if empty.
  std::vector<member> members() const;
  /// Returns the time left until fewer than a majority are held, if no member is renewed; zero if the lock is lost.
  ///
  /// It is the majority-th longest expires_in() of its members. Each of these begins before its own request was sent
  /// and keeps a margin to the database's clock, so the time that asking all databases took is already subtracted.
  /// Throws errc::not_held if the handle is empty.
  duration expires_in() const;

  /// Returns a token that is stopped when fewer than a majority are held: stop the work then.
  ///
  /// Guarantee: the token fires before another holder can reach a majority, as far as held_lock::lost() of each member
  /// does. It never fires because of a release. If the handle is empty, the token is stopped already. Callbacks: as for
  /// held_lock::lost().
  std::stop_token lost() const noexcept;
  /// Returns the reason for the loss of the member that ended the majority; loss_reason::none if the lock is not lost,
  /// or if the handle is empty.
  loss_reason why_lost() const noexcept;

  /// Releases all members at once and leaves the handle empty.
  ///
  /// The call returns when a majority is released, so that another client can acquire the name, or when each release
  /// has been tried; the rest continues in the background. It takes at most the longest call_timeout of the clients, or
  /// twice that if an acquiring call is under way.
  ///
  /// Throws:
  /// - errc::not_held: the handle is empty
  /// - errc::lock_lost: the lock was lost; the remaining members are released all the same
  /// - the first failure, if fewer than a majority could be released; the clients go on trying in the background
  void release();

 private:
  friend class quorum_lock;
  struct state;
  explicit held_quorum(std::unique_ptr<state> held) noexcept;
  std::unique_ptr<state> state_;
};

/// A lock on one name in a majority of several independent databases, which may be of different kinds.
///
/// The name can be acquired while fewer than half of the databases are unavailable. (Similar: Redlock of Redis.)
///
/// Two majorities have a database in common, and that database grants the name to only one of them. So at most one
/// holder has a majority, provided that every program names the same databases, and that each database keeps what it
/// has committed. docs/guarantees.md says what follows from this and what does not: in most cases, one database with a
/// standby is the better choice.
///
/// All databases are asked at the same time, and a call returns as soon as a majority is held or out of reach. So a
/// database that hangs delays no call while enough others answer. If a call did not reach a majority, it releases the
/// leases that it was granted and tries again after a random pause of at most 250 ms, while time is left. There is no
/// queue: a release wakes no waiter.
///
/// A database that fails counts as a refusal. Let call_timeout of its client be much less than the lease.
///
/// Threads: any thread may use it, several at once. It runs one thread of its own for each database.
///
/// Lifetime: the clients must outlive it. After fork() it is inert in the child, and its calls throw
/// errc::used_after_fork.
///
/// Destruction: the destructor ends the calls to the databases, and joins the threads when the last held_quorum is gone
/// too. Each call that is under way takes at most call_timeout.
class ROWLOCK_EXPORT quorum_lock {
 public:
  /// Starts the threads; sends nothing to a database. The options apply to each member.
  ///
  /// Throws:
  /// - errc::invalid_option: `clients` is empty or has one twice, an option is not allowed, or `as` is set, because
  ///   each handle owns leases of its own
  /// - errc::unsupported: for_update, which has no lease; at_least, because the released leases of a minority would
  ///   stay taken; fairness::fifo, because there is no queue
  /// - errc::connection_failed: a thread cannot be started
  quorum_lock(std::vector<std::reference_wrapper<client>> clients, lock_name name, lock_options options = {});
  quorum_lock(const quorum_lock&) = delete;
  quorum_lock& operator=(const quorum_lock&) = delete;
  ~quorum_lock();

  /// Waits without a time limit for a majority and returns its owning handle.
  ///
  /// The wait survives unavailable databases, as client::acquire() does. Throws errc::cancelled if `stop` is requested.
  /// If an error makes a majority impossible and a repetition would not help, throws that error.
  [[nodiscard]] held_quorum acquire(std::stop_token stop = {});
  /// Asks each database once; nullopt means that other holders hold so many that no majority is left.
  ///
  /// If errors make a majority impossible, throws the first error, with a sentence that says how many databases have
  /// answered.
  [[nodiscard]] std::optional<held_quorum> try_acquire();
  /// Waits for at most `wait`; nullopt means that no majority was granted in time, or that `stop` was requested.
  ///
  /// Zero and less try once; std::chrono::hours::max() means no deadline. If no majority of the databases has answered
  /// in all that time, throws as try_acquire() does. May return late: an attempt that is under way at the deadline may
  /// take up to half a second in all.
  template <class Rep, class Period>
  [[nodiscard]] std::optional<held_quorum> try_acquire_for(const std::chrono::duration<Rep, Period>& wait,
                                                           std::stop_token stop = {}) {
    return try_acquire_for_(detail::saturate(wait), std::move(stop));
  }

  /// Returns the name that the quorum_lock was made with.
  const lock_name& name() const noexcept;
  /// Returns how many databases make a majority: more than half of them.
  std::size_t majority() const noexcept;

 private:
  std::optional<held_quorum> try_acquire_for_(duration wait, std::stop_token stop);
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
