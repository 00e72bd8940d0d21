#pragma once

#include <rowlock/detail/cxx20.hpp>
#ifndef ROWLOCK_BEFORE_CXX20

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include <rowlock/async.hpp>
#include <rowlock/duration.hpp>
#include <rowlock/export.hpp>
#include <rowlock/fencing_token.hpp>
#include <rowlock/held_lock.hpp>
#include <rowlock/lock_name.hpp>
#include <rowlock/loss_reason.hpp>

namespace rowlock::inline v1 {

/// Owning handle to several held locks that are used together.
///
/// client::acquire_all() and multi_lock return it. The set is lost as soon as one of its locks is lost. At the end of
/// its scope it releases all of them, in reverse order. (Similar: Redisson's RedissonMultiLock, and std::scoped_lock.)
///
/// Threads: any thread may use it, one at a time.
///
/// Lifetime, destruction: as for held_lock.
class [[nodiscard]] ROWLOCK_EXPORT held_set {
 public:
  held_set() noexcept;  ///< Makes an empty handle.
  /// Takes over these locks, which may be of different clients. Without locks, the handle is empty.
  explicit held_set(std::vector<held_lock> locks);
  held_set(held_set&& other) noexcept;  ///< Takes over the locks of `other`, which is then empty.
  /// Releases the locks held so far, as the destructor does, and takes over those of `other`.
  held_set& operator=(held_set&& other) noexcept;
  ~held_set();

  /// Whether this handle owns locks, lost or not.
  explicit operator bool() const noexcept;

  /// Returns its locks in the order in which they were passed; those of acquire_all() are sorted by the bytes of their
  /// names.
  std::span<const held_lock> locks() const noexcept;
  std::size_t size() const noexcept { return locks().size(); }  ///< Returns the number of its locks.
  /// Returns the fencing token of the lock with this name; throws error{errc::not_held} if it is not among them.
  ///
  /// Each lock has a token of its own. Send the token of the lock that protects the resource.
  fencing_token token(const lock_name& name) const;
  /// Returns the time left until the first of the leases ends; nullopt if no lock has a lease, zero if a lock is lost.
  ///
  /// Throws errc::not_held if the handle is empty.
  std::optional<duration> expires_in() const;

  /// Returns a token that is stopped when any of the locks is lost; see held_lock::lost(), also for callbacks.
  ///
  /// The other locks remain held until this handle releases them. If the handle is empty, the token is stopped already.
  std::stop_token lost() const noexcept;
  /// Returns why the first lost lock was lost; loss_reason::none if no lock is lost, or if the handle is empty.
  loss_reason why_lost() const noexcept;

  /// Sets the end of each lease to `lease` from now; see held_lock::extend().
  ///
  /// If held_lock::extend() throws for one of the locks, this call throws the same. The locks before that one then have
  /// the new length, and those after it the old one.
  void extend(duration lease);

  /// Releases all locks and leaves the handle empty.
  ///
  /// Throws errc::not_held if the handle is empty. Every lock is released, even if releasing another one fails. After
  /// that the call throws the first failure of held_lock::release() (errc::lock_lost, or errors that the database
  /// reports).
  void release();
  /// The same as release(), without a thread that waits: see held_lock::release_async().
  async_call<void> release_async();

 private:
  friend struct detail::inside;
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace rowlock::inline v1

#endif  // ROWLOCK_BEFORE_CXX20
