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

/// Owning handle to one name that is held in a majority of several databases, which releases it at the end of its
/// scope.
///
///     state     entered by                                    operator bool  lost()   release()
///     empty     construction, a move, release()               false          stopped  throws not_held
///     held      quorum_lock                                   true           waiting  releases; then empty
///     lost      fewer than a majority are held, or a fork     true           stopped  throws lock_lost; then empty
///
/// Each member is a lease of its own that its client renews, so the name is held for as long as a majority of the
/// databases can be reached. A database that answered after the majority was complete joins later. One whose lease was
/// lost does not come back: the handle has fewer to spare then.
///
/// \warning It has no fencing token. Those of its members come from different databases: they are not comparable, and
/// none of them need be a member of the next holder. Nor can a transaction confirm it. See docs/guarantees.md.
///
/// Threads: any thread may use it, one at a time.
///
/// Lifetime: it may outlive the quorum_lock. It may outlive clients, whose members are then lost.
///
/// Destruction: the destructor does what release() does, without throwing.
class [[nodiscard]] ROWLOCK_EXPORT held_quorum {
 public:
  /// A lease in one of the databases.
  struct member {
    std::size_t database;  ///< Which of the clients that the quorum_lock was made with, counted from 0.
    fencing_token token;   ///< Its fencing token, which means something in that database only.
    duration expires_in;   ///< See held_lock::expires_in().
  };

  held_quorum() noexcept;                     ///< Makes an empty handle.
  held_quorum(held_quorum&& other) noexcept;  ///< Takes over the leases of `other`, which is then empty.
  /// Releases what was held so far, as the destructor does, and takes over that of `other`.
  held_quorum& operator=(held_quorum&& other) noexcept;
  ~held_quorum();

  /// Whether this object has a lock, lost or not.
  explicit operator bool() const noexcept;

  const lock_name& name() const;  ///< Returns the name of the lock; throws error{errc::not_held} if empty.
  std::size_t majority() const;   ///< Returns how many it needs to have; throws errc::not_held if empty.
  /// Returns those that are held now, in the order of the clients; throws errc::not_held if empty.
  std::vector<member> members() const;
  /// Returns the time left until fewer than a majority are held, if none of them is renewed; zero if it is lost.
  ///
  /// It is the majority-th longest expires_in() of its members. Each of these counts from before its own request was
  /// sent and keeps its margin to the database's clock, so the time that it took to ask all of them is off already.
  /// Throws errc::not_held if the handle is empty.
  duration expires_in() const;

  /// Returns a token that is stopped when fewer than a majority are held: stop the work then.
  ///
  /// Guarantee: it fires before another can have a majority, as far as held_lock::lost() of each member does. It never
  /// fires because of a release. If the handle is empty, the token is stopped already. Callbacks: as of
  /// held_lock::lost().
  std::stop_token lost() const noexcept;
  /// Returns why the member was lost that left fewer than a majority; loss_reason::none if it is not lost, or is empty.
  loss_reason why_lost() const noexcept;

  /// Releases all members at once, and leaves the handle empty.
  ///
  /// Returns when a majority is released, so that another can have the name, or when each has been tried; the rest goes
  /// on in the background. Takes at most the longest call_timeout of the clients, or twice that if it finds a call to
  /// acquire under way.
  ///
  /// Throws:
  /// - errc::not_held: the handle is empty
  /// - errc::lock_lost: it was lost; what was left is released all the same
  /// - the first failure, if fewer than a majority could be released; the clients go on trying in the background
  void release();

 private:
  friend class quorum_lock;
  struct state;
  explicit held_quorum(std::unique_ptr<state> held) noexcept;
  std::unique_ptr<state> state_;
};

/// One name in a majority of several independent databases, of any kinds: it can be had while fewer than half of them
/// are away. (Redis: Redlock.)
///
/// Two majorities have a database in common, and that one grants the name to one of them only. So at most one has it,
/// as long as every program names the same databases, and each of these keeps what it has committed. What that gives,
/// and what not, is in docs/guarantees.md: one database with a standby is the better choice in most cases.
///
/// All databases are asked at the same time, and a call answers as soon as a majority is held or out of reach: one that
/// hangs delays nobody while enough others answer. A call that got no majority lets go of what it got and tries again
/// after a random pause of at most 250 ms, while there is time. There is no queue: nobody is woken by a release.
///
/// A database that fails counts as one that refuses. Let call_timeout of its client be much less than the lease.
///
/// Threads: any thread may use it, several at once. It has a thread of its own for each database.
///
/// Lifetime: the clients must outlive it. After fork() it is inert in the child, and its calls throw
/// errc::used_after_fork.
///
/// Destruction: the destructor ends what is asked of the databases, and joins the threads when the last held_quorum is
/// gone too. Each call that is under way takes at most call_timeout.
class ROWLOCK_EXPORT quorum_lock {
 public:
  /// Starts the threads; sends nothing to a database. The options are those of each member.
  ///
  /// Throws:
  /// - errc::invalid_option: `clients` is empty or has one twice, an option is not allowed, or `as` is set: each handle
  ///   has leases of its own
  /// - errc::unsupported: for_update, which has no lease; at_least, with which a minority that it lets go of would stay
  ///   taken; fairness::fifo, because there is no queue
  /// - errc::connection_failed: a thread cannot be started
  quorum_lock(std::vector<std::reference_wrapper<client>> clients, lock_name name, lock_options options = {});
  quorum_lock(const quorum_lock&) = delete;
  quorum_lock& operator=(const quorum_lock&) = delete;
  ~quorum_lock();

  /// Waits without a time limit until it has a majority, and returns its owning handle.
  ///
  /// The wait survives databases that are away, as client::acquire() does. Throws errc::cancelled if `stop` is
  /// requested, and an error that a repetition would not mend if it makes a majority impossible.
  [[nodiscard]] held_quorum acquire(std::stop_token stop = {});
  /// Asks each database once; nullopt: others have so many that there is no majority.
  ///
  /// Throws the first error, in a sentence that says how many have answered, if errors make a majority impossible.
  [[nodiscard]] std::optional<held_quorum> try_acquire();
  /// Waits for at most `wait`; nullopt: it was not had in time, or `stop` was requested.
  ///
  /// Zero and less try once; std::chrono::hours::max() means no deadline. Throws as try_acquire() if no majority of the
  /// databases has answered in all that time. May return late: an attempt that is under way at the deadline may take up
  /// to half a second in all.
  template <class Rep, class Period>
  [[nodiscard]] std::optional<held_quorum> try_acquire_for(const std::chrono::duration<Rep, Period>& wait,
                                                           std::stop_token stop = {}) {
    return try_acquire_for_(detail::saturate(wait), std::move(stop));
  }

  /// Returns the name that it was made with.
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
