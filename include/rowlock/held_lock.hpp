#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

#include <memory>
#include <optional>
#include <stop_token>
#include <type_traits>

#include <rowlock/duration.hpp>
#include <rowlock/export.hpp>
#include <rowlock/fencing_token.hpp>
#include <rowlock/lock_name.hpp>
#include <rowlock/loss_reason.hpp>
#include <rowlock/options.hpp>

namespace rowlock::inline v1 {

namespace detail {
struct inside;
}  // namespace detail
namespace engine {
class client_core;
class lease_state;
}  // namespace engine

/// Owning handle to a held lock, which releases it at the end of its scope.
///
/// Like std::unique_lock it can be moved, but not copied. Unlike that it can lose its lock: a lease ends if it cannot
/// be renewed. lost() then fires, as the Done channel of an etcd session does.
///
///     state     entered by                            operator bool  lost()   release()
///     empty     construction, a move, release()       false          stopped  throws not_held
///     held      acquire, try_acquire                  true           waiting  releases; then empty
///     lost      the lease ended, somebody freed it,   true           stopped  throws lock_lost; then empty
///               hold_limit, the client closed, or a
///               fork
///
/// Reentrancy: a holder that has a lock more than once (see `holder`) has one handle for each time. Destroying or
/// releasing the last one releases the lock.
///
/// Threads: any thread may use it, one at a time.
///
/// Lifetime: it may outlive its client, and is then lost (loss_reason::client_closed).
///
/// Destruction: the destructor releases the lock. It never throws and takes at most client_options::call_timeout. If
/// the database cannot be reached, the client goes on trying in the background.
class [[nodiscard]] ROWLOCK_EXPORT held_lock {
 public:
  held_lock() noexcept;                   ///< Makes an empty handle.
  held_lock(held_lock&& other) noexcept;  ///< Takes over the lock of `other`, which is then empty.
  /// Releases the lock held so far, as the destructor does, and takes over that of `other`.
  held_lock& operator=(held_lock&& other) noexcept;
  ~held_lock();

  /// Whether this object has a lock, lost or not.
  ///
  /// \warning Stays true after a loss: ask lost() or why_lost().
  explicit operator bool() const noexcept;

  /// Returns the name of the lock; throws error{errc::not_held} if the handle is empty.
  const lock_name& name() const;
  fencing_token token() const;         ///< Returns the lock's fencing token; throws errc::not_held if empty.
  rowlock::strategy strategy() const;  ///< Returns the strategy it was taken by; throws errc::not_held if empty.
  /// Returns the time left until the lease or hold_limit ends, whichever is first.
  ///
  /// It is the client's own, cautious reckoning: the lease ends later in the database. Zero if the lock is lost;
  /// nullopt if it has no lease (for_update). Throws errc::not_held if the handle is empty.
  std::optional<duration> expires_in() const;

  /// Returns a token that is stopped when the lock is lost: stop the work then.
  ///
  /// Guarantee: it fires before another holder can get the lock, as far as the clocks run evenly. It never fires
  /// because of a release. If the handle is empty, the token is stopped already.
  ///
  /// \warning force_release() by another client is noticed only at the next renewal, and the server may end the session
  /// of a for_update lock while this process is paused. Writes that must not happen then need confirm() or the token.
  ///
  /// Callbacks (std::stop_callback) run on a thread of the library's; one that is registered after the loss runs at
  /// once in the registering thread. A callback may block without delaying the loss of another lock. It may use
  /// rowlock, release the lock, and close or destroy its client. It must not throw. client::release_all(),
  /// client::close() and client::force_release() of a lock of the same client wait for the callbacks that they cause,
  /// for at most call_timeout; after that close() leaves them behind.
  std::stop_token lost() const noexcept;
  /// Returns why the lock was lost; loss_reason::none if it is not lost, or the handle is empty.
  loss_reason why_lost() const noexcept;

  /// Makes the lease end `lease` from now, which may be sooner or later than before.
  ///
  /// Renewals keep to the new length. This is the only call that can shorten a lease. It does not lift
  /// lock_options::hold_limit.
  ///
  /// Throws:
  /// - errc::lock_lost, errc::not_held
  /// - errc::invalid_option: `lease` is not between 100 ms and 30 days
  /// - errc::unsupported: the lock has no lease (for_update)
  /// - what the database reports: the lock is then held for at least the shorter of both leases
  void extend(duration lease);

  /// Tries once to have alone what this handle shares; false: others share it, and nothing has changed.
  ///
  /// From then on it excludes all others, with a new token(). The lease keeps its end. There is no form that waits: two
  /// who share a name and wait for each other would wait for ever. If it has the name alone already, nothing happens.
  /// Does not wait in turn. (Boost: try_unlock_shared_and_lock.)
  ///
  /// Throws errc::not_held, errc::lock_lost, or what the database reports. If the outcome is unknown, the lock is lost
  /// (loss_reason::unreachable).
  [[nodiscard]] bool try_upgrade();
  /// Shares from now on what this handle has alone, with those who wait for that, and a new token().
  ///
  /// A holder that a semaphore granted several permits, and that upgraded since, has as many again; any other counts as
  /// one permit.
  /// Nobody can have the name alone in between. The lease keeps its end. If it is shared already, nothing happens.
  ///
  /// Throws:
  /// - errc::not_held, errc::lock_lost
  /// - errc::unsupported: it has no lease (for_update), or at_least, or its holder has it more than once
  /// - what the database reports, as try_upgrade()
  void downgrade();

  /// Releases the lock and leaves the handle empty, and throws if the lock was not held any more.
  ///
  /// If it is too early for lock_options::at_least, the name stays taken until that time is over.
  ///
  /// Throws errc::not_held if the handle is empty (so also the second time), errc::lock_lost, or a failure of the
  /// database, after which the client goes on trying in the background. The handle is empty in every case.
  void release();

 private:
  friend struct detail::inside;
  held_lock(std::shared_ptr<engine::client_core> client, std::shared_ptr<engine::lease_state> lease) noexcept;
  void release_quietly() noexcept;

  std::shared_ptr<engine::client_core> client_;
  std::shared_ptr<engine::lease_state> lease_;
};

static_assert(std::is_nothrow_move_constructible_v<held_lock> && std::is_nothrow_move_assignable_v<held_lock>);
static_assert(!std::is_copy_constructible_v<held_lock> && std::is_nothrow_destructible_v<held_lock>);

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
