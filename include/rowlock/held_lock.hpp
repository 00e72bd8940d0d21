#pragma once

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

/// A lock that is held, by whoever has this object.
///
///     state     entered by                            operator bool  lost()   release()
///     empty     construction, a move, release()       false          stopped  throws not_held
///     held      acquire, try_acquire                  true           waiting  lets go; empty
///     lost      the lease ended, somebody freed it,   true           stopped  throws lock_lost; empty
///               hold_limit, the client closed, or a
///               fork
///
/// Threads: any thread may use it, one at a time. Lifetime: it may outlive its client and is then lost
/// (client_closed). On the way down: the destructor releases, never throws and takes at most
/// client_options::call_timeout; where the database cannot be reached the client goes on trying in the background.
/// A holder that has a name more than once (see `holder`) has one handle for each time; the last one lets go.
class [[nodiscard]] ROWLOCK_EXPORT held_lock {
 public:
  held_lock() noexcept;                   ///< Empty.
  held_lock(held_lock&& other) noexcept;  ///< `other` is then empty.
  /// Releases what this object held before.
  held_lock& operator=(held_lock&& other) noexcept;
  ~held_lock();

  /// Whether this object has a lock, lost or not. After a loss only lost() and why_lost() tell.
  explicit operator bool() const noexcept;

  /// What was locked. Throws error{errc::not_held} where empty; so do token(), strategy() and expires_in().
  const lock_name& name() const;
  fencing_token token() const;         ///< See fencing_token.
  rowlock::strategy strategy() const;  ///< The one that it was taken by.
  /// What is left of the lease, or to hold_limit where that comes first, by the client's own, cautious reckoning; zero
  /// where it is lost; nullopt where the lock has no lease (for_update).
  std::optional<duration> expires_in() const;

  /// Fires when the lock is lost, before anybody else can have it (as far as clocks run evenly): stop work then.
  /// Never fires because of a release.
  ///
  /// Callbacks run on a thread of the library's, not on the one that called. One that takes its time holds up no other
  /// lock: all that is due fires before any callback can be in the way. It may use rowlock, let go of the lock and
  /// close or destroy its client. It must not throw. release_all(), close() and force_release() of a lock of the same
  /// client wait for the callbacks that they cause, for at most call_timeout; after that close() leaves them behind. A
  /// callback registered after the loss runs at once in the registering thread.
  std::stop_token lost() const noexcept;
  /// none where it is not lost, or empty.
  loss_reason why_lost() const noexcept;

  /// Makes the lease end `lease` from now, sooner or later than it would have; renewals keep to the new length. The one
  /// call that can shorten a lease. It does not lift lock_options::hold_limit. Throws lock_lost, not_held,
  /// invalid_option (100 ms to 30 days), unsupported where the lock has no lease (for_update), or what the database
  /// said; the lock is then held at least as long as the shorter of both leases.
  void extend(duration lease);

  /// Lets go; where that is too early for lock_options::at_least, the name stays taken until then. Throws where the
  /// destructor would report: not_held (also the second time), lock_lost, or a failure of the database, after which the
  /// client goes on trying in the background. The object is empty afterwards, always.
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
