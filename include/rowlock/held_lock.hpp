#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

#include <memory>
#include <optional>
#include <stop_token>
#include <type_traits>

#include <rowlock/async.hpp>
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
/// Like std::unique_lock, it can be moved but not copied. Unlike std::unique_lock, it can lose its lock: a lease ends
/// if it cannot be renewed. lost() then fires, as the Done channel of an etcd session does.
///
///     state     entered by                            operator bool  lost()   release()
///     empty     construction, a move, release()       false          stopped  throws not_held
///     held      acquire, try_acquire                  true           waiting  releases; then empty
///     lost      the lease ended, force_release(),     true           stopped  throws lock_lost; then empty
///               hold_limit, the client closed, or a
///               fork
///
/// Reentrancy: if a holder acquires a lock more than once (see `holder`), it owns one handle for each acquisition.
/// Destroying or releasing the last one releases the lock.
///
/// Threads: any thread may use it, one at a time.
///
/// Lifetime: a handle may outlive its client; its lock is then lost (loss_reason::client_closed).
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

  /// Whether this handle owns a lock, lost or not.
  ///
  /// \warning It stays true after a loss: ask lost() or why_lost().
  explicit operator bool() const noexcept;

  /// Returns the name of the lock; throws error{errc::not_held} if the handle is empty.
  const lock_name& name() const;
  fencing_token token() const;         ///< Returns the lock's fencing token; throws errc::not_held if empty.
  rowlock::strategy strategy() const;  ///< Returns the strategy of the acquisition; throws errc::not_held if empty.
  /// Returns the time left until the lease or hold_limit ends, whichever ends first.
  ///
  /// The client computes it cautiously: in the database the lease ends later. It is zero if the lock is lost, and
  /// nullopt if the lock has no lease (for_update). Throws errc::not_held if the handle is empty.
  std::optional<duration> expires_in() const;

  /// Returns a token that is stopped when the lock is lost: stop the work then.
  ///
  /// Guarantee: the token fires before another holder can be granted the lock, as far as the clocks run evenly. It
  /// never fires because of a release. If the handle is empty, the token is stopped already.
  ///
  /// \warning The client notices a force_release() by another client only at the next renewal. The server may end the
  /// session of a for_update lock while this process is paused. Writes that must not happen then need confirm() or the
  /// token.
  ///
  /// Callbacks (std::stop_callback) run on a thread of the library; a callback that is registered after the loss runs
  /// at once in the registering thread. A callback may block without delaying the loss of another lock. It may use
  /// rowlock, release the lock, and close or destroy its client. It must not throw. client::release_all(),
  /// client::close() and client::force_release() of a lock of the same client wait for the callbacks that they cause,
  /// for at most call_timeout. After that time close() returns while the callbacks still run.
  std::stop_token lost() const noexcept;
  /// Returns why the lock was lost; loss_reason::none if it is not lost, or if the handle is empty.
  loss_reason why_lost() const noexcept;

  /// Sets the end of the lease to `lease` from now, which may be sooner or later than before.
  ///
  /// Renewals use the new length. No other call can shorten a lease. This call does not lift lock_options::hold_limit.
  ///
  /// Throws:
  /// - errc::lock_lost, errc::not_held
  /// - errc::invalid_option: `lease` is not between 100 ms and 30 days
  /// - errc::unsupported: the lock has no lease (for_update)
  /// - errors that the database reports: the lock is then held for at least the shorter of both leases
  void extend(duration lease);

  /// Tries once to turn the shared lock of this handle into an exclusive one; false means that others share it, and
  /// nothing has changed.
  ///
  /// From then on the handle excludes all other holders, with a new token(). The expiry of the lease does not change.
  /// There is no form that waits, because two holders that share a name and wait for each other would wait for ever. If
  /// the handle holds the name exclusively already, nothing happens. The call does not join the queue. (Similar:
  /// Boost's try_unlock_shared_and_lock.)
  ///
  /// Throws errc::not_held, errc::lock_lost, or errors that the database reports. If the outcome is unknown, the lock
  /// is lost (loss_reason::unreachable).
  [[nodiscard]] bool try_upgrade();
  /// Turns the exclusive lock of this handle into a shared one, with a new token(), so that waiting readers are granted
  /// it.
  ///
  /// If a semaphore granted this holder several permits and the handle was upgraded since, it holds as many permits
  /// again. In every other case the handle counts as one permit. No client can acquire the name exclusively in between.
  /// The expiry of the lease does not change. If the lock is shared already, nothing happens.
  ///
  /// Throws:
  /// - errc::not_held, errc::lock_lost
  /// - errc::unsupported: the lock has no lease (for_update), or at_least is set, or its holder holds it more than once
  /// - errors that the database reports, as try_upgrade() does
  void downgrade();

  /// Releases the lock and leaves the handle empty; throws if the lock was no longer held.
  ///
  /// If lock_options::at_least is not over, the name stays taken until it is.
  ///
  /// Throws errc::not_held if the handle is empty (as after an earlier release), errc::lock_lost, or a failure of the
  /// database; after such a failure the client goes on trying in the background. In every case the handle is empty
  /// afterwards.
  void release();

  /// The same as release(), without a thread that waits: see `async_call`.
  ///
  /// The handle is empty as soon as release_async() returns; if the call is destroyed without having begun, the lock is
  /// released as by the destructor. Throws errc::not_held if the handle is empty.
  async_call<void> release_async();
  /// The same as extend(), without a thread that waits. Throws errc::not_held if the handle is empty.
  async_call<void> extend_async(duration lease);

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
